import { stat } from "node:fs/promises";
import { corners } from "../../../grid/extent.ts";
import { type GridSet, sameSrs, topLeftCorner, type Zoom } from "../../../grid/grid-set.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import { asLayerName, type LayerName } from "../../../layer/tile-set.ts";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { cacheGridSet, readTilingScheme, type TilingScheme } from "../../../source/arcgis/tiling-scheme.ts";
import type { GridSubsetDocument } from "../../fields/layer-parts-schema.ts";
import type { LayerDocument } from "../../fields/layer-schema.ts";
import type { Path, Problems } from "../read/problems.ts";

/** An ArcGIS cache that a layer names, by absolute path. */
export interface NamedCache {
  readonly path: string;
  /** The directory of the tiles. Undefined if the layer names none. */
  readonly tilesPath: string | undefined;
  readonly report: Result<CacheReport, string>;
  /** The fault of the named directory of the tiles. Undefined if it has none. */
  readonly tilesFault: string | undefined;
}

export interface CacheReport {
  readonly scheme: TilingScheme;
  /** The grid set that the cache defines, with a new id. */
  readonly gridSet: GridSet;
}

/** Reads the caches of layers. */
export async function readArcgisCaches(
  documents: readonly (LayerDocument | undefined)[],
  problems: Pick<Problems, "fileAt">,
): Promise<ReadonlyMap<LayerDocument, NamedCache>> {
  const caches = new Map<LayerDocument, NamedCache>();
  for (const [i, document] of documents.entries()) {
    if (document?.source.type !== "arcgisCache") continue;
    const { path, tilesPath } = document.source;
    const fileAt = (key: "path" | "tilesPath", file: string) => problems.fileAt(["layers", i, "source", key], file);
    caches.set(
      document,
      await readCache(asLayerName(document.name), fileAt("path", path), tilesPath && fileAt("tilesPath", tilesPath)),
    );
  }
  return caches;
}

async function readCache(layer: LayerName, path: string, tiles: string | undefined): Promise<NamedCache> {
  const read = await readTilingScheme(path);
  if (!read.ok) return { path, tilesPath: undefined, report: read, tilesFault: undefined };
  const scheme = read.value;
  const gridSet = cacheGridSet(scheme, layer);
  return {
    path,
    tilesPath: tiles,
    report: gridSet.ok
      ? ok({ scheme, gridSet: gridSet.value })
      : refuse(`its levels make no grid set: ${gridSet.error}`),
    tilesFault: tiles === undefined ? undefined : await directoryFault(tiles),
  };
}

async function directoryFault(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : "it is no directory";
  } catch (error) {
    return fileFault(error);
  }
}

/** The subsets of a layer that names no grid set: the grid set of its cache. */
export const subsetsOfCache = ({ gridSet }: CacheReport): readonly GridSubsetDocument[] => [{ gridSet: gridSet.id }];

/** Returns the grid subsets of a layer, with zooms and extents of the cache where the configuration has none. */
export const withCacheBounds = (
  documents: readonly GridSubsetDocument[],
  { scheme, gridSet: { matrices } }: CacheReport,
  gridSetOf: (id: string) => GridSet | undefined,
): readonly GridSubsetDocument[] =>
  documents.map((document) => {
    const levels = gridSetOf(document.gridSet)?.matrices.length ?? matrices.length;
    const zoomStop = Math.min(levels, matrices.length) - 1;
    return { zoomStop: Math.max(zoomStop, document.zoomStart ?? 0), extent: [...corners(scheme.bounds)], ...document };
  });

/** Checks that the layer's grid sets have the tiles of the cache. Otherwise its tiles would show other places. */
export function checkCacheGrids(
  subsets: readonly GridSubset[],
  { gridSet: own }: CacheReport,
  path: (gridSet: GridSet) => Path,
  problems: Problems,
): void {
  for (const { gridSet, zoomStart, zoomStop } of subsets) {
    let z = zoomStart;
    while (z <= zoomStop && hasSameLevel(gridSet, own, z)) z++;
    if (z <= zoomStop)
      problems.add(
        path(gridSet),
        `level ${z} of ${gridSet.id} does not have the tiles of level ${z} of the cache: expected the grid set ${own.id}, or one with its tiles`,
      );
  }
}

/** The relative difference that equal resolutions may have, because programs write them with different digits. */
const RESOLUTION_TOLERANCE = 1e-6;

function hasSameLevel(a: GridSet, b: GridSet, z: Zoom): boolean {
  const [one, other] = [a.matrices[z], b.matrices[z]];
  if (one === undefined || other === undefined) return false;
  const [from, to] = [topLeftCorner(a, z), topLeftCorner(b, z)];
  return (
    sameSrs(a.srs, b.srs) &&
    a.tileWidth === b.tileWidth &&
    a.tileHeight === b.tileHeight &&
    Math.abs(one.resolution / other.resolution - 1) < RESOLUTION_TOLERANCE &&
    Math.max(Math.abs(from.x - to.x), Math.abs(from.y - to.y)) < other.resolution
  );
}
