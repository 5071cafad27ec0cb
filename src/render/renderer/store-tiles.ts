import { createHash } from "node:crypto";
import type { TileX, TileY } from "../../grid/grid-set.ts";
import { valueAt } from "../../layer/by-zoom.ts";
import type { ImageFormat } from "../../layer/format.ts";
import type { Layer } from "../../layer/layer.ts";
import { defined } from "../../lib/defined.ts";
import { writtenTime } from "../../store/stale-time.ts";
import { type ConfirmTerms, StoreError, type TileStore } from "../../store/tile-store.ts";
import type { RenderOrder, WrittenTile } from "../render-order.ts";

export interface KeepParts {
  readonly layer: Layer;
  readonly store: TileStore;
  /** Returns whether the tiles' generation is still the layer's current generation. */
  readonly isCurrent: () => boolean;
}

export interface RenderedTile {
  readonly x: TileX;
  readonly y: TileY;
  readonly bytes: Uint8Array;
}

export interface PositionedTile extends RenderedTile {
  readonly keep: boolean;
}

/** A fault of the store, in the form that processes send to each other. */
export interface StoreFailure {
  readonly code: StoreError["code"];
  readonly message: string;
}

export interface StoredTiles {
  readonly written: readonly WrittenTile[];
  /** The written tiles of each format of the order's `beside`. Absent if the order has no such formats. */
  readonly writtenBeside?: readonly (readonly WrittenTile[])[];
  /**
   * Whether some tiles were not stored, because a newer generation has begun, the tiles may not be stored, or the
   * render was aborted.
   */
  readonly stale: boolean;
  /** Set if a remote store may have stored a tile of which it has not answered the put. */
  readonly isUncertain?: true;
  /** Set if the metatile was rendered, but the store had no space for it. */
  readonly refused?: true;
  /** The fault because of which the store did not take all rendered tiles. Undefined if it took all. */
  readonly storeFailure: StoreFailure | undefined;
}

/** Returns the result of a render of which nothing was stored. */
export function notStored(why: "stale" | "no space"): StoredTiles {
  const left = { written: [], stale: true, storeFailure: undefined };
  return why === "no space" ? { ...left, refused: true } : left;
}

/**
 * Stores tiles of one metatile, in the given order. The puts of a file store do not yield to the event loop. No message
 * is handled between the first put and the last, so a truncation finds all tiles or no tile. A remote store takes
 * several tiles concurrently, and messages are handled in between: a truncation waits until the renderer has stored and
 * reported (`Renderer.raiseGeneration`), and each put checks the generation again. After the signal no put begins; the
 * tiles stored before are returned.
 */
export async function keepTiles(
  order: RenderOrder,
  tiles: readonly PositionedTile[],
  parts: KeepParts,
  signal: AbortSignal,
): Promise<StoredTiles> {
  const { tileSet } = order;
  const kept = tiles.filter(({ keep }) => keep);
  const stored: (WrittenTile | undefined)[] = [];
  let stale = false;
  let fault: { readonly error: unknown } | undefined;
  let next = 0;
  const keepSome = async (): Promise<void> => {
    for (let i = next++; !stale && fault === undefined; i = next++) {
      const tile = kept[i];
      if (tile === undefined) return;
      try {
        stored[i] = await keepTile(order, tile, parts, signal);
        if (stored[i] === undefined) stale = true;
      } catch (error) {
        if (signal.aborted && error === signal.reason) stale = true;
        else fault ??= { error };
      }
    }
  };
  const atOnce = parts.store.putsAtOnce(tileSet.layer);
  // All puts end before the result is known, so that nothing is stored afterwards.
  if (atOnce === 1) await keepSome();
  else await Promise.all(Array.from({ length: atOnce }, keepSome));
  const written = stored.filter((tile) => tile !== undefined);
  try {
    if (fault !== undefined) throw fault.error;
    if (written.length > 0 && tileSet.parametersId !== "") {
      await parts.store.describeParameters(tileSet.layer, tileSet.parametersId, order.parameters);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const isUncertain = atOnce > 1 && error.code === "unavailable" ? ({ isUncertain: true } as const) : {};
    // A put without an answer says nothing about the store if the render was aborted during the put.
    if (signal.aborted) return { written, stale: true, storeFailure: undefined, ...isUncertain };
    return { written, stale, storeFailure: { code: error.code, message: error.message }, ...isUncertain };
  }
  return { written, stale, storeFailure: undefined };
}

/** Stores one tile, or confirms the stored tile. Undefined if the tile may not be stored any more. */
async function keepTile(
  order: RenderOrder,
  { x, y, bytes }: RenderedTile,
  { layer, store, isCurrent }: KeepParts,
  signal: AbortSignal,
): Promise<WrittenTile | undefined> {
  signal.throwIfAborted();
  const { tileSet, rect, expiredBeforeMs = 0 } = order;
  const at = { tileSet, x, y, z: rect.z };
  // If tiles expire, the age of a tile counts from its last render, so a tile that is rendered unchanged gets a new
  // time.
  const isRenewed = async (): Promise<boolean> =>
    valueAt(layer.expireCacheSeconds, rect.z) > 0 ||
    order.renewed === true ||
    (expiredBeforeMs > 0 && ((await store.stat(at))?.modifiedMs ?? 0) < expiredBeforeMs);
  const guard = isCurrent;
  const confirm = (time: ConfirmTerms["time"]) => store.confirm(at, bytes, { time, guard }, signal);
  const asked = order.isNew !== true && (await isRenewed()) ? "renew" : "keep";
  const isConfirmed = order.isNew !== true && (await confirm(asked));
  // Only the tiles that are rendered unchanged cost this look: a put removes the mark.
  const isMarked = isConfirmed && asked === "keep" && writtenTime((await store.stat(at))?.modifiedMs ?? 0).isStale;
  const time = isMarked ? "renew" : asked;
  const isSame = isConfirmed && (!isMarked || (await confirm("renew")));
  const put = isSame
    ? ({ stored: true, replaced: bytes.byteLength } as const)
    : await store.put(at, bytes, { guard }, signal);
  if (!put.stored) return undefined;
  const tile = { x, y, z: rect.z, bytes: bytes.byteLength, replaced: put.replaced };
  if (!isSame && order.watched !== true) return tile;
  const unchanged = isSame ? ({ unchanged: time === "renew" ? "renewed" : "left" } as const) : {};
  const digest = order.watched === true ? { digest: createHash("sha1").update(bytes).digest("base64") } : {};
  return { ...tile, ...unchanged, ...digest };
}

/** Stores the same tiles in the other formats. Stops at the first format of which the store does not take all tiles. */
export async function keepBeside(
  stored: StoredTiles,
  order: RenderOrder,
  beside: readonly ImageFormat[],
  tiles: readonly (readonly PositionedTile[])[],
  parts: KeepParts,
  signal: AbortSignal,
): Promise<StoredTiles> {
  const { isNew: _, watched: __, ...plain } = order;
  const writtenBeside: (readonly WrittenTile[])[] = [];
  let { stale, storeFailure, isUncertain } = stored;
  for (const [i, { mimeType }] of beside.entries()) {
    if (stale || storeFailure !== undefined) break;
    const other = { ...plain, tileSet: { ...order.tileSet, format: mimeType } };
    const next = await keepTiles(other, tiles[i] ?? [], parts, signal);
    writtenBeside.push(next.written);
    ({ stale, storeFailure, isUncertain } = next);
  }
  return { ...stored, writtenBeside, stale, storeFailure, ...defined({ isUncertain }) };
}
