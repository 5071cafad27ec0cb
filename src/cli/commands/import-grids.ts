import { builtInGridSet } from "../../grid/built-in.ts";
import { defaultMetersPerUnit } from "../../grid/create-grid-set.ts";
import type { Extent, GridSet } from "../../grid/grid-set.ts";
import { HALF_WORLD, toWebMercator } from "../../grid/web-mercator.ts";
import type { WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";

/** The grid sets in which a layer of a WMS is cached, in the shape of the configuration file. */
export interface ImportedGrids {
  readonly gridSubsets: readonly GridSubsetDocument[];
  /** Those that are not built in. */
  readonly gridSets: readonly OwnGridSet[];
}

export interface GridSubsetDocument {
  readonly gridSet: string;
  readonly extent?: readonly number[];
}

export interface OwnGridSet {
  readonly id: string;
  readonly srs: string;
  readonly extent: Extent;
  readonly metersPerUnit: number | undefined;
}

const MERCATOR_CODES = ["EPSG:3857", "EPSG:900913", "EPSG:102100", "EPSG:102113"];

/**
 * The two grid sets of everybody, as far as the WMS renders in their CRS; if in neither, those that are built in for a CRS
 * of it; if there is none, one of our own around the layer. Undefined: the WMS names no CRS and place to make one of.
 */
export function importedGrids(layer: WmsCatalogueLayer): ImportedGrids | undefined {
  const usual = usualSubsets(layer);
  if (usual.length > 0) return { gridSubsets: usual, gridSets: [] };
  const builtIn = [...layer.crs].flatMap((crs) => {
    const grid = builtInFor(crs);
    return grid === undefined ? [] : [{ grid, box: layer.boxes.get(crs) }];
  });
  // A WMS may offer all zones of UTM: the layer lies in those that it has a box for.
  const placed = builtIn.filter(({ box }) => box !== undefined);
  const chosen = placed.length > 0 ? placed : builtIn.slice(0, 1);
  if (chosen.length > 0)
    return { gridSubsets: chosen.map(({ grid, box }) => subset(grid.id, grid.extent, box)), gridSets: [] };
  for (const crs of layer.crs) {
    const extent = layer.boxes.get(crs);
    if (extent === undefined || !/^EPSG:\d{1,9}$/.test(crs)) continue;
    const metersPerUnit = isInDegrees(extent, layer.box) ? defaultMetersPerUnit(4326) : undefined;
    const { minX, minY, maxX, maxY } = extent;
    return {
      gridSubsets: [{ gridSet: crs, extent: [minX, minY, maxX, maxY] }],
      gridSets: [{ id: crs, srs: crs, extent, metersPerUnit }],
    };
  }
  return undefined;
}

/** Of several layers: one grid set for each CRS, around all of them; the layers then have their parts of it. */
export function mergedGridSets(layers: readonly ImportedGrids[]): readonly OwnGridSet[] {
  const merged = new Map<string, OwnGridSet>();
  for (const grid of layers.flatMap(({ gridSets }) => gridSets)) {
    const { extent } = merged.get(grid.id) ?? grid;
    merged.set(grid.id, {
      ...grid,
      extent: {
        minX: Math.min(extent.minX, grid.extent.minX),
        minY: Math.min(extent.minY, grid.extent.minY),
        maxX: Math.max(extent.maxX, grid.extent.maxX),
        maxY: Math.max(extent.maxY, grid.extent.maxY),
      },
    });
  }
  return [...merged.values()];
}

function usualSubsets({ crs, box }: WmsCatalogueLayer): readonly GridSubsetDocument[] {
  const [west, south, east, north] = box ?? [-180, -90, 180, 90];
  const world: Extent = { minX: -180, minY: -90, maxX: 180, maxY: 90 };
  const degrees = clipped({ minX: west, minY: south, maxX: east, maxY: north }, world);
  const square = { minX: -HALF_WORLD, minY: -HALF_WORLD, maxX: HALF_WORLD, maxY: HALF_WORLD };
  // One that names none at all is asked in the CRS that every WMS has.
  const geographic = crs.has("EPSG:4326") || crs.has("CRS:84") || crs.size === 0;
  return [
    ...(geographic ? [subset("EPSG:4326", world, degrees)] : []),
    ...(MERCATOR_CODES.some((code) => crs.has(code)) ? [subset("EPSG:900913", square, toWebMercator(degrees))] : []),
  ];
}

/** Those of the OGC's registry (17-083r2) whose CRS has but one. */
function builtInFor(crs: string): GridSet | undefined {
  switch (crs) {
    case "EPSG:3035":
      return builtInGridSet("EuropeanETRS89_LAEAQuad");
    case "EPSG:3395":
      return builtInGridSet("WorldMercatorWGS84Quad");
    case "EPSG:3978":
      return builtInGridSet("CanadianNAD83_LCC");
    case "EPSG:5041":
      return builtInGridSet("UPSArcticWGS84Quad");
    case "EPSG:5042":
      return builtInGridSet("UPSAntarcticWGS84Quad");
    default: {
      const zone = /^EPSG:326(\d\d)$/.exec(crs)?.[1];
      return zone === undefined ? undefined : builtInGridSet(`UTM${zone}WGS84Quad`);
    }
  }
}

const clipped = (box: Extent, to: Extent): Extent => ({
  minX: Math.max(box.minX, to.minX),
  minY: Math.max(box.minY, to.minY),
  maxX: Math.min(box.maxX, to.maxX),
  maxY: Math.min(box.maxY, to.maxY),
});

/** Without an extent where it is all of the grid set, or none of it at all. */
function subset(gridSet: string, whole: Extent, part: Extent | undefined): GridSubsetDocument {
  if (part === undefined) return { gridSet };
  const { minX, minY, maxX, maxY } = clipped(part, whole);
  const tolerance = (whole.maxX - whole.minX) / 2e6;
  const isWhole =
    minX <= whole.minX + tolerance &&
    minY <= whole.minY + tolerance &&
    maxX >= whole.maxX - tolerance &&
    maxY >= whole.maxY - tolerance;
  return isWhole || !(minX < maxX && minY < maxY) ? { gridSet } : { gridSet, extent: [minX, minY, maxX, maxY] };
}

/** A geographic CRS tells itself by a box that is nearly the layer's in degrees. */
function isInDegrees({ minX, minY, maxX, maxY }: Extent, box: WmsCatalogueLayer["box"]): boolean {
  if (box === undefined) return false;
  const [west, south, east, north] = box;
  return [minX - west, minY - south, maxX - east, maxY - north].every((off) => Math.abs(off) < 0.5);
}
