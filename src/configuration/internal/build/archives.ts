import { toWebMercator } from "../../../grid/crs/web-mercator.ts";
import { canonicalSrs, type Extent, type GridSet } from "../../../grid/grid-set.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import type { LayerName } from "../../../layer/tile-set.ts";
import type { Result } from "../../../lib/result.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import type { ArchiveFacts } from "../../../source/archive/archive.ts";
import { type ArchiveReport, inspectArchive } from "../../../source/archive/open-archive.ts";
import type { GridSubsetDocument } from "../../fields/layer-parts-schema.ts";
import type { ArchiveSourceDocument } from "../../fields/source-schema.ts";
import type { Path, Problems } from "../read/problems.ts";
import { TILE_GRID_SETS } from "./layers/check-tile-layer.ts";

/** An archive that the configuration names, by absolute path. */
export interface NamedArchive {
  readonly file: string;
  readonly report: Result<ArchiveReport, string>;
}

/** Returns a function that inspects archives, each file once. `path` is the source in the configuration. */
export function archiveInspector(
  problems: Pick<Problems, "fileAt">,
): (document: ArchiveSourceDocument, path: Path) => Promise<NamedArchive> {
  const inspected = new Map<string, Promise<Result<ArchiveReport, string>>>();
  return async ({ type, file: given }, path) => {
    const file = problems.fileAt([...path, "file"], given);
    const key = `${type} ${file}`;
    const report = inspected.get(key) ?? inspectArchive(machineClock, { type, file });
    inspected.set(key, report);
    return { file, report: await report };
  };
}

/** Returns the grid subsets of a layer, with zooms and bounds of the archive where the configuration has none. */
export function withBounds(
  documents: readonly GridSubsetDocument[],
  facts: ArchiveFacts,
  gridSetOf: (id: string) => GridSet | undefined,
): readonly GridSubsetDocument[] {
  return documents.map((document) => {
    const gridSet = gridSetOf(document.gridSet);
    const bounded = gridSet !== undefined && canonicalSrs(gridSet.srs) === 3857 ? mercatorBounds(facts) : undefined;
    return {
      zoomStart: Math.min(facts.minZoom, document.zoomStop ?? facts.minZoom),
      zoomStop: Math.max(facts.maxZoom, document.zoomStart ?? facts.maxZoom),
      ...(bounded === undefined ? {} : { extent: [bounded.minX, bounded.minY, bounded.maxX, bounded.maxY] }),
      ...document,
    };
  });
}

const LARGE_TILE = 512;
const LARGE_GRID_SET = "EPSG:900913x2";

/** Returns the grid sets of a layer of single tiles that names no grid set. */
export const tileGridSets = (archive: ArchiveFacts | undefined): readonly GridSubsetDocument[] =>
  archive?.tileSize === LARGE_TILE ? [{ gridSet: LARGE_GRID_SET }] : TILE_GRID_SETS;

/** Checks that the tiles of the grid sets have the size of the archive's tiles. */
export function checkTileSize(
  subsets: readonly GridSubset[],
  { tileSize }: ArchiveFacts,
  pathOf: (gridSet: GridSet) => Path,
  problems: Problems,
): void {
  if (tileSize === undefined) return;
  for (const { gridSet } of subsets) {
    if (gridSet.tileWidth === tileSize && gridSet.tileHeight === tileSize) continue;
    const such = tileSize === LARGE_TILE ? `, such as ${LARGE_GRID_SET}` : "";
    const size = `${tileSize} x ${tileSize} pixels, as those of the archive`;
    problems.expected(pathOf(gridSet), `a grid set with tiles of ${size}${such}`, gridSet.id);
  }
}

export function warnOfLevels(
  layer: LayerName,
  subsets: readonly GridSubset[],
  { minZoom, maxZoom }: ArchiveFacts,
  warnings: string[],
): void {
  for (const { gridSet, zoomStart, zoomStop } of subsets)
    if (zoomStart < minZoom || zoomStop > maxZoom)
      warnings.push(
        `layer ${layer}: levels ${zoomStart} to ${zoomStop} of ${gridSet.id} are offered, but the archive has ${minZoom} to ${maxZoom} only`,
      );
}

/** Returns the bounds of an archive in web mercator. Undefined if the archive covers the whole world. */
function mercatorBounds({ bounds }: ArchiveFacts): Extent | undefined {
  if (bounds === undefined) return undefined;
  const { minX, minY, maxX, maxY } = bounds;
  return minX <= -180 && minY <= -85 && maxX >= 180 && maxY >= 85 ? undefined : toWebMercator(bounds);
}
