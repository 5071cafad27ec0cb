import { createHash } from "node:crypto";
import { valueAt } from "../layer/by-zoom.ts";
import type { ImageFormat } from "../layer/format.ts";
import type { Layer } from "../layer/layer.ts";
import type { TileAddress } from "../layer/tile-set.ts";
import { StoreError, type TileStore } from "../store/tile-store.ts";
import type { RenderOrder, WrittenTile } from "./render-order.ts";

export interface KeepParts {
  readonly layer: Layer;
  readonly store: TileStore;
  /** Whether the generation under which the tiles were rendered is still the layer's. */
  readonly isCurrent: () => boolean;
}

export interface RenderedTile {
  readonly x: number;
  readonly y: number;
  readonly bytes: Uint8Array;
}

export interface PositionedTile extends RenderedTile {
  readonly keep: boolean;
}

/** A fault of the store, in the form that processes send to one another. */
export interface StoreFailure {
  readonly code: StoreError["code"];
  readonly message: string;
}

export interface StoredTiles {
  readonly written: readonly WrittenTile[];
  /** The written tiles of each format of the order's `beside`. Absent: there are none. */
  readonly writtenBeside?: readonly (readonly WrittenTile[])[];
  /** Not all tiles were stored: a newer generation has begun, or the tiles may not be stored. */
  readonly stale: boolean;
  /** The metatile was rendered, but the store had no space for it. */
  readonly refused?: true;
  /** The fault because of which the store did not keep all rendered tiles. */
  readonly storeFailure: StoreFailure | undefined;
}

/** Returns the result of a render of which nothing was stored. */
export function notStored(why: "stale" | "no space"): StoredTiles {
  const left = { written: [], stale: true, storeFailure: undefined };
  return why === "no space" ? { ...left, refused: true } : left;
}

/**
 * Stores tiles of one metatile, in the given order. The puts of a file store do not yield to the event loop: no message
 * is handled between the first put and the last, so a truncation finds all of the tiles or none.
 */
export async function keepTiles(
  order: RenderOrder,
  tiles: readonly PositionedTile[],
  { layer, store, isCurrent }: KeepParts,
): Promise<StoredTiles> {
  const { tileSet, rect, expiredBeforeMs = 0 } = order;
  // Where tiles expire, the age of a tile counts from its last render, so a tile that is rendered unchanged gets a new
  // time.
  const same = (at: TileAddress): "keep" | "renew" =>
    valueAt(layer.expireCacheSeconds, rect.z) > 0 ||
    order.renewed === true ||
    (expiredBeforeMs > 0 && (store.stat(at)?.modifiedMs ?? 0) < expiredBeforeMs)
      ? "renew"
      : "keep";
  const written: WrittenTile[] = [];
  let stale = false;
  let storeFailure: StoreFailure | undefined;
  try {
    for (const { x, y, bytes, keep } of tiles) {
      if (!keep) continue;
      const at = { tileSet, x, y, z: rect.z };
      const time = order.isNew === true ? "keep" : same(at);
      const isSame = order.isNew !== true && store.confirm(at, bytes, time, isCurrent);
      const put = isSame
        ? ({ stored: true, replaced: bytes.byteLength } as const)
        : await store.put(at, bytes, isCurrent);
      if (!put.stored) {
        stale = true;
        break;
      }
      const tile = { x, y, z: rect.z, bytes: bytes.byteLength, replaced: put.replaced };
      if (!isSame && order.watched !== true) written.push(tile);
      else {
        const unchanged = isSame ? ({ unchanged: time === "renew" ? "renewed" : "left" } as const) : {};
        const digest = order.watched === true ? { digest: createHash("sha1").update(bytes).digest("base64") } : {};
        written.push({ ...tile, ...unchanged, ...digest });
      }
    }
    if (written.length > 0 && tileSet.parametersId !== "") {
      await store.describeParameters(tileSet.layer, tileSet.parametersId, order.parameters);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    storeFailure = { code: error.code, message: error.message };
  }
  return { written, stale, storeFailure };
}

/** Stores the same tiles in the other formats. Stops at the first format that the store does not take completely. */
export async function keepBeside(
  stored: StoredTiles,
  order: RenderOrder,
  beside: readonly ImageFormat[],
  tiles: readonly (readonly PositionedTile[])[],
  parts: KeepParts,
): Promise<StoredTiles> {
  const { isNew: _, watched: __, ...plain } = order;
  const writtenBeside: (readonly WrittenTile[])[] = [];
  let { stale, storeFailure } = stored;
  for (const [i, { mimeType }] of beside.entries()) {
    if (stale || storeFailure !== undefined) break;
    const other = { ...plain, tileSet: { ...order.tileSet, format: mimeType } };
    const next = await keepTiles(other, tiles[i] ?? [], parts);
    writtenBeside.push(next.written);
    ({ stale, storeFailure } = next);
  }
  return { ...stored, writtenBeside, stale, storeFailure };
}
