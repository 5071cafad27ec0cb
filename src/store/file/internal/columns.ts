import { join } from "node:path";
import { asTileX, asTileY, type TileRect, type TileX, type TileY } from "../../../grid/grid-set.ts";
import { formatInPath } from "../../../layer/format.ts";
import { BLOCK_SIDE, type FormatName } from "../../../layer/tile-set.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import type { Machine } from "../../../lib/machine.ts";
import { changedMs, entriesOf, settledMs, statOf } from "../../internal/directories.ts";
import { isBefore, regionKey, squareOf } from "../../internal/regions.ts";
import type { LevelChanges, Region } from "../../inventory-store.ts";
import type { LevelDirectory, TileLayout } from "./tile-layout.ts";

/*
 * For layouts in which a directory contains one column of tiles, from the bottom of the level to its top. The regions
 * are the blocks of the ledger. The blocks of 128 columns are found by one reading of these columns' directories.
 */

type Names = Pick<TileLayout, "parse" | "bucket" | "file">;
/** The columns with a directory, by column of blocks. */
type ColumnBlocks = ReadonlyMap<number, readonly string[]>;

const blockOf = (n: number): number => Math.floor(n / BLOCK_SIDE);

/** Yields the blocks with tiles, from left to right, and within a column of blocks from bottom to top. */
export async function* regionsOfColumns(
  machine: Pick<Machine, "clock" | "disk">,
  level: LevelDirectory,
  after: string | undefined,
  names: Names,
): AsyncGenerator<Region> {
  const { disk } = machine;
  for (const [bx, columns] of await columnBlocks(disk, level)) {
    if (isBefore(bx, after)) continue;
    const directories = new Map<string, number | undefined>();
    for (const column of columns) directories.set(column, await settledMs(machine, join(level.path, column)));
    for (const [by, found] of await blocksOfColumns(disk, level, bx, columns, names)) {
      const region = regionOfBlock(level, bx, by, found);
      if (after === undefined || region.key > after) yield { ...region, directories };
    }
  }
}

/** Returns the changes to a level at or after a time, by the change times of its columns' directories. */
export function changesOfColumns(disk: Disk, level: LevelDirectory, sinceMs: number, names: Names): LevelChanges {
  /** The blocks with tiles in the columns that have changed. */
  const changed = new Map<number, ReadonlySet<number>>();
  const isLost = (statOf(disk, level.path, "the store cannot be read")?.ctimeMs ?? sinceMs) >= sinceMs;
  let present: ReadonlySet<string> | undefined;
  return {
    get hasLost() {
      return isLost || changed.size > 0;
    },
    async holds(cell: TileRect) {
      // A block of a changed column that was not listed has lost all its tiles.
      if (changed.get(blockOf(cell.minX))?.has(blockOf(cell.minY)) === false) return false;
      if (!isLost) return true;
      present ??= new Set([...(await columnBlocks(disk, level)).values()].flat());
      for (let x = cell.minX; x <= cell.maxX; x++) if (!present.has(String(x))) return false;
      return true;
    },
    async *regions() {
      for (const [bx, columns] of await columnBlocks(disk, level)) {
        const times = await Promise.all(columns.map((column) => changedMs(disk, join(level.path, column))));
        if (!times.some((ms) => ms >= sinceMs)) continue;
        const blocks = await blocksOfColumns(disk, level, bx, columns, names);
        changed.set(bx, new Set(blocks.keys()));
        for (const [by, found] of blocks) yield regionOfBlock(level, bx, by, found);
      }
    },
  };
}

async function columnBlocks(disk: Disk, { path }: LevelDirectory): Promise<ColumnBlocks> {
  const blocks = new Map<number, string[]>();
  for await (const { name } of entriesOf(disk, path)) {
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

/** The tiles of a block by format, one bit per tile, because a level may have thousands of blocks in a column. */
type BlockTiles = ReadonlyMap<FormatName, Uint8Array>;

async function blocksOfColumns(
  disk: Disk,
  { path, z, rows }: LevelDirectory,
  bx: number,
  columns: readonly string[],
  names: Names,
): Promise<ReadonlyMap<number, BlockTiles>> {
  const blocks = new Map<number, Map<FormatName, Uint8Array>>();
  for (const column of columns) {
    for await (const { name } of entriesOf(disk, join(path, column))) {
      const tile = names.parse(column, name, rows);
      if (tile === undefined || names.file(tile.x, tile.y, z, tile.extension, rows) !== name) continue;
      const format = formatInPath(tile.extension);
      if (format === undefined) continue;
      const by = blockOf(tile.y);
      const block = blocks.get(by) ?? new Map<FormatName, Uint8Array>();
      blocks.set(by, block);
      const bits = block.get(format) ?? new Uint8Array((BLOCK_SIDE * BLOCK_SIDE) / 8);
      block.set(format, bits);
      const n = (tile.y - by * BLOCK_SIDE) * BLOCK_SIDE + (tile.x - bx * BLOCK_SIDE);
      bits[n >> 3] = (bits[n >> 3] ?? 0) | (1 << (n & 7));
    }
  }
  return new Map([...blocks].sort(([a], [b]) => a - b));
}

function regionOfBlock({ z }: LevelDirectory, bx: number, by: number, found: BlockTiles): Region {
  const rect = squareOf(z, bx, by);
  const tiles = new Map([...found].map(([format, bits]) => [format, placesOf(bits, rect)]));
  return { key: regionKey(bx, by), rect, tiles };
}

function placesOf(bits: Uint8Array, { minX, minY }: TileRect): { x: TileX; y: TileY }[] {
  const places: { x: TileX; y: TileY }[] = [];
  for (let n = 0; n < BLOCK_SIDE * BLOCK_SIDE; n++)
    if (((bits[n >> 3] ?? 0) & (1 << (n & 7))) !== 0)
      places.push({ x: asTileX(minX + (n % BLOCK_SIDE)), y: asTileY(minY + Math.floor(n / BLOCK_SIDE)) });
  return places;
}
