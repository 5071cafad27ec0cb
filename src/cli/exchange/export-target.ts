import type { TileX, Zoom } from "../../grid/grid-set.ts";

/** A tile of an export. y counts from the top. */
export interface ExportTile {
  readonly z: Zoom;
  readonly x: TileX;
  readonly fromTop: number;
  readonly bytes: Uint8Array;
}

/** The extent of the tiles of a zoom: first and last column, first and last row from the top. */
export type LevelBox = readonly [minX: number, minY: number, maxX: number, maxY: number];

/** The progress of an export, with which a resumed export begins. */
export interface ExportProgress {
  /** The last tile that was examined. Null before the first. */
  readonly after: string | null;
  readonly tiles: number;
  readonly bytes: number;
  readonly missing: number;
  /** False if the server was still counting the layer. */
  readonly complete: boolean;
  /** The extent of the exported tiles, by zoom. */
  readonly levels: Readonly<Record<string, LevelBox>>;
}

export const NOTHING_DONE: ExportProgress = {
  after: null,
  tiles: 0,
  bytes: 0,
  missing: 0,
  complete: true,
  levels: {},
};

/** The metadata of an archive. */
export interface ExportFacts {
  readonly name: string;
  readonly description: string;
  /** West, south, east, north, in degrees. */
  readonly bounds: readonly [number, number, number, number];
  readonly minZoom: number;
  readonly maxZoom: number;
  /** The layers of vector tiles as in TileJSON. Undefined for pictures. */
  readonly vectorLayers: readonly unknown[] | undefined;
}

/**
 * The destination of an export. An archive gets its name only when it is complete.
 *
 *     open ──add()*──► finish() ──► close()
 */
export interface ExportTarget {
  /** The progress of the interrupted export that this one resumes. */
  readonly begun: ExportProgress | undefined;
  /** Writes the tiles of a page together with the progress after it. */
  add(tiles: readonly ExportTile[], progress: ExportProgress): void;
  /** Completes the target. @throws the reason of the signal */
  finish(facts: ExportFacts, signal: AbortSignal): Promise<void>;
  /** Removes an unfinished archive, or keeps it for a resumed export. */
  close(unfinished: "keep" | "remove"): void;
}

/** Adds the tiles of a page to the progress. */
export function progressAfter(
  before: ExportProgress,
  tiles: readonly ExportTile[],
  page: { readonly next: string | null; readonly missing: number; readonly complete: boolean },
): ExportProgress {
  const levels: Record<string, LevelBox> = { ...before.levels };
  let bytes = before.bytes;
  for (const tile of tiles) {
    const { z, x, fromTop: y } = tile;
    const [minX, minY, maxX, maxY] = levels[z] ?? [x, y, x, y];
    levels[z] = [Math.min(minX, x), Math.min(minY, y), Math.max(maxX, x), Math.max(maxY, y)];
    bytes += tile.bytes.byteLength;
  }
  return {
    after: page.next,
    tiles: before.tiles + tiles.length,
    bytes,
    missing: before.missing + page.missing,
    complete: before.complete && page.complete,
    levels,
  };
}
