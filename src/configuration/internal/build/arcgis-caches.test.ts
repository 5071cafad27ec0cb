import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { coverageOf } from "../../../../test/support/layer.ts";
import { COMPACT, confCdi, confXml, EXPLODED, WORLD, writeAt } from "../../../../test/support/stores/arcgis-fixture.ts";
import { configurationDocument } from "../../configuration-document.ts";
import { checkText, loadConfiguration } from "../../load.ts";
import { problemText } from "../../problem.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-arcgis-caches-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

writeAt(join(directory, "part", "conf.xml"), confXml({ storage: COMPACT, format: "MIXED" }));
writeAt(join(directory, "part", "conf.cdi"), confCdi(-10_000_000, 0, -9_000_000, 1_000_000));
writeAt(join(directory, "world", "conf.xml"), confXml({ storage: EXPLODED, format: "JPEG" }));
writeAt(join(directory, "world", "conf.cdi"), WORLD);

let files = 0;
/** Loads a configuration with one layer. `layer` has all its fields but the name. */
async function loading(layer: string, more = "") {
  const config = `${++files}.yaml`;
  writeFileSync(
    join(directory, config),
    layer.startsWith("{") ? layer : `${more}\nlayers: [{ name: roads, ${layer} }]`,
  );
  return loadConfiguration({ env: {}, flags: { config }, cwd: directory });
}
async function loaded(layer: string, more?: string) {
  const result = await loading(layer, more);
  if (!result.ok) throw new Error(result.error.map(problemText).join("\n"));
  return result.value;
}
async function sentences(layer: string): Promise<readonly string[]> {
  const result = await loading(layer);
  return result.ok ? [] : result.error.map(({ message }) => message);
}

test("a layer takes grid set, area, formats and single tiles from its cache", async () => {
  const { layers, gridSets } = await loaded("source: { type: arcgisCache, path: part/conf.xml }");
  expect(layers).toMatchObject([
    {
      source: {
        type: "arcgisCache",
        path: join(directory, "part", "conf.xml"),
        hexZoom: false,
        storage: COMPACT,
        tileFormat: "mixed",
        levels: [0, 1, 2, 3, 4, 5, 6, 7, 8],
        connections: 8,
      },
      formats: [{ mimeType: "image/jpeg" }, { mimeType: "image/png" }],
      metatile: [1, 1],
      gutter: 0,
      gridSubsets: [
        {
          gridSet: { id: "EPSG:102100_roads" },
          zoomStart: 0,
          zoomStop: 8,
          extent: { minX: -10_000_000, minY: 0, maxX: -9_000_000, maxY: 1_000_000 },
        },
      ],
    },
  ]);
  // 64 rows are above the equator's; columns 16 and 17 of 64.
  expect(coverageOf(layers[0], 6)).toMatchObject({ minX: 16, maxX: 17, minY: 0, maxY: 1 });
  expect(gridSets.map(({ id }) => id)).toEqual(["EPSG:102100_roads"]);
});

test("the printed configuration of a cache is read again as the same", async () => {
  const first = await loaded("source: { type: arcgisCache, path: part/conf.xml, hexZoom: true }");
  const again = await loaded(JSON.stringify(configurationDocument(first)));
  expect(again.layers[0]?.source).toEqual(first.layers[0]?.source);
  expect(again.layers[0]?.gridSubsets).toEqual(first.layers[0]?.gridSubsets);
});

test("another grid set with the tiles of the cache may be offered, and levels of it", async () => {
  const source = "source: { type: arcgisCache, path: world/conf.xml }";
  const { layers } = await loaded(
    `${source}, gridSubsets: [{ gridSet: EPSG:900913 }, { gridSet: EPSG:102100_roads, zoomStart: 2, zoomStop: 3 }]`,
  );
  expect(layers[0]?.gridSubsets).toMatchObject([
    { gridSet: { id: "EPSG:900913" }, zoomStart: 0, zoomStop: 8 },
    { gridSet: { id: "EPSG:102100_roads" }, zoomStart: 2, zoomStop: 3 },
  ]);
  const why = "expected the grid set EPSG:102100_roads, or one with its tiles";
  expect(
    await sentences(`${source}, gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 9 }, { gridSet: EPSG:102100_roads }]`),
  ).toEqual([
    `layers[0].gridSubsets[0].gridSet: level 9 of EPSG:900913 does not have the tiles of level 9 of the cache: ${why}`,
  ]);
  expect(await sentences(`${source}, gridSubsets: [{ gridSet: EPSG:900913x2 }]`)).toEqual([
    `layers[0].gridSubsets[0].gridSet: level 0 of EPSG:900913x2 does not have the tiles of level 0 of the cache: ${why}`,
  ]);
});

test("a grid set of the configuration with the id of the cache's is taken if it has the tiles of the cache", async () => {
  const gridSet = (minX: number) =>
    `gridSets: [{ id: "EPSG:102100_roads", srs: 102100, extent: [${minX}, -20037508, 20037508, 20037508.342787], alignTopLeft: true, metersPerUnit: 1.0583, resolutions: [156543.03392800014, 78271.51696399994] }]`;
  const source = "source: { type: arcgisCache, path: world/conf.xml }";
  const { layers, gridSets } = await loaded(source, gridSet(-20037508.342787));
  expect(layers[0]?.gridSubsets).toMatchObject([{ gridSet: { metersPerUnit: 1.0583 }, zoomStop: 1 }]);
  expect(gridSets).toHaveLength(1);
  const other = await loading(source, gridSet(-19_000_000));
  expect(other.ok ? [] : other.error.map(({ path }) => path)).toEqual(["layers[0].source"]);
});

test("a cache that cannot be read is a problem that names the file", async () => {
  const missing = join(directory, "none", "conf.xml");
  expect(await sentences("source: { type: arcgisCache, path: none/conf.xml }")).toEqual([
    `layers[0].source.path: "${missing}": there is no such file or directory`,
  ]);
  expect(await sentences("source: { type: arcgisCache, path: part/conf.xml, tilesPath: none }")).toEqual([
    `layers[0].source.tilesPath: "${join(directory, "none")}": there is no such file or directory`,
  ]);
  expect(
    await sentences(
      "source: { type: arcgisCache, path: part/conf.xml }, metatile: [2, 2], formats: [application/vnd.mapbox-vector-tile], parameterFilters: [{ type: string, key: A, values: [b], default: b }]",
    ),
  ).toHaveLength(3);
});

test("a check of the text alone reads no cache and takes its grid set as known", async () => {
  const { problems } = await checkText(
    Buffer.from(
      "layers: [{ name: roads, source: { type: arcgisCache, path: none/conf.xml }, gridSubsets: [{ gridSet: EPSG:102100_roads }] }]",
    ),
    "a.yaml",
  );
  expect(problems).toEqual([]);
});
