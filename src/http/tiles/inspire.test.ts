import { SaxesParser } from "saxes";
import { expect, test } from "vitest";
import { catalogue, startProtocols, textsOf } from "../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../layer/catalogue.ts";
import { type InspireOptions, STANDARD_SERVICE } from "../../layer/service-information.ts";

const BASIC: InspireOptions = {
  metadataUrl: "https://csw.example/?id=a&b=c",
  languages: ["ger", "eng"],
  texts: { eng: { title: "Maps", layers: { "topp:states": { title: "All states" } } } },
  conformity: "notEvaluated",
};
const WHOLE: InspireOptions = { ...BASIC, temporalReference: "2026-01-31", metadataDate: "2026-02-28" };

const start = (inspire?: InspireOptions) => {
  const information = {
    title: "Karten",
    serviceProvider: { providerName: "Amt & Stadt", serviceContact: { addressEmail: "gis@example.org" } },
  };
  const service = { ...STANDARD_SERVICE, information, ...(inspire === undefined ? {} : { inspire }) };
  const layers = catalogueOf([...catalogue.layers.values()], service);
  return startProtocols({ catalogue: () => layers });
};
const WMS = "/service/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities";
const WMTS = "/service/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&VERSION=1.0.0";
const REST = "/service/wmts/rest/WMTSCapabilities.xml";

interface Node {
  readonly name: string;
  readonly children: Node[];
  text: string;
}

/** Returns the extended capabilities of a document, and the name of the element that contains them. */
function extendedIn(xml: string): { readonly extended: Node | undefined; readonly parent: string | undefined } {
  const parser = new SaxesParser({ xmlns: true });
  const open: Node[] = [];
  let extended: Node | undefined;
  let parent: string | undefined;
  parser.on("opentag", ({ local }) => {
    const node: Node = { name: local, children: [], text: "" };
    open.at(-1)?.children.push(node);
    if (local === "ExtendedCapabilities") {
      extended = node;
      parent = open.at(-1)?.name;
    }
    open.push(node);
  });
  parser.on("text", (text) => {
    const node = open.at(-1);
    if (node !== undefined) node.text += text;
  });
  parser.on("closetag", () => open.pop());
  parser.write(xml).close();
  return { extended, parent };
}

/** The content models of INSPIRE's schema common/1.0, as far as the server writes them: the elements in their order. */
const MODELS: Readonly<Record<string, RegExp>> = {
  // Scenario 1, or scenario 2 with an optional address of the metadata.
  ExtendedCapabilities:
    /^(?:MetadataUrl SupportedLanguages ResponseLanguage|(?:ResourceLocator )+ResourceType (?:TemporalReference )+(?:Conformity )+(?:MetadataPointOfContact )+MetadataDate SpatialDataServiceType (?:MandatoryKeyword )+(?:Keyword )*SupportedLanguages ResponseLanguage(?: MetadataUrl)?)$/,
  MetadataUrl: /^URL(?: MediaType)*$/,
  ResourceLocator: /^URL(?: MediaType)*$/,
  SupportedLanguages: /^DefaultLanguage(?: SupportedLanguage)*$/,
  DefaultLanguage: /^Language$/,
  SupportedLanguage: /^Language$/,
  ResponseLanguage: /^Language$/,
  TemporalReference: /^(?:DateOfCreation )?DateOfLastRevision$/,
  Conformity: /^Specification Degree$/,
  Specification: /^Title DateOfPublication$/,
  MetadataPointOfContact: /^OrganisationName EmailAddress$/,
  MandatoryKeyword: /^KeywordValue$/,
};
const TEXTS: Readonly<Record<string, RegExp>> = {
  URL: /^https?:\S+$/,
  MediaType: /^application\/vnd\.iso\.19139\+xml$/,
  Language: /^[a-z]{3}$/,
  ResourceType: /^service$/,
  SpatialDataServiceType: /^view$/,
  Degree: /^(?:conformant|notConformant|notEvaluated)$/,
  KeywordValue: /^infoMapAccessService$/,
  EmailAddress: /^[^@]+@[^@]+$/,
  OrganisationName: /\S/,
  Title: /\S/,
  DateOfLastRevision: /^\d{4}-\d{2}-\d{2}$/,
  DateOfPublication: /^\d{4}-\d{2}-\d{2}$/,
  MetadataDate: /^\d{4}-\d{2}-\d{2}$/,
};

/** Returns a sentence for each element that INSPIRE's schema refuses. */
function faultsIn(node: Node): readonly string[] {
  const names = node.children.map(({ name }) => name).join(" ");
  const model = MODELS[node.name];
  const text = TEXTS[node.name];
  if (model !== undefined)
    return [...(model.test(names) ? [] : [`${node.name}: ${names}`]), ...node.children.flatMap(faultsIn)];
  return text?.test(node.text) === true && names === "" ? [] : [`${node.name}: ${node.text}`];
}

test.each([
  ["WMS", WMS, "Capability"],
  ["WMTS", WMTS, "OperationsMetadata"],
  ["RESTful WMTS", REST, "OperationsMetadata"],
] as const)(
  "the extended capabilities of %s have the elements of INSPIRE's schema in their order",
  async (_, address, where) => {
    for (const inspire of [BASIC, WHOLE]) {
      await using protocols = await start(inspire);
      const { body } = await protocols.request(address);
      const { extended, parent } = extendedIn(body);
      expect(parent).toBe(where);
      expect(extended && faultsIn(extended)).toEqual([]);
      expect(textsOf(body, "inspire_common:URL")).toContain(BASIC.metadataUrl);
      expect(textsOf(body, "inspire_common:MetadataDate")).toEqual(inspire === WHOLE ? ["2026-02-28"] : []);
    }
  },
);

test("the namespace and the schema are those of the protocol", async () => {
  await using protocols = await start(BASIC);
  const rootOf = async (address: string): Promise<string> =>
    /<(?:WMS_)?Capabilities [^>]*>/.exec((await protocols.request(address)).body)?.[0] ?? "";
  const schemas = "http://inspire.ec.europa.eu/schemas";
  const wms = await rootOf(WMS);
  expect(wms).toContain(`xmlns:inspire_vs="${schemas}/inspire_vs/1.0"`);
  expect(wms).toContain(` ${schemas}/inspire_vs/1.0 ${schemas}/inspire_vs/1.0/inspire_vs.xsd"`);
  const wmts = await rootOf(WMTS);
  expect(wmts).toContain(`xmlns:inspire_vs="${schemas}/inspire_vs_ows11/1.0"`);
  expect(wmts).toContain(` ${schemas}/inspire_vs_ows11/1.0/inspire_vs_ows_11.xsd"`);
});

test("LANGUAGE selects the language of the texts; an unknown language, or none, gets the default", async () => {
  await using protocols = await start(BASIC);
  for (const address of [WMS, WMTS, `${REST}?`])
    for (const [requested, language, title, layer] of [
      ["", "ger", "Karten", "States & <provinces>"],
      ["&LANGUAGE=eng", "eng", "Maps", "All states"],
      ["&language=ENG", "eng", "Maps", "All states"],
      ["&LANGUAGE=ger", "ger", "Karten", "States & <provinces>"],
      ["&LANGUAGE=fre", "ger", "Karten", "States & <provinces>"],
    ] as const) {
      const { status, body } = await protocols.request(`${address}${requested}`);
      expect(status).toBe(200);
      const response = /<inspire_common:ResponseLanguage>.*?>(\w{3})</.exec(body)?.[1];
      const titles = [...textsOf(body, "Title"), ...textsOf(body, "ows:Title")];
      expect([address, requested, response, titles[0]]).toEqual([address, requested, language, title]);
      expect(titles).toContain(layer);
    }
});

test("without the key the capabilities have nothing of INSPIRE, and LANGUAGE has no effect", async () => {
  await using protocols = await start();
  for (const address of [WMS, WMTS]) {
    const { body } = await protocols.request(address);
    expect(body).not.toContain("inspire");
    expect((await protocols.request(`${address}&LANGUAGE=eng`)).body).toBe(body);
  }
});

test("WMS 1.1.1, which INSPIRE does not know, stays as it is", async () => {
  await using protocols = await start(BASIC);
  const { body } = await protocols.request("/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities");
  expect(body).not.toContain("inspire");
});
