import { CELL_SIDE, type TileAddress, tileSetKey } from "../../layer/tile-set.ts";
import type { InventoryStore, LevelChanges } from "../inventory-store.ts";
import type { Store } from "../store.ts";
import { type DiskSpace, ifAvailable, type StoreError, type TileStatus } from "../tile-store.ts";
import { nextDueMs } from "./internal/generations.ts";
import { Names } from "./internal/names.ts";
import type { OwnedBucket } from "./internal/owned-bucket.ts";
import { S3Inventory } from "./internal/s3-inventory.ts";
import { S3Tiles } from "./internal/s3-tiles.ts";
import { deleteRange, sweepRetired } from "./internal/s3-truncations.ts";
import { SyncBridge } from "./internal/sync-bridge.ts";
import { S3Client } from "./s3-client.ts";
import { isSettingsFault, type S3Away, S3Error, s3StoreError } from "./s3-error.ts";
import type { S3StoreOptions } from "./s3-options.ts";

/** A metatile's puts at once. 16 in flight store half as many tiles again a second as one after another. */
const PUTS_AT_ONCE = 16;
/** A bucket has no end. */
const ENDLESS: DiskSpace = {
  freeBytes: Number.MAX_SAFE_INTEGER,
  totalBytes: Number.MAX_SAFE_INTEGER,
  freeInodes: Number.POSITIVE_INFINITY,
  totalInodes: Number.POSITIVE_INFINITY,
};
/** The times of a cell's tiles are listed once for all its tiles. */
const TIMES_MS = 1_000;

/** Why the bucket cannot be used. */
interface BucketTrouble {
  readonly message: string;
  /** True: it will not pass by itself, as with wrong keys or a bucket that does not exist. */
  readonly isConfiguration: boolean;
  /** Present: `away` tells it, for as long as it is true. */
  readonly isAway?: true;
}

export interface S3Store extends Store {
  /** Asks the service. Undefined: the bucket can be listed. */
  trouble(): Promise<BucketTrouble | undefined>;
  /** Returns why all operations fail at once, as the service is away; undefined: it is there, as far as is known. */
  away(): BucketTrouble | undefined;
  /** Calls back when this process has found out that the service is away, or that it is back. */
  onFound(found: (away: S3Away | undefined) => void): void;
  /** Takes over what another process of this machine has found out: the service is away, or back. */
  tell(away: S3Away | undefined): void;
}

/** The methods of the coordinator, which waits for them. */
type Owned = { readonly [K in keyof OwnedBucket]: OwnedBucket[K] };

/**
 * Creates a store of tiles in a bucket of S3, under GeoWebCache's keys. Tiles are read and written without the bridge;
 * Calls whose result the coordinator needs at once run in a thread (`SyncBridge`), which the first such call starts.
 */
export function createS3Store(
  options: S3StoreOptions,
  thread = new URL("./bridge-thread.cjs", import.meta.url),
): S3Store {
  const { id, namesFile } = options;
  const client = new S3Client(options);
  const names = new Names(id, namesFile);
  const tiles = new S3Tiles({ id, client, names, hasOwnEtags: options.serverSideEncryption !== undefined });
  const inventory = new S3Inventory(client, names);
  // A question finds out whether the service is away. What it finds out is told to all who use the service.
  const bridge = new SyncBridge<Owned>(thread, options, () => void client.ask().catch(() => undefined));
  const awayError = (cause: S3Error): StoreError => s3StoreError(cause, id, "the bucket cannot be listed", "read");
  const tellBridge = (away: S3Error | undefined): void => bridge.tell(away && { cause: away, error: awayError(away) });
  client.onFound(tellBridge);
  const named = async <T>(what: string, access: "read" | "write", work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw s3StoreError(error, id, what, access);
    }
  };
  return {
    async trouble() {
      try {
        await client.ask();
        bridge.recovered();
        return undefined;
      } catch (error) {
        const trouble = s3StoreError(error, id, "the bucket cannot be listed", "read");
        bridge.rests(trouble);
        const isAway = client.away === undefined ? {} : ({ isAway: true } as const);
        return { message: trouble.message, isConfiguration: isSettingsFault(error), ...isAway };
      }
    },
    away() {
      const { away } = client;
      return away && { message: awayError(away).message, isConfiguration: false };
    },
    onFound(found) {
      client.onFound((away) => {
        tellBridge(away);
        found(away);
      });
    },
    tell(told) {
      client.tell(told && new S3Error(told.status, told.code));
      tellBridge(client.away);
    },
    get: (at) => tiles.get(at),
    stat: (at) => tiles.stat(at),
    keyOf: (at) => tiles.keyOf(at),
    put: (at, bytes, guard, modifiedMs) => tiles.put(at, bytes, guard, modifiedMs),
    confirm: (at, bytes, time, guard) => tiles.confirm(at, bytes, time, guard),
    putsAtOnce: () => PUTS_AT_ONCE,
    check: () => tiles.check(),
    allocated: (bytes) => bytes,
    disk: `s3 ${id}`,
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
      named("tiles cannot be deleted", "write", () => deleteRange({ client, names }, scope, rect, listener, signal)),
    // Renderers, which sweep for other stores, change no names.
    sweep: async () => undefined,
    sweepRemote: async (signal) => {
      const beganMs = client.now();
      const done = await named("tiles cannot be deleted", "write", () =>
        sweepRetired({ client, names }, beganMs, signal),
      );
      if (done.length > 0) bridge.call("noteSwept", done, beganMs);
      return nextDueMs(names.current, client.now());
    },

    ...inventoryOf(bridge, inventory),
    async [Symbol.asyncDispose]() {
      await bridge.close();
      await client[Symbol.asyncDispose]();
    },
  };
}

function inventoryOf(bridge: SyncBridge<Owned>, inventory: S3Inventory): InventoryStore {
  return {
    timesOf: cellTimes(bridge),
    pyramids: (layer) => bridge.call("pyramids", layer),
    layersThere(layers) {
      const there = new Set(bridge.call("firstSegments"));
      return layers.filter((layer) => there.has(layer.split("/", 1)[0] ?? ""));
    },
    levels: (pyramid) => bridge.call("levelsOf", pyramid.layer, [pyramid])[0] ?? [],
    levelsOf: (layer, pyramids) => bridge.call("levelsOf", layer, pyramids),
    recount: (tileSet, rect) => bridge.call("recount", tileSet, rect),
    // A put is whole or not there at all.
    removeLeftovers: async () => undefined,
    regions: (pyramid, z, after) => inventory.regions(pyramid, z, after),
    noteAlive: async () => undefined,
    // A bucket does not record changes of other programs, so a server that starts again looks for none.
    lastAliveMs: () => Date.now(),
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

/** Answers for the tiles of a cell out of one list. */
function cellTimes(bridge: SyncBridge<Owned>): (at: TileAddress) => TileStatus | undefined {
  let cell: { readonly key: string; readonly untilMs: number; readonly tiles: Map<string, TileStatus> } | undefined;
  return ({ tileSet, x, y, z }) => {
    const [minX, minY] = [x - (x % CELL_SIDE), y - (y % CELL_SIDE)];
    const key = `${tileSetKey(tileSet)}\n${z}/${minX}/${minY}`;
    if (cell?.key !== key || performance.now() > cell.untilMs) {
      const rect = { z, minX, minY, maxX: minX + CELL_SIDE - 1, maxY: minY + CELL_SIDE - 1 };
      const found = bridge.call("recount", tileSet, rect);
      const tiles = new Map(
        found.map((tile) => [`${tile.x}/${tile.y}`, { ...tile, confirmedMs: tile.modifiedMs }] as const),
      );
      cell = { key, untilMs: performance.now() + TIMES_MS, tiles };
    }
    return cell.tiles.get(`${x}/${y}`);
  };
}
