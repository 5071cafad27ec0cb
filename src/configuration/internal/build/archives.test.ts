import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { coverageOf } from "../../../../test/support/layer.ts";
import { VECTOR_TILE, writeMbtiles, writePmtiles } from "../../../../test/support/stores/archive-fixture.ts";
import { configurationDocument } from "../../configuration-document.ts";
import { loadConfiguration } from "../../load.ts";
import { problemText } from "../../problem.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-archives-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const VECTOR_LAYERS = [{ id: "a", fields: { name: "String" } }];
const TILES = [{ z: 0, x: 0, y: 0, bytes: VECTOR_TILE }];
writeMbtiles(join(directory, "a.mbtiles"), {
  metadata: { format: "jpg", minzoom: "3", maxzoom: "9", bounds: "-90,0,0,66.51326044311186" },
  tiles: TILES,
});
writeMbtiles(join(directory, "world.mbtiles"), {
  metadata: { format: "png", bounds: "-180,-85,180,85" },
  tiles: TILES,
});
writePmtiles(join(directory, "b.pmtiles"), { type: "mvt", tiles: TILES, metadata: { vector_layers: VECTOR_LAYERS } });
writeFileSync(join(directory, "broken.pmtiles"), "<html>not found</html>");

let files = 0;
/** Loads a configuration with one layer. `layer` has all its fields but the name. */
async function loading(layer: string) {
  const config = `${++files}.yaml`;
  writeFileSync(join(directory, config), layer.startsWith("{") ? layer : `layers: [{ name: a, ${layer} }]`);
  return loadConfiguration({ env: {}, flags: { config }, cwd: directory });
}
async function loaded(layer: string) {
  const result = await loading(layer);
  if (!result.ok) throw new Error(result.error.map(problemText).join("\n"));
  return result.value;
}
async function sentences(layer: string): Promise<readonly string[]> {
  const result = await loading(layer);
  return result.ok ? [] : result.error.map(({ message }) => message);
}

test("a layer takes format, levels, bounds and single tiles from its archive", async () => {
  const { layers } = await loaded("source: { type: mbtiles, file: a.mbtiles }");
  expect(layers).toMatchObject([
    {
      source: { type: "mbtiles", file: join(directory, "a.mbtiles"), connections: 8 },
      formats: [{ mimeType: "image/jpeg" }],
      metatile: [1, 1],
      gutter: 0,
      gridSubsets: [{ gridSet: { id: "EPSG:900913" }, zoomStart: 3, zoomStop: 9 }],
    },
  ]);
  // The coverage goes from 90° W to 0°, in two of the four rows above the equator.
  expect(coverageOf(layers[0], 3)).toEqual({ z: 3, minX: 2, maxX: 3, minY: 4, maxY: 5 });
});

test("what the file says goes before what the archive says", async () => {
  const { layers, warnings } = await loaded(
    "source: { type: mbtiles, file: a.mbtiles }, gridSubsets: [{ gridSet: WebMercatorQuad, zoomStart: 1, zoomStop: 10, extent: [0, 0, 1000000, 1000000] }, { gridSet: EPSG:900913, zoomStop: 5 }]",
  );
  expect(layers[0]?.gridSubsets).toMatchObject([
    { zoomStart: 1, zoomStop: 10, extent: { minX: 0, minY: 0, maxX: 1_000_000, maxY: 1_000_000 } },
    { zoomStart: 3, zoomStop: 5, extent: { minY: 0 } },
  ]);
  expect(warnings).toEqual(["layer a: levels 1 to 10 of WebMercatorQuad are offered, but the archive has 3 to 9 only"]);
});

test("a warning of the bounds of an archive names the archive, not a key that nobody wrote", async () => {
  const metadata = { format: "png", minzoom: "0", maxzoom: "3", bounds: "7.0,47.0,7.00001,47.00001" };
  writeMbtiles(join(directory, "tiny.mbtiles"), { metadata, tiles: TILES });
  const { warnings } = await loaded("source: { type: mbtiles, file: tiny.mbtiles }");
  expect(warnings).toEqual([
    expect.stringMatching(
      /yaml:1:\d+: layers\[0\]\.source\.file: the extent in this file \(7792\d\d\..*\) is .* less than a pixel of the finest level \([\d.]+\)$/,
    ),
  ]);
});

test("an archive of the whole world sets no bounds, and an archive of vector tiles names their layers", async () => {
  expect((await loaded("source: { type: mbtiles, file: world.mbtiles }")).layers[0]?.gridSubsets[0]).not.toHaveProperty(
    "extent",
  );
  expect((await loaded("source: { type: pmtiles, file: b.pmtiles }")).layers[0]).toMatchObject({
    formats: [{ mimeType: "application/vnd.mapbox-vector-tile", extension: "pbf" }],
    vectorLayers: VECTOR_LAYERS,
  });
});

test("another file in its place is another source, the same one is not", async () => {
  const config = "source: { type: mbtiles, file: c.mbtiles }";
  const file = join(directory, "c.mbtiles");
  writeMbtiles(file, { metadata: { format: "png" }, tiles: TILES });
  const first = await loaded(config);
  expect((await loaded(config)).layers[0]?.source).toEqual(first.layers[0]?.source);
  rmSync(file);
  writeMbtiles(file, { metadata: { format: "png", name: "x".repeat(10_000) }, tiles: TILES });
  expect((await loaded(config)).layers[0]?.source).not.toEqual(first.layers[0]?.source);
});

test("the printed configuration of archives is read again as the same", async () => {
  for (const source of ["type: mbtiles, file: a.mbtiles", "type: pmtiles, file: b.pmtiles"]) {
    const first = await loaded(`source: { ${source} }`);
    const again = await loaded(JSON.stringify({ layers: configurationDocument(first)["layers"] }));
    expect(again.layers).toEqual(first.layers);
  }
});

describe("is refused, with the place and what would do:", () => {
  const a = "source: { type: mbtiles, file: a.mbtiles }";
  test.each([
    [
      "source: { type: mbtiles, file: none.mbtiles }",
      `layers[0].source.file: "${directory}/none.mbtiles": the archive cannot be read: there is no such file`,
    ],
    [
      "source: { type: pmtiles, file: broken.pmtiles }",
      `layers[0].source.file: "${directory}/broken.pmtiles": the archive is damaged: Wrong magic number for PMTiles archive`,
    ],
    [
      "source: { type: mbtiles, file: b.pmtiles }",
      `layers[0].source.file: "${directory}/b.pmtiles": the archive is damaged: it is no database`,
    ],
    [
      `${a}, formats: [image/jpeg, image/png]`,
      'layers[0].formats[1]: expected image/jpeg, as that is what the archive has, got "image/png"',
    ],
    [
      `${a}, metatile: [2, 2]`,
      "layers[0].metatile: expected [1, 1], as a source of type mbtiles has single tiles, got [2, 2]",
    ],
    [
      `${a}, gridSubsets: [{ gridSet: EPSG:4326 }]`,
      'layers[0].gridSubsets[0].gridSet: expected a grid set of 2^z x 2^z tiles, as archives have no other, got "EPSG:4326"',
    ],
    [
      `${a}, parameterFilters: [{ type: string, key: TIME, values: [a] }]`,
      "layers[0].parameterFilters: is given, but the tiles of an archive do not depend on parameters",
    ],
    ["source: { type: pmtiles }", "layers[0].source: file is missing"],
    [
      "source: { type: demo, dataset: world }, formats: [application/vnd.mapbox-vector-tile]",
      'layers[0].formats[0]: expected a picture\'s, as a source of type demo renders nothing else, got "application/vnd.mapbox-vector-tile"',
    ],
  ])("%s", async (layer, expected) => {
    expect(await sentences(layer)).toEqual([expected]);
  });
});
