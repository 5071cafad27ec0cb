import { cellIndexOf, cellKey, cellRect } from "../../layer/cells.ts";
import type { TileAddress } from "../../layer/tile-set.ts";
import type { Machine } from "../../lib/machine.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { InventoryStore, LevelChanges } from "../inventory-store.ts";
import type { Store, StoreTrouble } from "../store.ts";
import { type DiskSpace, ifAvailable, type StoreError, type TileStatus } from "../tile-store.ts";
import type { OpenBucket } from "./bucket.ts";
import { nextDueMs } from "./internal/generations.ts";
import { Names } from "./internal/names.ts";
import type { OwnedBucket } from "./internal/owned-bucket.ts";
import { RemoteInventory } from "./internal/remote-inventory.ts";
import { RemoteTiles } from "./internal/remote-tiles.ts";
import { deleteRange, sweepRetired } from "./internal/remote-truncations.ts";
import { SyncBridge } from "./internal/sync-bridge.ts";
import { isSettingsFault, type RemoteAway, type RemoteError, remoteStoreError } from "./remote-error.ts";
import type { RemoteStoreParts } from "./remote-options.ts";

/**
 * The number of concurrent puts of a metatile. With 16, the store takes 50 % more tiles a second than with one put
 * after the other.
 */
const PUTS_AT_ONCE = 16;
/** A bucket has no limit. */
const ENDLESS: DiskSpace = {
  freeBytes: Number.MAX_SAFE_INTEGER,
  totalBytes: Number.MAX_SAFE_INTEGER,
  freeInodes: Number.POSITIVE_INFINITY,
  totalInodes: Number.POSITIVE_INFINITY,
};
/** For this time the times of a cell's tiles are taken from one listing. */
const TIMES_MS = 1_000;

export interface RemoteStore extends Store {
  /** Checks the service. Undefined if the bucket can be listed. */
  trouble(): Promise<StoreTrouble | undefined>;
  /** Returns why all operations fail at once. Undefined if, to this process's knowledge, the service is available. */
  away(): StoreTrouble | undefined;
  /** Sets the function that is called when this process finds the service unavailable, or available again. */
  onFound(found: (away: RemoteAway | undefined) => void): void;
  /** The number of times that this process could not obtain or renew the keys of the account. */
  failedRenewals(): number;
  /** Takes over from another process of this machine that the service is unavailable, or available again. */
  tell(away: RemoteAway | undefined): void;
}

/** The methods for which the coordinator waits. */
type Owned = { readonly [K in keyof OwnedBucket]: OwnedBucket[K] };

/**
 * Creates a store of tiles in a bucket, under GeoWebCache's keys. Tiles are read and written without the bridge. Calls
 * whose result the coordinator needs at once run in a thread (`SyncBridge`), which the first such call starts.
 * @param parts the options of the store, which the thread gets as a whole
 */
export function createRemoteStore(
  parts: RemoteStoreParts,
  open: OpenBucket,
  machine: Machine,
  thread = new URL("./bridge-thread.cjs", import.meta.url),
): RemoteStore {
  const { id } = parts;
  const { clock } = machine;
  const bucket = open("wait");
  const names = new Names(machine.disk, parts);
  const tiles = new RemoteTiles({ id, bucket, names });
  const inventory = new RemoteInventory(clock, bucket, names);
  // A check finds out whether the service is unavailable, and reports the result to all users of the service.
  const bridge = new SyncBridge<Owned>(clock, thread, parts, () => void bucket.ask().catch(() => undefined));
  const awayError = (cause: RemoteError): StoreError =>
    remoteStoreError(cause, id, "the bucket cannot be listed", "read");
  const tellBridge = (away: RemoteError | undefined): void =>
    bridge.tell(away && { cause: away, error: awayError(away) });
  bucket.onFound(tellBridge);
  const named = async <T>(what: string, access: "read" | "write", work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw remoteStoreError(error, id, what, access);
    }
  };
  return {
    async trouble() {
      try {
        await bucket.ask();
        bridge.recovered();
        return undefined;
      } catch (error) {
        const trouble = remoteStoreError(error, id, "the bucket cannot be listed", "read");
        bridge.rests(trouble);
        const isAway = bucket.away === undefined ? {} : ({ isAway: true } as const);
        return { message: trouble.message, isConfiguration: isSettingsFault(error), ...isAway };
      }
    },
    away() {
      const { away } = bucket;
      return away && { message: awayError(away).message, isConfiguration: false };
    },
    onFound(found) {
      bucket.onFound((away) => {
        tellBridge(away);
        found(away);
      });
    },
    tell(told) {
      bucket.tell(told);
      tellBridge(bucket.away);
    },
    failedRenewals: () => bucket.failedRenewals,
    get: (at) => tiles.get(at),
    stat: (at) => tiles.stat(at),
    keyOf: (at) => tiles.keyOf(at),
    put: (...call) => tiles.put(...call),
    confirm: (...call) => tiles.confirm(...call),
    putsAtOnce: () => PUTS_AT_ONCE,
    check: () => tiles.check(),
    allocated: (bytes) => bytes,
    disk: `remote ${id}`,
    diskSpace: async () => ENDLESS,
    describeParameters: (layer, parametersId, values) =>
      tiles.parameters.describeParameters(layer, parametersId, values),

    delete: (at) => bridge.call("delete", at),
    deleteAll: (at) => ifAvailable(() => bridge.call("deleteAll", at)) ?? at.map(() => false),
    parametersOf: (layer, parametersId) => bridge.call("parametersOf", layer, parametersId),
    plan: (scope) => bridge.call("plan", scope),
    truncate: (truncation, scopes, remains) => bridge.call("truncate", truncation, scopes, remains),
    restore: (truncation) => bridge.call("restore", truncation),
    discard: (truncation) => bridge.call("discard", truncation),
    asideIds: () => bridge.call("asideIds"),
    needsSweep: () => bridge.call("needsSweep"),
    deleteRange: (scope, rect, listener, signal) =>
      named("tiles cannot be deleted", "write", () => deleteRange({ bucket, names }, scope, rect, listener, signal)),
    // Renderers, which sweep other stores, do not change names.
    sweep: async () => undefined,
    sweepRemote: async (signal) => {
      const beganMs = bucket.now();
      const done = await named("tiles cannot be deleted", "write", () =>
        sweepRetired({ bucket, names }, beganMs, signal),
      );
      if (done.length > 0) bridge.call("noteSwept", done, beganMs);
      return nextDueMs(names.current, bucket.now());
    },

    ...inventoryOf(clock, bridge, inventory),
    async [Symbol.asyncDispose]() {
      await bridge.close();
      await bucket[Symbol.asyncDispose]();
    },
  };
}

function inventoryOf(clock: Clock, bridge: SyncBridge<Owned>, inventory: RemoteInventory): InventoryStore {
  return {
    timesOf: cellTimes(clock, bridge),
    pyramids: (layer) => bridge.call("pyramids", layer),
    layersThere(layers) {
      const there = new Set(bridge.call("firstSegments"));
      return layers.filter((layer) => there.has(layer.split("/", 1)[0] ?? ""));
    },
    levels: (pyramid) => bridge.call("levelsOf", pyramid.layer, [pyramid])[0] ?? [],
    levelsOf: (layer, pyramids) => bridge.call("levelsOf", layer, pyramids),
    recount: (tileSet, rect) => bridge.call("recount", tileSet, rect),
    // A put is atomic, so it leaves nothing.
    removeLeftovers: async () => undefined,
    regions: (pyramid, z, after) => inventory.regions(pyramid, z, after),
    noteAlive: async () => undefined,
    // A bucket does not record changes by other programs, so a restarted server looks for none.
    lastAliveMs: () => clock.now(),
    changes: (pyramid, z, sinceMs): LevelChanges => ({
      hasLost: sinceMs === 0,
      holds: async () => false,
      async *regions() {
        if (sinceMs === 0) yield* inventory.regions(pyramid, z, undefined);
      },
    }),
    removeEmptied: () => undefined,
    removeEmptyPyramids: (layer, pyramids) => bridge.call("removeEmptyPyramids", layer, pyramids),
  };
}

/** Returns a function that answers for all tiles of a cell from one listing. */
function cellTimes(clock: Clock, bridge: SyncBridge<Owned>): (at: TileAddress) => TileStatus | undefined {
  let cell: { readonly key: string; readonly untilMs: number; readonly tiles: Map<string, TileStatus> } | undefined;
  return (tile) => {
    const { tileSet, x, y } = tile;
    const index = cellIndexOf(tile);
    const key = cellKey(tileSet, index);
    if (cell?.key !== key || clock.monotonicNow() > cell.untilMs) {
      const found = bridge.call("recount", tileSet, cellRect(index));
      const tiles = new Map(
        found.map((tile) => [`${tile.x}/${tile.y}`, { ...tile, confirmedMs: tile.modifiedMs }] as const),
      );
      cell = { key, untilMs: clock.monotonicNow() + TIMES_MS, tiles };
    }
    return cell.tiles.get(`${x}/${y}`);
  };
}
