import { builtInGridSet } from "../../../grid/built-in.ts";
import { WEB_WORLD } from "../../../grid/crs/web-mercator.ts";
import { corners } from "../../../grid/extent.ts";
import { defined } from "../../../lib/defined.ts";
import type { Content } from "../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { builtInGrid, type ForeignGrid, hasUsualTiles, isWebGrid, ownGrid } from "../foreign-grid.ts";
import { extentIn, ForeignObject } from "../foreign-object.ts";

const halvings = (first: number, count: number): number[] => Array.from({ length: count }, (_, z) => first / 2 ** z);
const web = {
  srs: "epsg:3857",
  extent: corners(WEB_WORLD),
  resolutions: halvings(156543.033928041, 22),
};
/** The grids that are built into MapCache. */
const BUILT_IN: Readonly<Record<string, Content>> = {
  WGS84: { srs: "epsg:4326", extent: [-180, -90, 180, 90], resolutions: halvings(0.703125, 18) },
  g: { ...web, srs: "epsg:900913" },
  GoogleMapsCompatible: web,
};

/**
 * Returns a grid of MapCache, or why it cannot be a grid set. `own` is the grid in the file; undefined if the file
 * lacks it.
 */
export function mapCacheGrid(name: string, own: ForeignObject | undefined): Result<ForeignGrid, string> {
  const options = own ?? new ForeignObject(name, BUILT_IN[name] ?? {});
  const code = Number(/^epsg:(\d+)$/i.exec(options.text("srs") ?? "")?.[1]);
  const extent = extentIn(options.numbers("extent")?.slice(0, 4));
  const resolutions = options.numbers("resolutions") ?? [];
  if (own === undefined && BUILT_IN[name] === undefined) return refuse(`there is no grid ${name}`);
  if (!Number.isInteger(code)) return refuse("srs is no EPSG code");
  if (extent === undefined) return refuse("extent has not four numbers");
  if (resolutions.length === 0) return refuse("resolutions are missing");
  const [width = 256, height = 256] = options.numbers("size") ?? [];
  const origin = options.text("origin") ?? "bottom-left";
  if (origin !== "bottom-left" && origin !== "top-left") return refuse(`the origin ${origin} has no equivalent`);
  own?.differently("units", "the units of the SRS are used");
  const grid = {
    name,
    srs: code,
    srsName: `EPSG:${code}`,
    extent,
    rows: origin === "top-left" ? "top" : "bottom",
    resolutions,
    tileSize: [width, height],
  } as const;
  const builtIn = isWebGrid(grid) ? "EPSG:900913" : isWorldGrid(grid) ? "EPSG:4326" : undefined;
  if (builtIn !== undefined) {
    own?.differently("resolutions", `the grid is the built-in ${builtIn}`);
    return ok(builtInGrid(grid, builtIn));
  }
  const title = options.text("metadata.title");
  return ok(ownGrid(grid, { id: name, ...defined({ title }), scaleNames: resolutions.map((_, z) => String(z)) }));
}

/** Returns whether a grid has the tiles of EPSG:4326. */
function isWorldGrid({
  srs,
  extent,
  resolutions,
  tileSize,
}: Pick<ForeignGrid, "srs" | "extent" | "resolutions" | "tileSize">) {
  const grid = builtInGridSet("EPSG:4326");
  return (
    srs === 4326 &&
    hasUsualTiles({ tileSize }) &&
    extent.minX === -180 &&
    extent.minY === -90 &&
    extent.maxX === 180 &&
    extent.maxY === 90 &&
    resolutions.every((res, z) => Math.abs(res / (grid?.matrices[z]?.resolution ?? 0) - 1) < 1e-6)
  );
}
