import { resolve } from "node:path";
import { canonicalSrs, type Extent, type GridSet } from "../../grid/grid-set.ts";
import { toWebMercator } from "../../grid/web-mercator.ts";
import type { ArchiveSourceOptions, GridSubset } from "../../layer/layer.ts";
import type { Result } from "../../lib/result.ts";
import type { ArchiveFacts } from "../../source/archive/archive.ts";
import { type ArchiveReport, inspectArchive } from "../../source/archive/open-archive.ts";
import type { Path, Problems } from "./problems.ts";
import type { GridSubsetDocument, LayerDocument } from "./schema/layer-schema.ts";
import type { ArchiveSourceDocument } from "./schema/source-schema.ts";

/** The reports of the archives that a configuration names. They are read before the layers are built. */
export interface Archives {
  of(document: ArchiveSourceDocument): { readonly file: string; readonly report: Result<ArchiveReport, string> };
}

/** Reads each archive that a layer names, once. Relative paths refer to `cwd`. */
export async function readArchives(documents: readonly (LayerDocument | undefined)[], cwd: string): Promise<Archives> {
  const reports = new Map<string, Result<ArchiveReport, string>>();
  const keyOf = (type: string, file: string): string => `${type} ${file}`;
  for (const document of documents) {
    if (document === undefined || !isArchive(document.source)) continue;
    const { type } = document.source;
    const file = resolve(cwd, document.source.file);
    if (!reports.has(keyOf(type, file))) reports.set(keyOf(type, file), await inspectArchive({ type, file }));
  }
  return {
    of(document) {
      const file = resolve(cwd, document.file);
      const report = reports.get(keyOf(document.type, file));
      if (report === undefined) throw new Error(`archive ${file} has not been read`);
      return { file, report };
    },
  };
}

export const isArchive = (source: LayerDocument["source"]): source is ArchiveSourceDocument =>
  source.type === "mbtiles" || source.type === "pmtiles";

export function buildArchive(
  document: ArchiveSourceDocument,
  archives: Archives,
  path: Path,
  problems: Problems,
): ArchiveSourceOptions {
  const { file, report } = archives.of(document);
  if (!report.ok) problems.add([...path, "file"], `${JSON.stringify(file)}: ${report.error}`);
  return { ...document, file, stamp: report.ok ? report.value.stamp : "" };
}

/** Returns the grid subsets of a layer. Zooms and bounds that the configuration does not give come from the archive. */
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

export function warnOfLevels(
  layer: string,
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

/**
 * Returns the bounds of an archive in web mercator; undefined if the archive covers the whole world of web mercator.
 */
function mercatorBounds({ bounds }: ArchiveFacts): Extent | undefined {
  if (bounds === undefined) return undefined;
  const { minX, minY, maxX, maxY } = bounds;
  return minX <= -180 && minY <= -85 && maxX >= 180 && maxY >= 85 ? undefined : toWebMercator(bounds);
}
