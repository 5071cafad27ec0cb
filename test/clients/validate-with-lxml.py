"""Validates documents against schemas on this machine. Argument 1: their directory, laid out as at schemas.opengis.net.
Standard input: a JSON list of {"schema", "document"}; a schema that ends in .dtd is the one that the document's own
DOCTYPE names. Standard output: a JSON list of lists of faults. Nothing is fetched."""

import json
import os
import sys

from lxml import etree

root = sys.argv[1]
SITE = "http://schemas.opengis.net/"
schemas = {}


class Local(etree.Resolver):
    def resolve(self, url, public_id, context):
        if url.startswith(SITE):
            return self.resolve_filename(os.path.join(root, url[len(SITE) :]), context)
        return None


def faults(schema, document):
    text = document.encode()
    try:
        if schema.endswith(".dtd"):
            parser = etree.XMLParser(dtd_validation=True, no_network=True)
            parser.resolvers.add(Local())
            read = etree.fromstring(text, parser)
            named = read.getroottree().docinfo.system_url
            return [] if named == SITE + schema else ["the DOCTYPE names " + str(named)]
        if schema not in schemas:
            parser = etree.XMLParser(no_network=True)
            parser.resolvers.add(Local())
            schemas[schema] = etree.XMLSchema(etree.parse(os.path.join(root, schema), parser))
        read = etree.fromstring(text, etree.XMLParser(resolve_entities=False, no_network=True))
        schemas[schema].validate(read)
        return [f"line {e.line}: {e.message}" for e in schemas[schema].error_log]
    except etree.XMLSyntaxError as error:
        return [f"line {e.line}: {e.message}" for e in error.error_log] or [str(error)]


json.dump([faults(**one) for one in json.load(sys.stdin)], sys.stdout)
