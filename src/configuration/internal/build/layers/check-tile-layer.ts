import { type GridSet, sameSrs } from "../../../../grid/grid-set.ts";
import { formatNames, formatOf } from "../../../../layer/format.ts";
import type { GridSubset } from "../../../../layer/grid-subset.ts";
import { rendersSingleTiles, type SourceOptions } from "../../../../layer/source-options.ts";
import { addressesOf } from "../../../../source/http/servers.ts";
import type { GridSubsetDocument } from "../../../fields/layer-parts-schema.ts";
import type { LayerDocument } from "../../../fields/layer-schema.ts";
import type { Path, Problems } from "../../read/problems.ts";

/** The grid set of nearly all tiles on the web. */
export const TILE_GRID_SETS: readonly GridSubsetDocument[] = [{ gridSet: "EPSG:900913" }];

/** Checks a layer whose source delivers single tiles of a fixed grid. */
export function checkTileLayer(
  document: LayerDocument,
  source: SourceOptions,
  subsets: readonly GridSubset[],
  path: Path,
  problems: Problems,
): void {
  if (!rendersSingleTiles(source)) return;
  const { metatile, gutter } = document;
  const mode = source.type === "arcgis" ? ` and mode ${source.mode}` : "";
  const why = `as a source of type ${source.type}${mode} has single tiles`;
  if (metatile?.some((tiles) => tiles !== 1))
    problems.add([...path, "metatile"], `expected [1, 1], ${why}, got [${metatile.join(", ")}]`);
  if (gutter !== 0) problems.expected([...path, "gutter"], `0, ${why}`, gutter);
  // Tiles on the disk belong to the layer's own grid sets.
  if (source.type === "none" || source.type === "group") return;
  const [first] = subsets;
  for (const { gridSet } of subsets) {
    const at = subsetPath(document, gridSet, path);
    // Otherwise tiles of another grid with the same numbers would be stored as tiles of this grid, without any error.
    if (first !== undefined && !sameTiles(first.gridSet, gridSet))
      problems.expected(
        at,
        `a grid set with the CRS and tile size of ${first.gridSet.id}, ${why} of one grid`,
        gridSet.id,
      );
  }
  if (source.type === "wmts" && source.tileMatrices !== undefined)
    checkTileMatrices(source.tileMatrices, subsets, [...path, "source", "tileMatrices"], problems);
  const isArchive = source.type === "mbtiles" || source.type === "pmtiles";
  if ((isArchive || source.type === "arcgisCache") && document.parameterFilters.length > 0)
    problems.add(
      [...path, "parameterFilters"],
      `is given, but the tiles of ${isArchive ? "an archive" : "a cache"} do not depend on parameters`,
    );
  if (isArchive) checkQuadTree(document, subsets, "as archives have no other", path, problems);
  if (source.type === "xyz" && addressesOf(source).some((address) => address.includes("{q}")))
    checkQuadTree(document, subsets, "as the address has {q}", path, problems);
}

function checkQuadTree(
  document: LayerDocument,
  subsets: readonly GridSubset[],
  why: string,
  path: Path,
  problems: Problems,
): void {
  for (const subset of subsets)
    if (!isQuadTree(subset))
      problems.expected(
        subsetPath(document, subset.gridSet, path),
        `a grid set of 2^z x 2^z tiles, ${why}`,
        subset.gridSet.id,
      );
}

/** Checks that the source has a name for every level that the layer offers. */
function checkTileMatrices(
  names: readonly string[],
  subsets: readonly GridSubset[],
  path: Path,
  problems: Problems,
): void {
  const [lacking] = subsets.filter(({ zoomStop }) => zoomStop >= names.length);
  if (lacking === undefined) return;
  const levels = `level 0 to ${lacking.zoomStop}, the last one offered of ${lacking.gridSet.id}`;
  problems.add(path, `expected ${lacking.zoomStop + 1} names, for ${levels}, got ${names.length}`);
}

const sameTiles = (a: GridSet, b: GridSet): boolean =>
  sameSrs(a.srs, b.srs) && a.tileWidth === b.tileWidth && a.tileHeight === b.tileHeight;

function isQuadTree({ gridSet, zoomStart, zoomStop }: GridSubset): boolean {
  return gridSet.matrices
    .slice(zoomStart, zoomStop + 1)
    .every((m, i) => m.matrixWidth === 2 ** (zoomStart + i) && m.matrixHeight === m.matrixWidth);
}

/**
 * Returns the path of a grid subset. Finds it by name, because invalid grid sets are missing from the subsets, so that
 * their indexes differ.
 */
export function subsetPath({ gridSubsets }: LayerDocument, { id }: GridSet, path: Path): Path {
  const at = gridSubsets?.findIndex(({ gridSet }) => gridSet === id) ?? -1;
  return at < 0 ? [...path, "source"] : [...path, "gridSubsets", at, "gridSet"];
}

/**
 * Checks that tiles on the disk have existing grid sets and formats, and that a layer without an upstream has such
 * tiles.
 */
export function checkTilesOnDisk(
  { source, tilesOnDisk, gridSubsets }: LayerDocument,
  subsets: readonly GridSubset[],
  path: Path,
  problems: Problems,
): void {
  if (tilesOnDisk === undefined) {
    if (source.type === "none") problems.add(path, "tilesOnDisk is missing: a source of type none renders no tiles");
    return;
  }
  const offered = [...(gridSubsets ?? []).map(({ gridSet }) => gridSet), ...subsets.map(({ gridSet }) => gridSet.id)];
  for (const [i, { gridSet, format }] of tilesOnDisk.entries()) {
    const at = [...path, "tilesOnDisk", i];
    if (!offered.includes(gridSet))
      problems.expected([...at, "gridSet"], `a grid set of the layer (${[...new Set(offered)].join(", ")})`, gridSet);
    if (format !== undefined && formatOf(format) === undefined)
      problems.expected([...at, "format"], `one of ${formatNames.join(", ")}`, format);
  }
}
