import { expect, test } from "vitest";
import { formatNamed, gridSetNamed, layerNamed } from "../../../../test/support/layer.ts";
import { tileExtent } from "../../../grid/grid-set.ts";
import { gridSetDocument } from "../../../grid/grid-set-document.ts";
import { coverageAt, type GridSubset, gridSubset, type Layer, subsetExtent } from "../../../layer/layer.ts";
import { type CatalogueAnswer, remoteCatalogue } from "../../client/remote-catalogue.ts";
import { TileUse, usedTileSet } from "./tile-use.ts";

const roads: Layer = layerNamed("ws:roads", {
  gridSubsets: [
    gridSubset(gridSetNamed("EPSG:900913"), {}),
    gridSubset(gridSetNamed("EPSG:4326"), { extent: { minX: 0, minY: 0, maxX: 90, maxY: 90 } }),
  ],
  formats: [formatNamed("image/png"), formatNamed("image/jpeg")],
  parameterFilters: [{ type: "string", key: "STYLES", default: "", values: ["night"] }],
});

/** The answer of `/api/v1/layers`. */
const answer: CatalogueAnswer = JSON.parse(
  JSON.stringify({
    layers: [roads].map(({ name, title, formats, gridSubsets, parameterFilters }) => ({
      name,
      title,
      formats: formats.map(({ mimeType }) => mimeType),
      gridSets: gridSubsets.map((subset) => {
        const { minX, minY, maxX, maxY } = subsetExtent(subset);
        const { gridSet, zoomStart, zoomStop } = subset;
        return { gridSet: gridSet.id, zoomStart, zoomStop, bounds: [minX, minY, maxX, maxY] };
      }),
      parameters: parameterFilters,
    })),
    gridSets: roads.gridSubsets.map(({ gridSet }) => gridSetDocument(gridSet)),
  }),
);

const useOf = (lines: readonly string[], countsFailed = false): TileUse => {
  const use = new TileUse(remoteCatalogue(answer), { most: 1000, countsFailed });
  use.add(lines);
  return use;
};
const line = (target: string, status = 200, method = "GET"): string =>
  `10.0.0.1 - - [10/Oct/2026:13:55:36 +0200] "${method} ${target} HTTP/1.1" ${status} 12 "-" "-"`;
const used = (use: TileUse): unknown =>
  use.top(100).map(({ tileSet, tile, requests }) => {
    const { layer, gridSet, format, parameters } = usedTileSet(tileSet);
    return [layer, gridSet, format, Object.values(parameters).join(), tile, requests].join(" ");
  });

test("the layers of a server are rebuilt from its answer, with the same coverage", () => {
  const [layer] = remoteCatalogue(answer).layers.values();
  const coverages = (subsets: readonly GridSubset[] = []): unknown =>
    subsets.map((subset) => subset.gridSet.matrices.map((_, z) => coverageAt(subset, z)));
  expect(coverages(layer?.gridSubsets)).toEqual(coverages(roads.gridSubsets));
});

test("all protocols lead to the same tile, at this server's mounts and behind a proxy's path", () => {
  const { minX, minY, maxX, maxY } = tileExtent(gridSetNamed("EPSG:900913"), { z: 3, x: 5, y: 6 });
  const wms = `LAYERS=ws%3Aroads&SRS=EPSG:900913&WIDTH=256&HEIGHT=256&FORMAT=image/png&BBOX=${minX},${minY},${maxX},${maxY}`;
  const wmts = "LAYER=ws:roads&TILEMATRIXSET=EPSG:900913&TILEMATRIX=EPSG:900913:3&TILEROW=1&TILECOL=5&FORMAT=image/png";
  const use = useOf(
    [
      "/xyz/ws:roads/3/5/1.png",
      "/geowebcache/xyz/ws%3Aroads/EPSG:900913/3/5/1.png?v=17",
      "/service/tms/1.0.0/ws:roads@EPSG:900913@png/3/5/6.png",
      `/geoserver/gwc/service/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&${wmts}`,
      "/tiles/maps/service/wmts/rest/ws:roads/default/EPSG:900913/EPSG:900913:3/1/5?format=image/png",
      `/service/wms?SERVICE=WMS&REQUEST=GetMap&VERSION=1.1.1&${wms}`,
      "http://maps.example/quadkey/ws:roads/103.png",
    ].map((target) => line(target)),
  );
  expect(used(use)).toEqual(["ws:roads EPSG:900913 image/png  3/5/1 7"]);
});

test("formats and parameters are distinguished, the most used tile comes first", () => {
  const use = useOf([
    line("/xyz/ws:roads/0/0/0.jpg"),
    ...Array.from({ length: 3 }, () => line("/xyz/ws:roads/0/0/0.png?styles=night")),
    ...Array.from({ length: 2 }, () => line("/xyz/ws:roads/EPSG:4326/2/4/1.png")),
  ]);
  expect(used(use)).toEqual([
    "ws:roads EPSG:900913 image/png night 0/0/0 3",
    "ws:roads EPSG:4326 image/png  2/4/1 2",
    "ws:roads EPSG:900913 image/jpeg  0/0/0 1",
  ]);
});

test("each line is counted by its kind; failed requests count only on request", () => {
  const lines = [
    line("/xyz/ws:roads/0/0/0.png"),
    line("/xyz/ws:roads/0/0/0.png", 304),
    line("/xyz/ws:roads/0/0/0.png", 502),
    line("/xyz/ws:roads/0/0/0.png", 200, "HEAD"),
    line("/xyz/gone/0/0/0.png"),
    line("/xyz/ws:roads/EPSG:4326/2/0/0.png", 404),
    line("/xyz/ws:roads/0/0/0.png?STYLES=none", 400),
    line("/service/wmts?REQUEST=GetCapabilities"),
    line("/%zz/xyz/%zz"),
    line("/"),
    "",
    "junk",
  ];
  expect(useOf(lines).counts).toEqual({ lines: 11, tiles: 2, failed: 1, others: 7, notUnderstood: 1 });
  expect(useOf(lines, true).counts).toEqual({ lines: 11, tiles: 3, failed: 0, others: 7, notUnderstood: 1 });
});

test("a server that does not tell its grid sets is too old", () => {
  const { gridSets: _, ...old } = answer;
  expect(() => remoteCatalogue(old)).toThrow(
    "the server does not tell what its grid set EPSG:900913 is: it is too old",
  );
});
