import { builtInGridSet } from "../../grid/built-in.ts";
import { METERS_PER_DEGREE } from "../../grid/crs/epsg-tables.ts";
import { unitOf } from "../../grid/crs/units.ts";
import { toWebMercator, WEB_WORLD } from "../../grid/crs/web-mercator.ts";
import { corners, intersectionOf, unionOf, WORLD } from "../../grid/extent.ts";
import { asGridSetName, type Extent, type GridSet, type GridSetName } from "../../grid/grid-set.ts";
import type { WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";

/** The grid sets of a layer of a WMS, in the shape of the configuration file. */
export interface ImportedGrids {
  readonly gridSubsets: readonly GridSubsetDocument[];
  /** Grid sets that are not built in. */
  readonly gridSets: readonly OwnGridSet[];
}

export interface GridSubsetDocument {
  readonly gridSet: GridSetName;
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
 * Chooses the grid sets of a layer: EPSG:4326 and EPSG:900913, if the WMS renders in their CRS; else built-in grid sets
 * for the layer's CRSs; else a new grid set around the layer. Undefined if the WMS has no CRS with a bounding box for a
 * grid set.
 */
export function importedGrids(layer: WmsCatalogueLayer): ImportedGrids | undefined {
  const usual = usualSubsets(layer);
  if (usual.length > 0) return { gridSubsets: usual, gridSets: [] };
  const builtIn = [...layer.crs].flatMap((crs) => {
    const grid = builtInFor(crs);
    return grid === undefined ? [] : [{ grid, box: layer.boxes.get(crs) }];
  });
  // A WMS may offer every UTM zone. Keep only the zones for which the layer has a bounding box.
  const placed = builtIn.filter(({ box }) => box !== undefined);
  const chosen = placed.length > 0 ? placed : builtIn.slice(0, 1);
  if (chosen.length > 0)
    return { gridSubsets: chosen.map(({ grid, box }) => subset(grid.id, grid.extent, box)), gridSets: [] };
  for (const crs of layer.crs) {
    const extent = layer.boxes.get(crs);
    if (extent === undefined || !/^EPSG:\d{1,9}$/.test(crs)) continue;
    const isUnknown = unitOf(Number(crs.slice("EPSG:".length))) === 1;
    const metersPerUnit = isUnknown && isInDegrees(extent, layer.box) ? METERS_PER_DEGREE : undefined;
    return {
      gridSubsets: [{ gridSet: asGridSetName(crs), extent: corners(extent) }],
      gridSets: [{ id: crs, srs: crs, extent, metersPerUnit }],
    };
  }
  return undefined;
}

/** Merges the new grid sets of several layers into one per CRS that covers all layers. Each layer uses a part of it. */
export function mergedGridSets(layers: readonly ImportedGrids[]): readonly OwnGridSet[] {
  const merged = new Map<string, OwnGridSet>();
  for (const grid of layers.flatMap(({ gridSets }) => gridSets)) {
    const { extent } = merged.get(grid.id) ?? grid;
    merged.set(grid.id, { ...grid, extent: unionOf(extent, grid.extent) });
  }
  return [...merged.values()];
}

function usualSubsets({ crs, box }: WmsCatalogueLayer): readonly GridSubsetDocument[] {
  const [west, south, east, north] = box ?? [-180, -90, 180, 90];
  const degrees = intersectionOf({ minX: west, minY: south, maxX: east, maxY: north }, WORLD);
  // A layer without a CRS is requested in EPSG:4326, which every WMS offers.
  const geographic = crs.has("EPSG:4326") || crs.has("CRS:84") || crs.size === 0;
  return [
    ...(geographic ? [subset(asGridSetName("EPSG:4326"), WORLD, degrees)] : []),
    ...(MERCATOR_CODES.some((code) => crs.has(code))
      ? [subset(asGridSetName("EPSG:900913"), WEB_WORLD, toWebMercator(degrees))]
      : []),
  ];
}

/** The grid sets of the OGC's registry (17-083r2) by CRS, for CRSs with only one grid set, without UTM zones. */
const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ["EPSG:3035", "EuropeanETRS89_LAEAQuad"],
  ["EPSG:3395", "WorldMercatorWGS84Quad"],
  ["EPSG:3978", "CanadianNAD83_LCC"],
  ["EPSG:5041", "UPSArcticWGS84Quad"],
  ["EPSG:5042", "UPSAntarcticWGS84Quad"],
]);

function builtInFor(crs: string): GridSet | undefined {
  const zone = /^EPSG:326(\d\d)$/.exec(crs)?.[1];
  const id = zone === undefined ? BUILT_IN.get(crs) : `UTM${zone}WGS84Quad`;
  return id === undefined ? undefined : builtInGridSet(id);
}

/** Returns a grid subset. Omits an extent that covers the grid set or does not overlap it. */
function subset(gridSet: GridSetName, whole: Extent, part: Extent | undefined): GridSubsetDocument {
  if (part === undefined) return { gridSet };
  const { minX, minY, maxX, maxY } = intersectionOf(part, whole);
  const tolerance = (whole.maxX - whole.minX) / 2e6;
  const isWhole =
    minX <= whole.minX + tolerance &&
    minY <= whole.minY + tolerance &&
    maxX >= whole.maxX - tolerance &&
    maxY >= whole.maxY - tolerance;
  return isWhole || !(minX < maxX && minY < maxY) ? { gridSet } : { gridSet, extent: [minX, minY, maxX, maxY] };
}

/** Returns whether a CRS is geographic: the extent in it is nearly equal to the layer's box in degrees. */
function isInDegrees({ minX, minY, maxX, maxY }: Extent, box: WmsCatalogueLayer["box"]): boolean {
  if (box === undefined) return false;
  const [west, south, east, north] = box;
  return [minX - west, minY - south, maxX - east, maxY - north].every((off) => Math.abs(off) < 0.5);
}
