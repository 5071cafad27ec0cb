import { expect, test } from "vitest";
import { layerContent } from "../../../gwc/layer-content.ts";
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
  ["a format that has no equal", "<string>image/tiff</string>", ["line 1: the layer roads is without image/tiff"]],
])("a layer with %s among its formats is served in the others", (_, formats, expected) => {
  const { notes, documents } = read(
    layer(`<string>image/png</string>${formats}<string>image/png; mode=24bit</string>`),
  );
  expect(documents.map((document) => layerContent(document)["formats"])).toEqual([
    ["image/png", "image/png; mode=24bit"],
  ]);
  expect(notes).toEqual(expected);
});

test("a layer of which no format has an equal has them still, so that it is not served", () => {
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

test("a layer of an unknown kind is refused, as GeoWebCache does", () => {
  const file = readText(
    '<gwcConfiguration xmlns="http://geowebcache.org/schema/2.0.0"><layers><odd><name>a</name></odd></layers></gwcConfiguration>',
  );
  expect(file.ok).toBe(false);
});
