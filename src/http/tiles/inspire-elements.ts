import type { Catalogue } from "../../layer/catalogue.ts";
import {
  type InspireLanguage,
  type InspireOptions,
  responseLanguage,
  type ServiceInformation,
} from "../../layer/service-information.ts";
import { onceEach } from "../../lib/once-each.ts";
import { escapeXml } from "../../lib/text/escape.ts";
import type { Query } from "../request/query.ts";

/** The schemas of the extended capabilities: of WMS 1.3.0, and of WMTS, which has the elements of OWS Common 1.1. */
const NAMESPACES = {
  wms: ["http://inspire.ec.europa.eu/schemas/inspire_vs/1.0", "inspire_vs.xsd"],
  wmts: ["http://inspire.ec.europa.eu/schemas/inspire_vs_ows11/1.0", "inspire_vs_ows_11.xsd"],
} as const;
const COMMON = "http://inspire.ec.europa.eu/schemas/common/1.0";

/** The regulation whose conformity the metadata state. */
const REGULATION = {
  title:
    "COMMISSION REGULATION (EC) No 976/2009 of 19 October 2009 implementing Directive 2007/2/EC of the European Parliament and of the Council as regards the Network Services",
  published: "2009-10-20",
};

/** A catalogue whose texts are in the language of an answer. */
interface InLanguage {
  readonly catalogue: Catalogue;
  /** Undefined without INSPIRE. */
  readonly language: InspireLanguage | undefined;
}

/** Returns the catalogue in the language of a request of GetCapabilities (Technical Guidance 3.11, 4.2.3.2). */
export function inLanguage(catalogue: Catalogue, query: Query): InLanguage {
  const { inspire } = catalogue.service;
  const language = inspire === undefined ? undefined : responseLanguage(inspire, query.get("LANGUAGE"));
  return { catalogue: (language && translated(catalogue).get(language)) ?? catalogue, language };
}

/** The catalogues in the languages that have texts of their own. */
const translated = onceEach((catalogue: Catalogue): ReadonlyMap<InspireLanguage, Catalogue> => {
  const { inspire } = catalogue.service;
  return new Map(
    (inspire?.languages ?? []).flatMap((language) => {
      const texts = inspire?.texts[language];
      if (texts === undefined) return [];
      const { layers: ofLayers = {}, ...ofService } = texts;
      const layers = new Map(
        [...catalogue.layers].map(([name, layer]) => [name, { ...layer, ...ofLayers[layer.name] }] as const),
      );
      const { service } = catalogue;
      const information = { ...service.information, ...ofService };
      return [[language, { ...catalogue, layers, service: { ...service, information } }] as const];
    }),
  );
});

/** Returns the namespaces and the schemas of the extended capabilities for the root of a document. */
export function inspireNamespaces(
  inspire: InspireOptions | undefined,
  protocol: keyof typeof NAMESPACES,
): { readonly attributes: string; readonly schemas: string } {
  if (inspire === undefined) return { attributes: "", schemas: "" };
  const [namespace, schema] = NAMESPACES[protocol];
  return {
    attributes: ` xmlns:inspire_common="${COMMON}" xmlns:inspire_vs="${namespace}"`,
    schemas: ` ${namespace} ${namespace}/${schema}`,
  };
}

const element = (name: string, ...inner: readonly string[]): string =>
  `<inspire_common:${name}>${inner.join("")}</inspire_common:${name}>`;
const textElement = (name: string, text: string): string => element(name, escapeXml(text));

/**
 * Returns the extended capabilities of an INSPIRE view service (Technical Guidance 3.11, 4.2.3.3.1): the address of the
 * metadata alone, or with a temporal reference all metadata that the standards have no elements for.
 * @param locator the address of the capabilities
 */
export function inspireElements(
  inspire: InspireOptions,
  information: ServiceInformation,
  { language, locator }: { readonly language: InspireLanguage | undefined; readonly locator: string },
): string {
  const { metadataUrl, languages, temporalReference } = inspire;
  const [first = "eng", ...others] = languages;
  const link =
    metadataUrl === undefined
      ? []
      : [
          element(
            "MetadataUrl",
            textElement("URL", metadataUrl),
            textElement("MediaType", "application/vnd.iso.19139+xml"),
          ),
        ];
  const metadata = temporalReference === undefined ? [] : metadataElements(inspire, information, { locator });
  const lines = [
    ...(metadata.length === 0 ? link : metadata),
    element(
      "SupportedLanguages",
      element("DefaultLanguage", textElement("Language", first)),
      ...others.map((other) => element("SupportedLanguage", textElement("Language", other))),
    ),
    element("ResponseLanguage", textElement("Language", language ?? first)),
    ...(metadata.length === 0 ? [] : link),
  ];
  return [
    "    <inspire_vs:ExtendedCapabilities>",
    ...lines.map((line) => `      ${line}`),
    "    </inspire_vs:ExtendedCapabilities>",
  ].join("\n");
}

function metadataElements(
  { temporalReference = "", metadataDate = temporalReference, conformity }: InspireOptions,
  { serviceProvider = {} }: ServiceInformation,
  { locator }: { readonly locator: string },
): readonly string[] {
  const { providerName = "", serviceContact = {} } = serviceProvider;
  return [
    element("ResourceLocator", textElement("URL", locator)),
    textElement("ResourceType", "service"),
    element("TemporalReference", textElement("DateOfLastRevision", temporalReference)),
    element(
      "Conformity",
      element(
        "Specification",
        textElement("Title", REGULATION.title),
        textElement("DateOfPublication", REGULATION.published),
      ),
      textElement("Degree", conformity),
    ),
    element(
      "MetadataPointOfContact",
      textElement("OrganisationName", providerName),
      textElement("EmailAddress", serviceContact.addressEmail ?? ""),
    ),
    textElement("MetadataDate", metadataDate),
    textElement("SpatialDataServiceType", "view"),
    // The category of a view service (Regulation (EC) 1205/2008, part D, 4).
    element("MandatoryKeyword", textElement("KeywordValue", "infoMapAccessService")),
  ];
}
