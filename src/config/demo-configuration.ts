import { builtInGridSet } from "../grid/built-in.ts";
import { createGridSet } from "../grid/create-grid-set.ts";
import type { GridSet } from "../grid/grid-set.ts";
import { atEveryZoom } from "../layer/by-zoom.ts";
import { formatOf, type TileFormat } from "../layer/format.ts";
import { DEFAULT_ENCODING, type GridSubset, gridSubset, type Layer, STANDARD_LAYER_JOBS } from "../layer/layer.ts";
import type { Legend } from "../layer/legend.ts";
import { legendSize } from "../source/demo/legend-size.ts";

/** Returns the grid set of GWC's own `geowebcache.xml`, in the projection of the US National Atlas. */
function usAtlas(): GridSet {
  const created = createGridSet({
    id: "EPSG:2163",
    title: "US National Atlas equal area",
    srs: 2163,
    extent: {
      minX: -2495667.977678598,
      minY: -2223677.196231552,
      maxX: 3291070.6104286816,
      maxY: 959189.3312465074,
    },
    scale: { scaleDenominators: [25000000, 1000000, 100000, 25000] },
    tileWidth: 200,
    tileHeight: 200,
  });
  if (!created.ok) throw new RangeError(`grid set EPSG:2163: ${created.error}`);
  return created.value;
}

function whole(id: string): GridSubset {
  const found = builtInGridSet(id);
  if (found === undefined) throw new RangeError(`no built-in grid set ${id}`);
  return gridSubset(found, {});
}

const formats = (...names: string[]): TileFormat[] =>
  names.flatMap((name) => {
    const format = formatOf(name);
    return format === undefined ? [] : [format];
  });

const common = {
  metatile: [4, 4],
  gutter: 0,
  expireCacheSeconds: atEveryZoom(0),
  staleWhileRevalidateSeconds: 0,
  queryable: false,
  fullWms: false,
  formatsTogether: false,
  legends: [],
  negativeCacheSeconds: 0,
  ...DEFAULT_ENCODING,
  expireClientSeconds: atEveryZoom(7200),
  secured: false,
  jobs: STANDARD_LAYER_JOBS,
} as const;

/** Returns one legend for each style; "" is the default style. */
const statesLegends = (...styles: string[]): Legend[] =>
  styles.map((style) => ({ style, format: "image/png", ...legendSize(style) }));

/**
 * Returns the layers of GWC's documentation, rendered by Nuthatch itself, so that the examples work on a fresh start.
 */
export function demoLayers(): readonly Layer[] {
  const geodetic = whole("EPSG:4326");
  const mercator = whole("EPSG:900913");
  return [
    {
      ...common,
      name: "topp:states",
      title: "USA population",
      description: "The states of the USA, coloured by population, number or hatching.",
      source: { type: "demo", dataset: "states", connections: 4 },
      gridSubsets: [
        gridSubset(geodetic.gridSet, { extent: { minX: -129.6, minY: 3.45, maxX: -62.1, maxY: 70.53 } }),
        mercator,
        gridSubset(usAtlas(), { zoomStart: 0, zoomStop: 3 }),
      ],
      formats: formats("image/png", "image/png8", "image/jpeg"),
      parameterFilters: [
        { type: "string", key: "STYLES", default: "population", values: ["population", "polygon", "pophatch"] },
        { type: "regex", key: "CQL_FILTER", default: "", regex: ".*" },
      ],
      legends: statesLegends("", "polygon", "pophatch"),
    },
    {
      ...common,
      name: "nurc:Arc_Sample",
      title: "The world",
      description: "Land and countries of the whole world, from Natural Earth.",
      source: { type: "demo", dataset: "world", connections: 4 },
      gridSubsets: [geodetic, mercator],
      formats: formats("image/png", "image/png8", "image/jpeg"),
      parameterFilters: [],
    },
    {
      ...common,
      name: "img states",
      title: "States, plain",
      description: "The states of the USA under a name with a space.",
      source: { type: "demo", dataset: "states", connections: 4 },
      gridSubsets: [geodetic, mercator],
      formats: formats("image/png", "image/png8", "image/jpeg"),
      parameterFilters: [],
      legends: statesLegends(""),
    },
  ];
}
