import { dirname, join } from "node:path";
import { createGridSet, type GridSetOptions } from "../../grid/create-grid-set.ts";
import { METERS_PER_DEGREE } from "../../grid/crs/epsg-tables.ts";
import { unitOf } from "../../grid/crs/units.ts";
import { canonicalSrs, type Extent, type GridSet } from "../../grid/grid-set.ts";
import { ARCGIS_STORAGES, type ArcgisCacheSourceOptions } from "../../layer/source-options.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { childrenNamed, firstAt, parseXml, type XmlElement } from "../../lib/text/xml-element.ts";
import { openToRead, stampOf } from "../local-file.ts";

/** The limit in bytes for `conf.xml` and for `conf.cdi`. Real files have some kilobytes. */
export const SCHEME_LIMIT = 1024 * 1024;
const MOST_PIXELS = 4096;
const INCH_METERS = 0.0254;
/** The pixels per inch that ArcGIS assumes if `conf.xml` does not name them. */
const DEFAULT_DPI = 96;
/** The share of a tile by which rounding may exceed a whole number of tiles. */
const EDGE = 1e-6;
/**
 * The relative difference that ArcGIS's metres per unit may have, because ArcGIS uses a different radius of the earth.
 */
const UNIT_TOLERANCE = 0.01;

/** A cache of ArcGIS, as its `conf.xml` and `conf.cdi` describe it. */
export interface TilingScheme extends Pick<ArcgisCacheSourceOptions, "storage" | "tileFormat" | "levels" | "stamp"> {
  /** The area with tiles, in the units of the CRS. */
  readonly bounds: Extent;
  /** The grid of the cache, without its id. */
  readonly grid: Omit<GridSetOptions, "id">;
  /** The WKID, the number that ArcGIS has for the CRS. GeoWebCache uses it in the id of the grid set. */
  readonly code: number;
}

/** Returns the grid set of the cache of a layer, with GeoWebCache's id. Refuses an invalid grid, with the reason. */
export const cacheGridSet = ({ grid, code }: Pick<TilingScheme, "grid" | "code">, layer: LayerName) =>
  createGridSet({ ...grid, id: `EPSG:${code}_${layer}` });

/**
 * Reads a cache's `conf.xml`, and the extent in the `conf.cdi` beside it. Refuses a cache that cannot be served, with
 * the reason as the end of a sentence that begins with `path`.
 * @param path the absolute path of `conf.xml`
 */
export async function readTilingScheme(path: string): Promise<Result<TilingScheme, string>> {
  const read = await readBounded(path);
  if (!read.ok) return refuse(read.error.message);
  const parsed = parseXml(read.value.text);
  if (!parsed.ok) return refuse(`this is no XML${lineOf(parsed.error)}`);
  const root = parsed.value;
  if (root.name !== "CacheInfo") return refuse("expected the root CacheInfo");
  const kind = kindOf(root);
  if (!kind.ok) return kind;
  const scheme = gridOf(root);
  if (!scheme.ok) return scheme;
  const { tileOrigin, resolutions, tileSize, ...plain } = scheme.value;
  const bounds = await boundsOf(join(dirname(path), "conf.cdi"), root, tileOrigin);
  if (!bounds.ok) return bounds;
  const extent = gridExtent(tileOrigin, bounds.value, resolutions.at(-1) ?? 1, tileSize);
  return ok({
    ...kind.value,
    levels: plain.levels,
    code: plain.code,
    stamp: read.value.stamp,
    bounds: bounds.value,
    grid: {
      srs: plain.srs,
      extent,
      scale: { resolutions },
      tileWidth: tileSize[0],
      tileHeight: tileSize[1],
      alignTopLeft: true,
      metersPerUnit: plain.metersPerUnit,
    },
  });
}

/**
 * Returns the line number of a fault without its message. The message may quote the file, which may be any XML file of
 * this machine.
 */
const lineOf = (fault: string): string => {
  const line = /^\d+(?=:)/.exec(fault)?.[0];
  return line === undefined ? "" : ` (line ${line})`;
};

async function readBounded(
  path: string,
): Promise<
  Result<{ readonly text: string; readonly stamp: string }, { readonly code: string; readonly message: string }>
> {
  try {
    await using file = await openToRead(path);
    const status = await file.stat();
    if (!status.isFile()) return refuse({ code: "", message: "it is no file" });
    if (status.size > SCHEME_LIMIT) return refuse({ code: "", message: `it is larger than ${SCHEME_LIMIT} bytes` });
    return ok({ text: await file.readFile("utf8"), stamp: stampOf(status) });
  } catch (error) {
    return refuse({ code: codeOf(error), message: fileFault(error) });
  }
}

const textAt = (root: XmlElement, ...path: readonly string[]): string | undefined =>
  firstAt(root, ...path)?.text.trim() || undefined;

const numberAt = (root: XmlElement, ...path: readonly string[]): number => Number(textAt(root, ...path) ?? Number.NaN);

const isWhole = (n: number, least: number, most: number): boolean => Number.isInteger(n) && n >= least && n <= most;

/** Returns how and in which format the tiles are stored. */
function kindOf(root: XmlElement): Result<Pick<TilingScheme, "storage" | "tileFormat">, string> {
  // Caches of versions before ArcGIS 10 name no storage format; they are exploded.
  const given = textAt(root, "CacheStorageInfo", "StorageFormat") ?? "esriMapCacheStorageModeExploded";
  const storage = ARCGIS_STORAGES.find((one) => one === given);
  if (storage === undefined)
    return refuse(`StorageFormat: expected one of ${ARCGIS_STORAGES.join(", ")}, got ${shortened(given)}`);
  const packet = textAt(root, "CacheStorageInfo", "PacketSize");
  if (storage !== "esriMapCacheStorageModeExploded" && packet !== undefined && Number(packet) !== 128)
    return refuse(`PacketSize: expected 128, got ${shortened(packet)}`);
  const format = textAt(root, "TileImageInfo", "CacheTileFormat") ?? "";
  const tileFormat = /^png(8|24|32)?$/i.test(format)
    ? "png"
    : /^jpe?g$/i.test(format)
      ? "jpeg"
      : /^mixed$/i.test(format)
        ? "mixed"
        : undefined;
  if (tileFormat === undefined)
    return refuse(`CacheTileFormat: expected PNG, PNG8, PNG24, PNG32, JPEG or MIXED, got ${shortened(format)}`);
  return ok({ storage, tileFormat });
}

const shortened = (text: string): string => JSON.stringify(text.slice(0, 100));

interface Grid {
  readonly code: number;
  readonly srs: number;
  readonly tileOrigin: { readonly x: number; readonly y: number };
  readonly tileSize: readonly [width: number, height: number];
  readonly levels: readonly number[];
  readonly resolutions: readonly number[];
  readonly metersPerUnit: number;
}

function gridOf(root: XmlElement): Result<Grid, string> {
  const info = firstAt(root, "TileCacheInfo");
  if (info === undefined) return refuse("expected TileCacheInfo in CacheInfo, got none");
  const code = numberAt(info, "SpatialReference", "WKID");
  const latest = numberAt(info, "SpatialReference", "LatestWKID");
  if (!isWhole(code, 1, 2 ** 31 - 1)) return refuse("SpatialReference: expected a WKID, got none");
  const [x, y] = [numberAt(info, "TileOrigin", "X"), numberAt(info, "TileOrigin", "Y")];
  if (!Number.isFinite(x) || !Number.isFinite(y)) return refuse("TileOrigin: expected the numbers X and Y");
  const [width, height] = [numberAt(info, "TileCols"), numberAt(info, "TileRows")];
  if (!isWhole(width, 1, MOST_PIXELS) || !isWhole(height, 1, MOST_PIXELS))
    return refuse(`TileCols, TileRows: expected whole numbers from 1 to ${MOST_PIXELS}`);
  const items = childrenNamed(firstAt(info, "LODInfos"), "LODInfo");
  const levels = items.map((item) => numberAt(item, "LevelID"));
  if (levels.length === 0 || levels.some((level) => !isWhole(level, 0, 99)))
    return refuse("LODInfos: expected levels, each with a LevelID from 0 to 99");
  const resolutions = items.map((item) => numberAt(item, "Resolution"));
  const [first] = items;
  const scale = first === undefined ? Number.NaN : numberAt(first, "Scale");
  const srs = canonicalSrs(isWhole(latest, 1, 2 ** 31 - 1) ? latest : code);
  return ok({
    code,
    srs,
    tileOrigin: { x, y },
    tileSize: [width, height],
    levels,
    resolutions,
    metersPerUnit: metersPerUnit(srs, scale, resolutions[0] ?? Number.NaN, numberAt(info, "DPI")),
  });
}

/**
 * Returns the metres per unit of the CRS. ArcGIS's scales assume pixels of the DPI, and WMTS's scales assume pixels of
 * 0.28 mm. GeoWebCache mistakes one for the other.
 */
function metersPerUnit(srs: number, scale: number, resolution: number, dpi: number): number {
  const pixelMeters = INCH_METERS / (dpi > 0 ? dpi : DEFAULT_DPI);
  const computed = (scale * pixelMeters) / resolution;
  const known = [unitOf(srs), 1, METERS_PER_DEGREE].find((unit) => Math.abs(computed / unit - 1) < UNIT_TOLERANCE);
  return known ?? (computed > 0 && Number.isFinite(computed) ? computed : 1);
}

/**
 * Returns the extent of the layer from `conf.cdi`. Programs other than ArcGIS write no such file; then the extent ends
 * at the corner TileEnd.
 */
async function boundsOf(path: string, root: XmlElement, { x, y }: Grid["tileOrigin"]): Promise<Result<Extent, string>> {
  const read = await readBounded(path);
  if (!read.ok) {
    const end = firstAt(root, "TileCacheInfo", "TileEnd");
    if (read.error.code === "ENOENT" && end !== undefined)
      return extentOf({ minX: x, minY: numberAt(end, "Y"), maxX: numberAt(end, "X"), maxY: y }, "TileEnd");
    return refuse(`conf.cdi beside it: ${read.error.message}`);
  }
  const parsed = parseXml(read.value.text);
  if (!parsed.ok) return refuse(`conf.cdi beside it: this is no XML${lineOf(parsed.error)}`);
  const at = (name: string): number => numberAt(parsed.value, name);
  return extentOf({ minX: at("XMin"), minY: at("YMin"), maxX: at("XMax"), maxY: at("YMax") }, "conf.cdi beside it");
}

const extentOf = (extent: Extent, what: string): Result<Extent, string> =>
  Object.values(extent).every(Number.isFinite) && extent.minX < extent.maxX && extent.minY < extent.maxY
    ? ok(extent)
    : refuse(`${what}: expected an extent with XMin < XMax and YMin < YMax`);

/** Returns the extent of whole tiles of the finest level, from the origin to the end of the area, as in GeoWebCache. */
function gridExtent(
  { x, y }: Grid["tileOrigin"],
  { maxX, minY }: Extent,
  resolution: number,
  [width, height]: Grid["tileSize"],
): GridSet["extent"] {
  const whole = (length: number, tile: number): number => Math.ceil(length / tile - EDGE) * tile;
  return {
    minX: x,
    minY: y - whole(y - minY, height * resolution),
    maxX: x + whole(maxX - x, width * resolution),
    maxY: y,
  };
}
