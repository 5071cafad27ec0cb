import { rectCount, rectHolds, type TileRect, type TileX, type TileY, type Zoom } from "../../grid/grid-set.ts";
import { type Span, spanFrom, type TileSelection } from "../../grid/tile-selection.ts";
import { valueAt } from "../../layer/by-zoom.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import { storesLevel } from "../../layer/stored-levels.ts";
import type { LayerName, TileAddress, TileSet } from "../../layer/tile-set.ts";
import { mayBeMarked } from "../../layer/update-source.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { ServiceParts } from "../../ledger/service-parts.ts";
import type { InventoryStore } from "../../store/inventory-store.ts";
import { STALE_BEFORE_MS } from "../../store/stale-time.ts";
import { StoreError } from "../../store/tile-store.ts";
import type { ActiveJob } from "../active/active-job.ts";

export interface WantedTilesParts extends Pick<ServiceParts, "clock"> {
  readonly ledger: Pick<Ledger, "presence" | "repair">;
  readonly store: Pick<InventoryStore, "timesOf">;
  /**
   * Returns the time of the last soft truncation of a layer, ms since 1970; 0 if there was none. Tiles written before
   * it count as expired.
   */
  readonly expiredBeforeMs: (layer: LayerName) => number;
  /**
   * Returns whether other programs write to a layer's tiles, or may have written to them. If so, the job reads the
   * store instead of the ledger.
   */
  readonly sharedStore: (layer: LayerName) => boolean;
}

/** The tile set and the rectangles of a job's metatile. */
export interface MetatilePosition {
  readonly tileSet: TileSet;
  /** The tiles to render: the part of the metatile inside the layer's coverage. */
  readonly rect: TileRect;
  /** The tiles to count: the part of the metatile inside the request's range. */
  readonly counted: TileRect;
}

/** Returns whether the job counts a tile of a metatile. */
export type IsCounted = (x: TileX, y: TileY) => boolean;

/** A stored tile is fresh if its `time` is not before `sinceMs`. */
interface Fresh {
  readonly time: "modifiedMs" | "confirmedMs";
  readonly sinceMs: number;
}

/** Finds the tiles of a metatile that a seed or reseed counts, and the tiles that it must render. */
export class WantedTiles {
  readonly #parts: WantedTilesParts;

  constructor(parts: WantedTilesParts) {
    this.#parts = parts;
  }

  /**
   * Returns which tiles a job counts. A job over existing tiles counts the stored tiles, except tiles that were written
   * or confirmed since the job began, by the job itself before a restart or by another writer. Yields regularly,
   * because a row of the selection may take long.
   */
  *counted(job: ActiveJob, { tileSet, rect, counted }: MetatilePosition): Generator<undefined, IsCounted> {
    const isSelected = yield* selectedIn(counted, job.selection);
    if (job.request.onlyExisting !== true) return isSelected;
    const isStored = this.#storedState(tileSet, rect, this.#sinceStart(job)).isOld;
    const mask = new Uint8Array(Number(rectCount(rect)));
    for (const { x, y, i } of tilesOf(rect)) if (isSelected(x, y) && isStored(x, y)) mask[i] = 1;
    return (x, y) => rectHolds(rect, x, y) && mask[indexIn(rect, x, y)] === 1;
  }

  /** Returns the tiles to store: null for all tiles, a mask for some, "none" if no counted tile needs a render. */
  wanted(
    job: ActiveJob,
    layer: Layer,
    { tileSet, rect, counted }: MetatilePosition,
    isCounted: IsCounted,
  ): Uint8Array | null | "none" {
    const subset = findSubset(layer, tileSet.gridSet);
    // A reload may have disabled the storing of the level since the job was planned.
    if (subset !== undefined && !storesLevel(layer, subset, rect.z)) return "none";
    const fresh = this.#freshness(job, layer, rect.z);
    if (fresh === undefined) return isAnyOf(counted, isCounted) ? null : "none";
    const { onlyExisting } = job.request;
    const { isStored, isOld } = this.#storedState(tileSet, rect, fresh);
    const wanted = new Uint8Array(Number(rectCount(rect)));
    let any = false;
    let all = true;
    for (const { x, y, i } of tilesOf(rect)) {
      const isWanted = isStored(x, y) ? isOld(x, y) : onlyExisting !== true;
      if (!isWanted) {
        all = false;
        continue;
      }
      wanted[i] = 1;
      if (isCounted(x, y)) any = true;
    }
    if (!any) return "none";
    return all ? null : wanted;
  }

  /** Returns whether a job renders only missing tiles at a level. */
  areMissing(job: ActiveJob, layer: Layer, z: Zoom): boolean {
    return job.request.type === "seed" && this.#freshness(job, layer, z)?.sinceMs === 0;
  }

  /** Returns which stored tiles need no render. Undefined if all tiles are rendered. */
  #freshness(job: ActiveJob, layer: Layer, z: Zoom): Fresh | undefined {
    const { type, olderThanMs, onlyExisting } = job.request;
    // A seed renders expired tiles again.
    if (type === "seed") {
      const { clock, expiredBeforeMs } = this.#parts;
      const ageMs = valueAt(layer.expireCacheSeconds, z) * 1000;
      return {
        time: "modifiedMs",
        sinceMs: Math.max(
          expiredBeforeMs(layer.name),
          ageMs > 0 ? clock.now() - ageMs : 0,
          mayBeMarked(layer) ? STALE_BEFORE_MS : 0,
        ),
      };
    }
    // A job with `olderThan` renews the time of unchanged tiles, so every tile that it has handled is younger than the
    // limit.
    if (olderThanMs !== undefined) return { time: "modifiedMs", sinceMs: olderThanMs };
    return onlyExisting === true || job.wasInterrupted ? this.#sinceStart(job) : undefined;
  }

  /** Returns a freshness that applies only to tiles that were written or confirmed since the job began. */
  #sinceStart({ startedMs, createdMs }: ActiveJob): Fresh {
    return { time: "confirmedMs", sinceMs: startedMs ?? createdMs };
  }

  /**
   * Returns whether a tile is stored, and whether it is stored but not fresh. A tile that is in the ledger but missing
   * in the store is not fresh.
   */
  #storedState(tileSet: TileSet, rect: TileRect, { time, sinceMs }: Fresh): Record<"isStored" | "isOld", IsCounted> {
    const { ledger, store, sharedStore } = this.#parts;
    // After the repair the ledger agrees with the store.
    if (sharedStore(tileSet.layer)) ledger.repair(tileSet, rect);
    const presence = ledger.presence(tileSet, rect);
    return {
      isStored: presence.has,
      isOld: (x, y) =>
        presence.has(x, y) &&
        presence.oldestMs < sinceMs &&
        (timesIn(store, { tileSet, x, y, z: rect.z })?.[time] ?? 0) < sinceMs,
    };
  }
}

/**
 * Returns the times of a tile. A tile that cannot be read counts as missing, so it is rendered. If the store cannot
 * write the tile either, the job waits for the store.
 */
function timesIn(store: Pick<InventoryStore, "timesOf">, at: TileAddress): ReturnType<InventoryStore["timesOf"]> {
  try {
    return store.timesOf(at);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
}

function isAnyOf(rect: TileRect, isCounted: IsCounted): boolean {
  for (const { x, y } of tilesOf(rect)) if (isCounted(x, y)) return true;
  return false;
}

function* selectedIn(counted: TileRect, selection: TileSelection | undefined): Generator<undefined, IsCounted> {
  if (selection === undefined) return (x, y) => rectHolds(counted, x, y);
  const rows: (readonly Span[])[] = [];
  for (let y = counted.minY; y <= counted.maxY; y++) rows.push(yield* selection.spansInSteps(counted.z, y));
  return (x, y) => {
    const row = rows[y - counted.minY] ?? [];
    const span = row[spanFrom(row, x)];
    return rectHolds(counted, x, y) && span !== undefined && span.first <= x;
  };
}

const indexIn = (rect: TileRect, x: TileX, y: TileY): number =>
  (y - rect.minY) * (rect.maxX - rect.minX + 1) + (x - rect.minX);

/** Yields the tiles row by row from the lower left, with their index in a mask. */
function* tilesOf(rect: TileRect): Generator<{ readonly x: TileX; readonly y: TileY; readonly i: number }> {
  let i = 0;
  for (let y = rect.minY; y <= rect.maxY; y++) for (let x = rect.minX; x <= rect.maxX; x++) yield { x, y, i: i++ };
}
