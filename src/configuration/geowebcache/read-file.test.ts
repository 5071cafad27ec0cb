import { expect, test } from "vitest";
import { ok } from "../../lib/result.ts";
import { layerContent } from "../gwc/layer-object.ts";
import { readText } from "./read-file.ts";

const layer = (formats: string): string =>
  `<wmsLayer><name>roads</name><mimeFormats>${formats}</mimeFormats><wmsUrl><string>http://127.0.0.1:9/wms</string></wmsUrl></wmsLayer>`;

function read(layers: string) {
  const file = readText(
    `<gwcConfiguration xmlns="http://geowebcache.org/schema/2.0.0"><layers>${layers}</layers></gwcConfiguration>`,
  );
  if (!file.ok) throw new Error(JSON.stringify(file.error));
  const { objects, notes } = file.value;
  return { notes, documents: objects.flatMap(({ kind, document }) => (kind === "layer" ? [document] : [])) };
}

test.each([
  [
    "KML and KMZ",
    "<string>application/vnd.google-earth.kml+xml</string><string>application/vnd.google-earth.kmz</string>",
    [],
  ],
  ["a format that has no equivalent", "<string>image/tiff</string>", ["line 1: the layer roads is without image/tiff"]],
])("a layer with %s among its formats is served in the others", (_, formats, expected) => {
  const { notes, documents } = read(
    layer(`<string>image/png</string>${formats}<string>image/png; mode=24bit</string>`),
  );
  expect(documents.map((document) => layerContent(document)["formats"])).toEqual([
    ["image/png", "image/png; mode=24bit"],
  ]);
  expect(notes).toEqual(expected);
});

test("a layer of which no format has an equivalent has them still, so that it is not served", () => {
  const { documents } = read(layer("<string>image/tiff</string>"));
  expect(documents.map((document) => layerContent(document)["formats"])).toEqual([["image/tiff"]]);
});

test("a layer over an ArcGIS cache is one, without the formats that GeoWebCache does not use", () => {
  const { notes, documents } = read(
    "<arcgisLayer><name>base</name><mimeFormats><string>image/tiff</string></mimeFormats><tilingScheme>/srv/conf.xml</tilingScheme><tileCachePath>/srv/levels</tileCachePath><hexZoom>true</hexZoom></arcgisLayer>",
  );
  expect(documents.map(({ root }) => root)).toEqual(["arcgisLayer"]);
  expect(documents.map(layerContent)).toEqual([
    { name: "base", source: { type: "arcgisCache", path: "/srv/conf.xml", tilesPath: "/srv/levels", hexZoom: true } },
  ]);
  expect(notes).toEqual([]);
});

const good = layer("<string>image/png</string>");

test.each([
  ["of an unknown kind", "<odd><name>a</name></odd>", "the layer a: layers: expected wmsLayer"],
  ["without a name", "<wmsLayer><gutter>1</gutter></wmsLayer>", "a wmsLayer: name: expected a name"],
  ["over an archive without names", "<mbtilesLayer><tilesPath>a</tilesPath></mbtilesLayer>", "a mbtilesLayer: name"],
  ["with a number that is none", "<wmsLayer><name>a</name><gutter>x</gutter></wmsLayer>", "the layer a: gutter:"],
  ["with a flag that is none", "<wmsLayer><name>a</name><enabled>maybe</enabled></wmsLayer>", "the layer a: enabled:"],
  [
    "with an element twice",
    "<wmsLayer><name>a</name><gutter>1</gutter><gutter>2</gutter></wmsLayer>",
    "the layer a: gutter: is given twice",
  ],
  [
    "with a text in a list",
    "<wmsLayer><name>a</name><mimeFormats>image/png</mimeFormats></wmsLayer>",
    "the layer a: mimeFormats: expected a list",
  ],
])("a layer %s is not served, and the others are", (_, odd, reason) => {
  const { notes, documents } = read(`${odd}${good}`);
  expect(notes).toEqual([expect.stringContaining(`line 1: not served: ${reason}`)]);
  expect(documents.map(({ fault }) => fault === undefined)).toEqual([false, true]);
});

test("a layer over an archive has the name of the archive if it has none", () => {
  const text =
    '<gwcConfiguration xmlns="http://geowebcache.org/schema/2.0.0"><layers><mbtilesLayer><tilesPath>a</tilesPath></mbtilesLayer></layers></gwcConfiguration>';
  const file = readText(text, new Map([["a", ok("lakes")]]));
  expect(file.ok && file.value.objects.map(({ name, document }) => [name, document.fault])).toEqual([
    ["global", undefined],
    ["lakes", undefined],
  ]);
});

const store = (id: string, attributes: string, enabled: boolean): string =>
  `<FileBlobStore${attributes}><id>${id}</id><enabled>${enabled}</enabled></FileBlobStore>\n`;
const STANDARD = ' default="true"';
const GRID_SET = "<gridSet><name>g</name></gridSet>";

test.each([
  [
    "two default stores",
    `<blobStores>${store("a", STANDARD, true)}${store("b", STANDARD, true)}</blobStores>`,
    "blobStores: two stores are the default one, a in line 1 and b in line 2",
  ],
  [
    "a default store that is not enabled",
    `<blobStores>${store("a", STANDARD, false)}</blobStores>`,
    "blobStores: the default store a in line 1 is not enabled",
  ],
  [
    "a store twice",
    `<blobStores>${store("a", "", true)}${store("a", "", true)}</blobStores>`,
    "blobStores: the store a stands twice, in line 1 and in line 2",
  ],
  [
    "a grid set twice",
    `<gridSets>${GRID_SET}\n${GRID_SET}</gridSets>`,
    "gridSets: the grid set g stands twice, in line 1 and in line 2",
  ],
])("%s ends the start, as in GeoWebCache", (_, sections, reason) => {
  const file = readText(`<gwcConfiguration xmlns="http://geowebcache.org/schema/2.0.0">${sections}</gwcConfiguration>`);
  expect(file).toEqual({ ok: false, error: { code: "malformed", message: reason } });
});

const rulesOf = (name: string, ...rules: readonly (readonly [number, number])[]): string =>
  `<${name}>${rules.map(([zoom, seconds]) => `<expirationRule minZoom="${zoom}" expiration="${seconds}"/>`).join("")}</${name}>`;

test.each([
  ["begin above 0", [[3, 60]], [[0, 60]], "expireCacheList[0].@minZoom: expected 0, .*, got 3"],
  [
    "begin above 0 and rise",
    [
      [3, 60],
      [5, 120],
    ],
    [
      [0, 60],
      [5, 120],
    ],
    "expireCacheList[0].@minZoom: .*, got 3",
  ],
  [
    "fall",
    [
      [0, 60],
      [8, 120],
      [5, 180],
    ],
    [
      [0, 60],
      [8, 180],
    ],
    "expireCacheList[2].@minZoom: expected more than 8, .*, got 5",
  ],
  [
    "begin at one level",
    [
      [0, 60],
      [0, 120],
    ],
    [[0, 120]],
    "expireCacheList[1].@minZoom: expected more than 0, .*, got 0",
  ],
] as const)(
  "expiry rules of a file that %s hold from the levels of GeoWebCache, with a warning",
  (_, given, held, warned) => {
    const { notes, documents } = read(
      `<wmsLayer><name>a</name>${rulesOf("expireCacheList", ...given)}${rulesOf("expireClientsList", [0, 5])}</wmsLayer>`,
    );
    expect(documents.map((document) => layerContent(document)["expireCacheSeconds"])).toEqual([
      held.map(([minZoom, seconds]) => ({ minZoom, seconds })),
    ]);
    expect(notes).toEqual([expect.stringMatching(`^line 1: the layer a: ${warned.replaceAll("[", "\\[")}`)]);
  },
);
