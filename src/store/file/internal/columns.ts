import { join } from "node:path";
import {
  asTileRect,
  asTileX,
  asTileY,
  type TileRect,
  type TileX,
  type TileY,
  type Zoom,
} from "../../../grid/grid-set.ts";
import { formatOfExtension } from "../../../layer/format.ts";
import { BLOCK_SIDE, type FormatName } from "../../../layer/tile-set.ts";
import { statOf } from "../../internal/directories.ts";
import type { DirectoryTimes, LevelChanges, Region } from "../../inventory-store.ts";
import { changedMs, entriesOf, settledMs } from "./regions.ts";
import type { LevelDirectory, TileLayout } from "./tile-layout.ts";

/*
 * For layouts in which a directory contains one column of tiles, from the bottom of the level to its top. The regions
 * are the blocks of the ledger. The blocks of 128 columns are found by one reading of these columns' directories.
 */

type Names = Pick<TileLayout, "parse" | "bucket" | "file">;
/** The columns with a directory, by column of blocks. */
type ColumnBlocks = ReadonlyMap<number, readonly string[]>;

const blockOf = (n: number): number => Math.floor(n / BLOCK_SIDE);
const digits = (n: number): string => String(n).padStart(10, "0");

/** Yields the blocks with tiles, from left to right, and within a column of blocks from bottom to top. */
export async function* regionsOfColumns(
  level: LevelDirectory,
  after: string | undefined,
  names: Names,
): AsyncGenerator<Region> {
  for (const [bx, columns] of await columnBlocks(level)) {
    if (after !== undefined && digits(bx) < after.slice(0, digits(bx).length)) continue;
    const directories = await timesOf(level, columns);
    for (const [by, found] of await blocksOfColumns(level, bx, columns, names)) {
      const key = `${digits(bx)}_${digits(by)}`;
      if (after === undefined || key > after) yield { ...regionOfBlock(level.z, bx, by, found, key), directories };
    }
  }
}

/** Returns the changes to a level at or after a time, by the change times of its columns' directories. */
export function changesOfColumns(level: LevelDirectory, sinceMs: number, names: Names): LevelChanges {
  /** The blocks with tiles in the columns that have changed. */
  const changed = new Map<number, ReadonlySet<number>>();
  const isLost = (statOf(level.path, "the store cannot be read")?.ctimeMs ?? sinceMs) >= sinceMs;
  let present: ReadonlySet<string> | undefined;
  return {
    get hasLost() {
      return isLost || changed.size > 0;
    },
    async holds(cell: TileRect) {
      // A block of a changed column that was not listed has lost all its tiles.
      if (changed.get(blockOf(cell.minX))?.has(blockOf(cell.minY)) === false) return false;
      if (!isLost) return true;
      present ??= new Set([...(await columnBlocks(level)).values()].flat());
      for (let x = cell.minX; x <= cell.maxX; x++) if (!present.has(String(x))) return false;
      return true;
    },
    async *regions() {
      for (const [bx, columns] of await columnBlocks(level)) {
        const times = await Promise.all(columns.map((column) => changedMs(join(level.path, column))));
        if (!times.some((ms) => ms >= sinceMs)) continue;
        const blocks = await blocksOfColumns(level, bx, columns, names);
        changed.set(bx, new Set(blocks.keys()));
        for (const [by, found] of blocks) yield regionOfBlock(level.z, bx, by, found, `${digits(bx)}_${digits(by)}`);
      }
    },
  };
}

async function columnBlocks({ path }: LevelDirectory): Promise<ColumnBlocks> {
  const blocks = new Map<number, string[]>();
  for await (const { name } of entriesOf(path)) {
    const x = columnOf(name);
    if (x === undefined) continue;
    const columns = blocks.get(blockOf(x));
    if (columns === undefined) blocks.set(blockOf(x), [name]);
    else columns.push(name);
  }
  return new Map([...blocks].sort(([a], [b]) => a - b));
}

/** Returns the column of a directory name. Undefined if the name is not a number as layouts write it. */
export function columnOf(name: string): number | undefined {
  return /^(?:0|[1-9]\d{0,9})$/.test(name) ? Number(name) : undefined;
}

async function timesOf({ path }: LevelDirectory, columns: readonly string[]): Promise<DirectoryTimes> {
  const times = new Map<string, number | undefined>();
  for (const column of columns) times.set(column, await settledMs(join(path, column)));
  return times;
}

/** The tiles of a block by format, one bit per tile, because a level may have thousands of blocks in a column. */
type BlockTiles = ReadonlyMap<FormatName, Uint8Array>;

async function blocksOfColumns(
  { path, z, rows }: LevelDirectory,
  bx: number,
  columns: readonly string[],
  names: Names,
): Promise<ReadonlyMap<number, BlockTiles>> {
  const blocks = new Map<number, Map<FormatName, Uint8Array>>();
  for (const column of columns) {
    for await (const { name } of entriesOf(join(path, column))) {
      const tile = names.parse(column, name, rows);
      if (tile === undefined || names.file(tile.x, tile.y, z, tile.extension, rows) !== name) continue;
      const format = formatOfExtension(tile.extension);
      if (format?.extension !== tile.extension) continue;
      const by = blockOf(tile.y);
      const block = blocks.get(by) ?? new Map<FormatName, Uint8Array>();
      blocks.set(by, block);
      const bits = block.get(format.mimeType) ?? new Uint8Array((BLOCK_SIDE * BLOCK_SIDE) / 8);
      block.set(format.mimeType, bits);
      const n = (tile.y - by * BLOCK_SIDE) * BLOCK_SIDE + (tile.x - bx * BLOCK_SIDE);
      bits[n >> 3] = (bits[n >> 3] ?? 0) | (1 << (n & 7));
    }
  }
  return new Map([...blocks].sort(([a], [b]) => a - b));
}

function regionOfBlock(z: Zoom, bx: number, by: number, found: BlockTiles, key: string): Region {
  const [minX, minY] = [bx * BLOCK_SIDE, by * BLOCK_SIDE];
  const tiles = new Map([...found].map(([format, bits]) => [format, placesOf(bits, minX, minY)]));
  return { key, rect: asTileRect({ z, minX, minY, maxX: minX + BLOCK_SIDE - 1, maxY: minY + BLOCK_SIDE - 1 }), tiles };
}

function placesOf(bits: Uint8Array, minX: number, minY: number): { x: TileX; y: TileY }[] {
  const places: { x: TileX; y: TileY }[] = [];
  for (let n = 0; n < BLOCK_SIDE * BLOCK_SIDE; n++)
    if (((bits[n >> 3] ?? 0) & (1 << (n & 7))) !== 0)
      places.push({ x: asTileX(minX + (n % BLOCK_SIDE)), y: asTileY(minY + Math.floor(n / BLOCK_SIDE)) });
  return places;
}
