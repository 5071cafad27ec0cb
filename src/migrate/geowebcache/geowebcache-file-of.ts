import { editFile } from "../../configuration/geowebcache/edit-file.ts";
import { readFile } from "../../configuration/geowebcache/read-file.ts";
import type { ConfiguredObject } from "../../configuration/gwc/configured-object.ts";
import { withScalars } from "../../configuration/gwc/document-node.ts";
import { refusalMessage } from "../../lib/refusal.ts";
import { MASKED } from "../../lib/text/masked.ts";
import { MigrationError } from "../migration-error.ts";
import { variableOf, type WrittenYaml } from "./geowebcache-yaml.ts";

const SCHEMA = "http://geowebcache.org/schema/2.0.0";
const EMPTY = `<?xml version="1.0" encoding="UTF-8"?>
<gwcConfiguration xmlns="${SCHEMA}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${SCHEMA} ${SCHEMA}/geowebcache.xsd">
  <version>2.0.0</version>
</gwcConfiguration>
`;

/** Returns objects as a `geowebcache.xml`, with a variable for each secret. */
export function geoWebCacheFileOf(objects: readonly ConfiguredObject[]): WrittenYaml {
  const variables = new Set<string>();
  let text = EMPTY;
  for (const { kind, name, document } of objects) {
    const content = readFile(Buffer.from(text));
    if (!content.ok) throw new MigrationError(refusalMessage(content.error), "unreadable");
    // GeoWebCache does not start with an unknown kind of store.
    if (document === undefined || document.root === "CompactBlobStore") continue;
    const node = withScalars(document.node, (value, names) => {
      if (value !== MASKED) return value;
      const variable = variableOf(names.at(-1) ?? "", name);
      variables.add(variable);
      return `\${${variable}}`;
    });
    text = editFile(content.value, [{ kind, name, document: { root: document.root, node } }]);
  }
  return { text, variables: [...variables] };
}
