import type { TileAddress } from "../../layer/tile-set.ts";
import { type MaybePromise, StoreError, type TileStore } from "../../store/tile-store.ts";
import type { StoredSize } from "../admission.ts";
import type { RenderOrder } from "../render-order.ts";
import type { PositionedTile } from "./store-tiles.ts";

/** "stale": the layer was truncated since the render began. "no space": the quota or the disk has no space for the tiles. */
export type StoreDecision = "store" | "stale" | "no space";

export interface TileReservationParts {
  readonly store: TileStore;
  /**
   * Returns whether encoded tiles may be stored.
   * @param most the size of all tiles
   * @param growth returns the growth of the store
   */
  readonly mayStore: (most: StoredSize, growth: () => Promise<StoredSize>) => MaybePromise<StoreDecision>;
}

/**
 * Returns whether encoded tiles may be stored.
 * @param encoded the tiles of each format that the order fills, beginning with the format of its `tileSet`
 * @throws the signal's reason
 */
export function mayStoreAll(
  { tileSet, beside = [], rect, isNew }: RenderOrder,
  encoded: readonly (readonly PositionedTile[])[],
  { store, mayStore }: TileReservationParts,
  signal: AbortSignal,
): MaybePromise<StoreDecision> {
  signal.throwIfAborted();
  const allocated = (bytes: number): number => store.allocated(bytes, tileSet.layer);
  const most = { bytes: 0, allocated: 0, files: 0 };
  for (const tiles of encoded) {
    for (const { bytes, keep } of tiles) {
      if (!keep) continue;
      most.bytes += bytes.byteLength;
      most.allocated += allocated(bytes.byteLength);
      most.files++;
    }
  }
  const growth = async (): Promise<StoredSize> => {
    if (isNew === true && beside.length === 0) return most;
    const grown = { bytes: 0, allocated: 0, files: 0 };
    for (const [i, tiles] of encoded.entries()) {
      const at = i === 0 ? tileSet : { ...tileSet, format: beside[i - 1] ?? tileSet.format };
      for (const { x, y, bytes, keep } of tiles) {
        if (!keep) continue;
        const before = await sizeIn(store, { tileSet: at, x, y, z: rect.z });
        // A smaller tile frees no space for other tiles, because a larger tile of the metatile may be written before
        // it.
        grown.bytes += Math.max(0, bytes.byteLength - (before ?? 0));
        grown.allocated += Math.max(0, allocated(bytes.byteLength) - allocated(before ?? 0));
        if (before === undefined) grown.files++;
      }
    }
    return grown;
  };
  const answer = mayStore(most, growth);
  return answer instanceof Promise ? untilAborted(answer, signal) : answer;
}

/** Returns the size of a stored tile. A tile whose size cannot be read counts as absent. */
async function sizeIn(store: TileStore, at: TileAddress): Promise<number | undefined> {
  try {
    return (await store.stat(at))?.bytes;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
}

/**
 * Waits for the answer, or until the signal fires.
 * @throws the signal's reason, even if the answer never arrives
 */
async function untilAborted<T>(answered: Promise<T>, signal: AbortSignal): Promise<T> {
  let end = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason);
    signal.addEventListener("abort", end, { once: true });
  });
  try {
    const answer = await Promise.race([answered, aborted]);
    signal.throwIfAborted();
    return answer;
  } finally {
    signal.removeEventListener("abort", end);
  }
}
