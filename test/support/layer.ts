import { builtInGridSet } from "../../src/grid/built-in.ts";
import type { GridSet, TileRect } from "../../src/grid/grid-set.ts";
import { atEveryZoom } from "../../src/layer/by-zoom.ts";
import { formatOf, type TileFormat } from "../../src/layer/format.ts";
import { coverageAt, gridSubset } from "../../src/layer/grid-subset.ts";
import { INFO_FORMATS, type Layer, STANDARD_LAYER_JOBS } from "../../src/layer/layer.ts";
import { DEFAULT_ENCODING } from "../../src/layer/picture/encoding.ts";

/** Returns a format by its MIME type; throws if it does not exist. */
export function formatNamed(mimeType: string): TileFormat {
  const format = formatOf(mimeType);
  if (format === undefined) throw new Error(`no format ${mimeType}`);
  return format;
}

/** Returns a built-in grid set by its id; throws if it does not exist. */
export function gridSetNamed(id: string): GridSet {
  const gridSet = builtInGridSet(id);
  if (gridSet === undefined) throw new Error(`no grid set ${id}`);
  return gridSet;
}

/** Returns the tiles that the first grid subset of a layer offers at a level. */
export function coverageOf(layer: Layer | undefined, z: number): TileRect | undefined {
  const subset = layer?.gridSubsets[0];
  return subset && coverageAt(subset, z);
}

/** Returns a layer of PNG tiles in the web's grid set; `more` has the fields that the test is about. */
export const layerNamed = (name: string, more: Partial<Layer> = {}): Layer => ({
  name,
  enabled: true,
  advertised: true,
  title: "",
  description: "",
  keywords: [],
  metadataUrls: [],
  source: { type: "demo", dataset: "world", connections: 1 },
  gridSubsets: [gridSubset(gridSetNamed("EPSG:900913"), {})],
  formats: [formatNamed("image/png")],
  metatile: [4, 4],
  gutter: 0,
  parameterFilters: [],
  expireCacheSeconds: atEveryZoom(0),
  staleWhileRevalidateSeconds: 0,
  formatModifiers: [],
  queryable: false,
  infoFormats: INFO_FORMATS,
  fullWms: false,
  resampling: "bilinear",
  formatsTogether: false,
  legends: [],
  negativeCacheSeconds: 0,
  ...DEFAULT_ENCODING,
  expireClientSeconds: atEveryZoom(0),
  staleClientSeconds: 15,
  secured: false,
  jobs: STANDARD_LAYER_JOBS,
  ...more,
});
