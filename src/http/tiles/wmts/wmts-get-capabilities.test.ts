import { expect, test } from "vitest";
import { catalogue, type ProtocolServer, startProtocols, textsOf } from "../../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { STANDARD_SERVICE } from "../../../layer/service-information.ts";

/*
 * The assertions of OGC's conformance tests of WMTS 1.0.0 about GetCapabilities and about errors of RESTful addresses,
 * in the words of this server.
 */

const CURRENT = 41;
const numbered = catalogueOf([...catalogue.layers.values()], { ...STANDARD_SERVICE, updateSequence: CURRENT });
const start = (): Promise<ProtocolServer> => startProtocols({ catalogue: () => numbered });

const GET = "/service/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&ACCEPTVERSIONS=1.0.0";
/** Returns the names of the elements directly below the root. */
const sectionsOf = (document: string): string[] =>
  [...document.matchAll(/^<(\w+:)?(\w+)[ >]/gm)].flatMap(([, , name = ""]) => (name === "Capabilities" ? [] : [name]));

test("Sections selects the sections of the document, in any case and any order", async () => {
  await using protocols = await start();
  const sections = async (value: string) => sectionsOf((await protocols.request(`${GET}&Sections=${value}`)).body);
  const whole = sectionsOf((await protocols.request(GET)).body);
  expect(whole.slice(0, 4)).toEqual(["ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Contents"]);
  expect(new Set(whole.slice(4))).toEqual(new Set(["ServiceMetadataURL"]));
  for (const name of whole.slice(0, 4)) expect(await sections(name)).toEqual([name]);
  expect(await sections("Contents,ServiceProvider")).toEqual(["ServiceProvider", "Contents"]);
  expect(await sections("contents,%20Themes")).toEqual(["Contents"]);
  expect(await sections("Themes")).toEqual([]);
  for (const all of ["All", "all", "Contents,ALL"]) expect(await sections(all)).toEqual(whole);
});

test("a section that does not exist, or none, is refused", async () => {
  await using protocols = await start();
  for (const [value, code] of [
    ["Bogus", "InvalidParameterValue"],
    ["Contents,Bogus", "InvalidParameterValue"],
    ["", "MissingParameterValue"],
  ] as const) {
    const { status, body } = await protocols.request(`${GET}&Sections=${value}`);
    expect([value, status]).toEqual([value, 400]);
    expect(body).toContain(`<Exception exceptionCode="${code}" locator="sections">`);
  }
});

test("UpdateSequence: the number alone for the current one, the document for an older one, an exception for others", async () => {
  await using protocols = await start();
  const at = (value: string) => protocols.request(`${GET}&UpdateSequence=${value}`);
  const current = await at(String(CURRENT));
  expect(current.status).toBe(200);
  expect(current.body).toMatch(/<Capabilities [^>]*version="1.0.0" updateSequence="41">\s*<\/Capabilities>/);
  for (const older of ["", "0", "40", "040"]) expect((await at(older)).body).toContain("<Contents>");
  for (const newer of ["42", "9".repeat(30), "abc", "-1", "41.0"]) {
    const { status, body } = await at(newer);
    expect([newer, status]).toEqual([newer, 400]);
    expect(body).toContain('<Exception exceptionCode="InvalidUpdateSequence">');
  }
});

test("AcceptFormats selects the type; a type that the server lacks is answered as application/xml", async () => {
  await using protocols = await start();
  const typeOf = async (value: string) => (await protocols.request(`${GET}${value}`)).headers["content-type"];
  expect(await typeOf("")).toBe("text/xml;charset=UTF-8");
  for (const [value, type] of [
    ["text/xml", "text/xml"],
    ["application/xml", "application/xml"],
    ["text/html,%20text/xml,application/xml", "text/xml"],
    ["bogus/xml", "application/xml"],
  ] as const)
    expect(await typeOf(`&AcceptFormats=${value}`)).toBe(type);
});

test("the operations list addresses by key and value alone, and GetCapabilities its parameters", async () => {
  await using protocols = await start();
  const { body } = await protocols.request(`${GET}&Sections=OperationsMetadata`);
  const base = protocols.baseUrl;
  // The OGC's conformance tests send key and value pairs to every address.
  expect(new Set([...body.matchAll(/<ows:Get xlink:href="([^"]*)">/g)].map(([, href]) => href))).toEqual(
    new Set([`${base}/service/wmts?`]),
  );
  expect(textsOf(body, "ows:Value")).toEqual(
    expect.arrayContaining(["KVP", "1.0.0", "Contents", "All", "application/xml", "text/xml"]),
  );
});

test("a RESTful address with a wrong value has the exception of WMTS by key and value, with the status of a resource", async () => {
  await using protocols = await start();
  const good = { layer: "topp:states", style: "pop", set: "EPSG:4326", matrix: "EPSG:4326:2", row: "0", column: "1" };
  const refused = async (changed: Partial<typeof good>, query = "format=image/png", pixel = "") => {
    const { layer, style, set, matrix, row, column } = { ...good, ...changed };
    const path = [layer, style, set, matrix, row, column].map(encodeURIComponent).join("/");
    const { status, headers, body } = await protocols.request(`/service/wmts/rest/${path}${pixel}?${query}`);
    const [, code, locator] = /exceptionCode="(\w+)"(?: locator="(\w+)")?/.exec(body) ?? [];
    return [status, headers["content-type"], code, locator];
  };
  expect((await refused({}))[0]).toBe(200);
  const invalid = (locator: string) => [400, "text/xml", "InvalidParameterValue", locator];
  expect(await refused({ layer: "nope" })).toEqual([404, "text/xml", "InvalidParameterValue", "LAYER"]);
  expect(await refused({ style: "nope" })).toEqual(invalid("STYLE"));
  expect(await refused({ set: "nope" })).toEqual(invalid("TILEMATRIXSET"));
  expect(await refused({ matrix: "nope" })).toEqual(invalid("TILEMATRIX"));
  expect(await refused({ matrix: "EPSG:4326:0" })).toEqual([404, "text/xml", "InvalidParameterValue", "TILEMATRIX"]);
  expect(await refused({ row: "x" })).toEqual(invalid("TILEROW"));
  expect(await refused({ row: "99" })).toEqual([404, "text/xml", "TileOutOfRange", "TILEROW"]);
  expect(await refused({ column: "99" })).toEqual([404, "text/xml", "TileOutOfRange", "TILECOL"]);
  expect(await refused({}, "format=image/gif")).toEqual(invalid("FORMAT"));
  expect(await refused({}, "")).toEqual([400, "text/xml", "MissingParameterValue", "FORMAT"]);
  expect(await refused({}, "format=image/png&time=1066")).toEqual(invalid("TIME"));
  const queried = { layer: "full", style: "" };
  const info = "format=text/plain";
  expect(await refused(queried, info, "/256/0")).toEqual([400, "text/xml", "PointIJOutOfRange", "J"]);
  expect(await refused(queried, info, "/0/256")).toEqual([400, "text/xml", "PointIJOutOfRange", "I"]);
  expect(await refused(queried, "", "/0/0")).toEqual([400, "text/xml", "MissingParameterValue", "INFOFORMAT"]);
});

test("a strict server refuses an empty style in a RESTful address, and one that the layer lacks", async () => {
  const strict = { ...catalogue, service: { ...catalogue.service, isCiteCompliant: true } };
  const statusOf = async (style: string, of = catalogue) => {
    await using protocols = await startProtocols({ catalogue: () => of });
    const path = `/service/wmts/rest/full/${style}/EPSG:4326/EPSG:4326:2/0/1?format=image/png`;
    return (await protocols.request(path)).status;
  };
  expect([await statusOf(""), await statusOf("nope"), await statusOf("default")]).toEqual([200, 200, 200]);
  expect([await statusOf("", strict), await statusOf("nope", strict), await statusOf("default", strict)]).toEqual([
    400, 400, 200,
  ]);
});

test("a path that is no resource, and the failure of an upstream, are plain text", async () => {
  await using protocols = await start();
  for (const [path, status] of [
    ["/service/wmts/rest/WMTSCapabilities.xml/Bogus", 404],
    ["/service/wmts/rest/topp:states/EPSG:900913", 404],
    ["/service/wmts/rest/broken/EPSG:900913/0/0/0?format=image/png", 503],
  ] as const) {
    const reply = await protocols.request(path);
    expect([path, reply.status, reply.headers["content-type"]]).toEqual([path, status, "text/plain"]);
  }
});

/** Returns the contents of the elements of a name, which are distinguished by their indentation. */
const blocksOf = (document: string, element: string): string[] =>
  document
    .split(`\n${element}>\n`)
    .slice(1)
    .map((rest) => rest.split(`\n${element.replace("<", "</")}>`, 1)[0] ?? "");
const identifiersOf = (block: string, indent: string): string[] =>
  `\n${block}`
    .split(`\n${indent}<ows:Identifier>`)
    .slice(1)
    .map((rest) => rest.split("</ows:Identifier>", 1)[0] ?? "");
const isUnique = (values: readonly string[]): boolean => values.length > 0 && new Set(values).size === values.length;

test("identifiers and scales are unique, and each link of a layer names a set, its limits the levels of the set", async () => {
  await using protocols = await start();
  const { body } = await protocols.request(`${GET}&Sections=Contents`);
  const layers = blocksOf(body, "  <Layer");
  expect(layers.flatMap((layer) => identifiersOf(layer, "    "))).toSatisfy(isUnique);
  const sets = new Map<string, readonly string[]>();
  for (const set of blocksOf(body, "  <TileMatrixSet")) {
    const levels = identifiersOf(set, "      ");
    expect(levels).toSatisfy(isUnique);
    const scales = [...set.matchAll(/<ScaleDenominator>([^<]*)</g)].map(([, scale]) => Number(scale));
    expect(scales).toEqual([...new Set(scales)].sort((a, b) => b - a));
    const [id = ""] = identifiersOf(set, "    ");
    expect(sets.has(id)).toBe(false);
    sets.set(id, levels);
  }
  for (const layer of layers) {
    const links = blocksOf(layer, "    <TileMatrixSetLink");
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) {
      const [, id = ""] = /<TileMatrixSet>([^<]*)</.exec(link) ?? [];
      const limited = [...link.matchAll(/<TileMatrix>([^<]*)</g)].map(([, level]) => level);
      expect(sets.get(id)).toEqual(expect.arrayContaining(limited));
    }
  }
});
