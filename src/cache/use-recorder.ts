import type { TileIndex, TileX, TileY, Zoom } from "../grid/grid-set.ts";
import { CELL_SHIFT, CELL_SIDE, type TileSet, tileSetKey } from "../layer/tile-set.ts";
import type { CellUses } from "../ledger/cells/cell-eviction.ts";

/** One sampled read: the address of a tile, without any data about the user. */
export interface SampledRead extends TileIndex {
  readonly tileSet: TileSet;
}

/** The reads between two drains. */
export interface UseReport {
  readonly cells: readonly CellUses[];
  readonly reads: readonly SampledRead[];
  /** A threshold of 2^32. Cells whose hash is below it were sampled. */
  readonly sampledBelow: number;
}

interface Seen extends TileIndex {
  readonly tileSet: TileSet;
  readonly hash: number;
  /** One bit per tile, set if the tile was read. */
  readonly tiles: Uint32Array;
  repeats: number;
  reported: boolean;
}

/**
 * The number of cells remembered in each of two generations. Beyond this number, a cell that was not read recently
 * counts as new when it is read again.
 */
const CELLS = 8_192;
/** The threshold with which every cell is sampled. */
export const SAMPLE_ALL = 2 ** 32;
/**
 * Limits on the reads that are sampled per minute. Above the upper limit the share of sampled cells is halved, below
 * the lower limit it is doubled.
 */
const MOST_READS = 300;
const FEWEST_READS = 75;
const MINUTE_MS = 60_000;

/** Counts reads per cell between two drains, and samples single reads, with one lookup per read. */
export class UseRecorder {
  readonly #now: () => number;
  #young = new Map<string, Seen>();
  #old = new Map<string, Seen>();
  #unreported: Seen[] = [];
  #reads: SampledRead[] = [];
  #sampledBelow = SAMPLE_ALL;
  #minuteBeganMs: number;
  #readsInMinute = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#minuteBeganMs = now();
  }

  record(tileSet: TileSet, { x, y, z }: TileIndex): void {
    const key = cellKey(tileSet, x, y, z);
    const seen = this.#young.get(key) ?? this.#remember(key, tileSet, x, y, z);
    const tile = tileInCell(x, y);
    const word = tile >> 5;
    const bits = seen.tiles[word] ?? 0;
    if ((bits & (1 << (tile & 31))) === 0) seen.tiles[word] = bits | (1 << (tile & 31));
    else seen.repeats++;
    if (seen.reported) {
      seen.reported = false;
      this.#unreported.push(seen);
    }
    if (seen.hash < this.#sampledBelow && this.#readsInMinute < 2 * MOST_READS) {
      this.#readsInMinute++;
      this.#reads.push({ tileSet, x, y, z });
    }
  }

  #remember(key: string, tileSet: TileSet, x: TileX, y: TileY, z: Zoom): Seen {
    const seen = this.#old.get(key) ?? {
      tileSet,
      x,
      y,
      z,
      hash: hashOf(key),
      tiles: new Uint32Array(8),
      repeats: 0,
      reported: true,
    };
    if (this.#young.size >= CELLS) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, seen);
    return seen;
  }

  /** Returns the reads since the last drain. Undefined if there were no reads. */
  drain(): UseReport | undefined {
    const report = this.#unreported.length === 0 ? undefined : this.#report();
    if (this.#now() - this.#minuteBeganMs >= MINUTE_MS) this.#nextMinute();
    return report;
  }

  #report(): UseReport {
    const cells = this.#unreported.map((seen) => {
      const { tileSet, x, y, z, repeats } = seen;
      seen.repeats = 0;
      seen.reported = true;
      return { tileSet, x, y, z, repeats };
    });
    const reads = this.#reads;
    this.#unreported = [];
    this.#reads = [];
    return { cells, reads, sampledBelow: this.#sampledBelow };
  }

  #nextMinute(): void {
    if (this.#readsInMinute > MOST_READS) this.#sampledBelow = Math.max(1, this.#sampledBelow / 2);
    else if (this.#readsInMinute < FEWEST_READS) this.#sampledBelow = Math.min(SAMPLE_ALL, this.#sampledBelow * 2);
    this.#readsInMinute = 0;
    this.#minuteBeganMs = this.#now();
  }
}

/** Returns the map key of a tile's cell. */
export const cellKey = (tileSet: TileSet, x: TileX, y: TileY, z: Zoom): string =>
  `${tileSetKey(tileSet)}\n${z}/${Math.floor(x / CELL_SIDE)}/${Math.floor(y / CELL_SIDE)}`;

/** Returns a tile's number within its cell, 0 to 255. */
export const tileInCell = (x: number, y: number): number => ((y % CELL_SIDE) << CELL_SHIFT) | (x % CELL_SIDE);

/**
 * Returns a 32-bit hash: FNV-1a with a final mix, so that the choice of sampled cells does not depend on their
 * positions.
 */
export function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
