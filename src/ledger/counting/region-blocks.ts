import type { TileRect, TileX, TileY } from "../../grid/grid-set.ts";
import type { FormatName } from "../../layer/tile-set.ts";
import type { Region } from "../../store/inventory-store.ts";
import { blockOf, blockRect } from "../blocks/block.ts";

/** The number of tiles that are grouped between two yields. */
const TILES_PER_STEP = 4_096;

/** Tiles in a listing of the store, by format. */
export type Listed = Region["tiles"];
/** A block of the ledger, and its tiles in the store's listing. */
export type ListedBlock = readonly [rect: TileRect, listed: Listed];

/**
 * Splits the listing of a region into blocks of the ledger. Yields after some thousands of tiles, because a region may
 * have a quarter of a million.
 */
export function* blocksIn(region: Region): Generator<undefined, readonly ListedBlock[]> {
  const blocks = new Map<string, [TileRect, Map<FormatName, { x: TileX; y: TileY }[]>]>();
  let left = TILES_PER_STEP;
  for (const [format, tiles] of region.tiles) {
    for (const tile of tiles) {
      const [bx, by] = [blockOf(tile.x), blockOf(tile.y)];
      const key = `${bx}/${by}`;
      let block = blocks.get(key);
      if (block === undefined) {
        block = [blockRect({ z: region.rect.z, bx, by }), new Map()];
        blocks.set(key, block);
      }
      const listed = block[1].get(format);
      if (listed === undefined) block[1].set(format, [tile]);
      else listed.push(tile);
      if (--left > 0) continue;
      left = TILES_PER_STEP;
      yield;
    }
  }
  return [...blocks.values()];
}

/** Yields all blocks of a region, including blocks without listed tiles, because their tiles may have been removed. */
export function* blocksOf(region: Region, blocks: readonly ListedBlock[]): Generator<ListedBlock> {
  const listed = new Map(blocks.map(([rect, tiles]) => [`${rect.minX}/${rect.minY}`, tiles]));
  const { z, minX, minY, maxX, maxY } = region.rect;
  for (let by = blockOf(minY); by <= blockOf(maxY); by++) {
    for (let bx = blockOf(minX); bx <= blockOf(maxX); bx++) {
      const rect = blockRect({ z, bx, by });
      yield [rect, listed.get(`${rect.minX}/${rect.minY}`) ?? new Map()];
    }
  }
}
