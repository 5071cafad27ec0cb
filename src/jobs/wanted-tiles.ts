import { rectCount, rectHolds, type TileRect } from "../grid/grid-set.ts";
import type { TileSelection } from "../grid/tile-selection.ts";
import { isSelected } from "../grid/tile-selection.ts";
import { valueAt } from "../layer/by-zoom.ts";
import type { Layer } from "../layer/layer.ts";
import type { TileAddress, TileSet } from "../layer/tile-set.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { StoreError, type TileStore } from "../store/tile-store.ts";
import type { ActiveJob } from "./active-job.ts";

export interface WantedTilesParts {
  readonly ledger: Pick<Ledger, "presence" | "repair">;
  readonly store: Pick<TileStore, "stat">;
  /** Tiles of a layer written before this have been truncated softly, ms since 1970; 0: none. */
  readonly expiredBeforeMs: (layer: string) => number;
  /** When a layer's tiles were last moved inside the store, ms since 1970; 0: never. */
  readonly movedMs: (layer: string) => number;
  /** Whether other programs write to a layer's tiles, or may have done so: then the store is asked, not the ledger. */
  readonly sharedStore: (layer: string) => boolean;
  readonly now: () => number;
}

/** Where a metatile of a job lies. */
export interface MetatilePlace {
  readonly tileSet: TileSet;
  /** To render: inside the coverage. */
  readonly rect: TileRect;
  /** To count: inside the request's range too. */
  readonly counted: TileRect;
}

/** Tells of a tile of a metatile that is counted whether the job counts it. */
export type IsCounted = (x: number, y: number) => boolean;

/** A tile that is kept needs no rendering when this time of it is not before a moment. */
interface Fresh {
  readonly time: "modifiedMs" | "confirmedMs";
  readonly sinceMs: number;
}

/** Which tiles of a metatile a seed or reseed counts, and which of them it has to render. */
export class WantedTiles {
  readonly #parts: WantedTilesParts;

  constructor(parts: WantedTilesParts) {
    this.#parts = parts;
  }

  /**
   * The tiles that a job counts. A job over what exists looks before it renders: what was kept when it began, and has not
   * been put or confirmed since, by itself before a restart or by others.
   */
  counted(job: ActiveJob, { tileSet, rect, counted }: MetatilePlace): IsCounted {
    const { selection } = job;
    const isSelected = selectedIn(counted, selection);
    if (job.request.onlyExisting !== true) return isSelected;
    const isStored = this.#kept(tileSet, rect, this.#sinceStart(job)).isOld;
    const mask = new Uint8Array(Number(rectCount(rect)));
    for (const { x, y, i } of tilesOf(rect)) if (isSelected(x, y) && isStored(x, y)) mask[i] = 1;
    return (x, y) => rectHolds(rect, x, y) && mask[indexIn(rect, x, y)] === 1;
  }

  /** Which tiles to keep: null all, a mask some, "none" when no counted one needs it. */
  wanted(
    job: ActiveJob,
    layer: Layer,
    { tileSet, rect, counted }: MetatilePlace,
    isCounted: IsCounted,
  ): Uint8Array | null | "none" {
    const fresh = this.#freshness(job, layer, rect.z);
    if (fresh === undefined) return isAnyOf(counted, isCounted) ? null : "none";
    const { onlyExisting } = job.request;
    const { isStored, isOld } = this.#kept(tileSet, rect, fresh);
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

  /** Whether a job renders only what is not kept at a level. */
  areMissing(job: ActiveJob, layer: Layer, z: number): boolean {
    return job.request.type === "seed" && this.#freshness(job, layer, z)?.sinceMs === 0;
  }

  /** Undefined: all tiles are rendered. */
  #freshness(job: ActiveJob, layer: Layer, z: number): Fresh | undefined {
    const { type, olderThanMs, onlyExisting } = job.request;
    // A seed renews what has expired.
    if (type === "seed") {
      const { now, expiredBeforeMs } = this.#parts;
      const ageMs = valueAt(layer.expireCacheSeconds, z) * 1000;
      return { time: "modifiedMs", sinceMs: Math.max(expiredBeforeMs(layer.name), ageMs > 0 ? now() - ageMs : 0) };
    }
    // What such a job finds unchanged is renewed: all that it has looked at is younger.
    if (olderThanMs !== undefined) return { time: "modifiedMs", sinceMs: olderThanMs };
    return onlyExisting === true || job.resumed ? this.#sinceStart(job) : undefined;
  }

  /** What a reseed has written or confirmed is younger than itself, and nothing that shows the map of before is. */
  #sinceStart({ request, startedMs, createdMs }: ActiveJob): Fresh {
    const sinceMs = startedMs ?? createdMs;
    // A file that has been moved looks confirmed: then only what was written counts.
    const wasMoved = this.#parts.movedMs(request.layer) >= sinceMs;
    return { time: wasMoved ? "modifiedMs" : "confirmedMs", sinceMs };
  }

  /** Tells whether a tile is kept, and whether it is so and not fresh; one that has vanished from the store unnoticed is as old as can be. */
  #kept(tileSet: TileSet, rect: TileRect, { time, sinceMs }: Fresh): Record<"isStored" | "isOld", IsCounted> {
    const { ledger, store, sharedStore } = this.#parts;
    // Counted anew, the ledger is what the store holds at this moment.
    if (sharedStore(tileSet.layer)) ledger.repair(tileSet, rect);
    const presence = ledger.presence(tileSet, rect);
    return {
      isStored: presence.has,
      isOld: (x, y) =>
        presence.has(x, y) &&
        presence.oldestMs < sinceMs &&
        (statOf(store, { tileSet, x, y, z: rect.z })?.[time] ?? 0) < sinceMs,
    };
  }
}

/** A tile that cannot be read is rendered: the job waits where it cannot be stored either. */
function statOf(store: Pick<TileStore, "stat">, at: TileAddress): ReturnType<TileStore["stat"]> {
  try {
    return store.stat(at);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
}

function isAnyOf(rect: TileRect, isCounted: IsCounted): boolean {
  for (const { x, y } of tilesOf(rect)) if (isCounted(x, y)) return true;
  return false;
}

const selectedIn =
  (counted: TileRect, selection: TileSelection | undefined): IsCounted =>
  (x, y) =>
    rectHolds(counted, x, y) && (selection === undefined || isSelected(selection, counted.z, x, y));

const indexIn = (rect: TileRect, x: number, y: number): number =>
  (y - rect.minY) * (rect.maxX - rect.minX + 1) + (x - rect.minX);

/** Row by row from the lower left, with the number in a mask. */
function* tilesOf(rect: TileRect): Generator<{ readonly x: number; readonly y: number; readonly i: number }> {
  let i = 0;
  for (let y = rect.minY; y <= rect.maxY; y++) for (let x = rect.minX; x <= rect.maxX; x++) yield { x, y, i: i++ };
}
