import { rectHolds } from "../../../src/grid/grid-set.ts";
import { BLOCK_SIDE, type TileAddress, tileSetKey } from "../../../src/layer/tile-set.ts";
import type { FoundTile, InventoryStore, StoredPyramid } from "../../../src/store/inventory-store.ts";
import type { LocalStore } from "../../../src/store/store.ts";
import type { PutTerms, TileStore } from "../../../src/store/tile-store.ts";
import type { TruncationStore } from "../../../src/store/truncation-store.ts";

/** The last two arguments of a put that no guard refuses and no signal ends. */
export const unconditionally: readonly [terms: PutTerms, signal: AbortSignal] = [
  { guard: () => true },
  new AbortController().signal,
];

interface Stored {
  readonly at: TileAddress;
  readonly bytes: Uint8Array;
  readonly modifiedMs: number;
  readonly confirmedMs: number;
}

/** The content of the store. The three interfaces work on the same maps. */
interface Memory {
  readonly blockBytes: number;
  readonly tiles: Map<string, Stored>;
  /** The tiles that a truncation keeps for its undo, by the id of the truncation. */
  readonly asides: Map<string, Stored[]>;
  /** The values behind parameters ids, by layer and id. */
  readonly described: Map<string, Readonly<Record<string, string>>>;
}

/** Creates a store in memory: for tests. Its tiles end with the process, and take whole blocks of a given size. */
export function createMemoryStore(blockBytes = 1): LocalStore {
  const memory: Memory = { blockBytes, tiles: new Map(), asides: new Map(), described: new Map() };
  const tiles = tileStore(memory);
  return {
    ...tiles,
    timesOf: tiles.stat,
    ...truncationStore(memory),
    ...inventoryStore(memory),
    async [Symbol.asyncDispose]() {},
  };
}

const keyOf = ({ tileSet, x, y, z }: TileAddress): string => `${tileSetKey(tileSet)}\n${z}/${x}/${y}`;
const nameOf = ({ tileSet, z }: TileAddress): string =>
  JSON.stringify([tileSet.layer, tileSet.gridSet, tileSet.parametersId, z]);
const isOf = ({ at }: Stored, p: StoredPyramid): boolean =>
  at.tileSet.layer === p.layer && at.tileSet.gridSet === p.gridSet && at.tileSet.parametersId === p.parametersId;

function tileStore({ blockBytes, tiles, described }: Memory): Pick<LocalStore, keyof TileStore> {
  const found = (at: TileAddress): Stored | undefined => {
    const stored = tiles.get(keyOf(at));
    return stored !== undefined && stored.bytes.byteLength > 0 ? stored : undefined;
  };
  return {
    keyOf,
    get: (at) => found(at),
    stat(at) {
      const stored = found(at);
      if (stored === undefined) return undefined;
      const { bytes, modifiedMs, confirmedMs } = stored;
      return { bytes: bytes.byteLength, modifiedMs, confirmedMs };
    },
    async put(at, bytes, { guard, modifiedMs }, signal) {
      signal.throwIfAborted();
      if (!guard()) return { stored: false };
      const replaced = found(at)?.bytes.byteLength;
      const nowMs = Date.now();
      tiles.set(keyOf(at), { at, bytes: bytes.slice(), modifiedMs: modifiedMs ?? nowMs, confirmedMs: nowMs });
      return { stored: true, replaced };
    },
    confirm(at, bytes, { time, guard }, signal) {
      if (signal.aborted) return false;
      const stored = found(at);
      if (stored === undefined || Buffer.compare(stored.bytes, bytes) !== 0 || !guard()) return false;
      const confirmedMs = Date.now();
      tiles.set(keyOf(at), { ...stored, confirmedMs, ...(time === "renew" ? { modifiedMs: confirmedMs } : {}) });
      return true;
    },
    putsAtOnce: () => 1,
    check: async () => undefined,
    delete(at) {
      const stored = found(at);
      tiles.delete(keyOf(at));
      return stored?.bytes.byteLength;
    },
    deleteAll(all) {
      for (const at of all) tiles.delete(keyOf(at));
      return all.map(() => true);
    },
    allocated: (bytes) => Math.ceil(bytes / blockBytes) * blockBytes,
    disk: "memory",
    diskSpace: async () => ({ freeBytes: 2 ** 50, totalBytes: 2 ** 50, freeInodes: 2 ** 30, totalInodes: 2 ** 30 }),
    async describeParameters(layer, id, values) {
      described.set(`${layer}\n${id}`, values);
    },
    parametersOf: (layer, id) => described.get(`${layer}\n${id}`),
  };
}

function truncationStore({ tiles, asides }: Memory): TruncationStore {
  return {
    plan(scope) {
      const names = new Set<string>();
      for (const stored of tiles.values()) {
        const { at } = stored;
        if (scope.kind === "layer" ? at.tileSet.layer !== scope.layer : !isOf(stored, scope)) continue;
        if (
          scope.kind === "pyramid" &&
          scope.zooms !== undefined &&
          (at.z < scope.zooms.first || at.z > scope.zooms.last)
        )
          continue;
        names.add(nameOf(at));
      }
      return [...names];
    },
    truncate(id, names, remains) {
      const stored = asides.get(id) ?? [];
      if (remains === "keep") asides.set(id, stored);
      for (const [key, tile] of tiles) {
        if (!names.includes(nameOf(tile.at))) continue;
        stored.push(tile);
        tiles.delete(key);
      }
    },
    restore(id, names) {
      const aside = asides.get(id);
      if (aside === undefined) return;
      for (const [key, { at }] of tiles) if (names.includes(nameOf(at))) tiles.delete(key);
      for (const stored of aside) tiles.set(keyOf(stored.at), stored);
      asides.delete(id);
    },
    discard: (id) => void asides.delete(id),
    asideIds: () => [...asides.keys()],
    async deleteRange(scope, rect, listener, signal) {
      for (const [key, stored] of [...tiles]) {
        signal.throwIfAborted();
        const { tileSet, x, y, z } = stored.at;
        if (!isOf(stored, scope) || z !== rect.z || !rectHolds(rect, x, y)) continue;
        if (scope.chosen?.(x, y) === false) continue;
        if (scope.format !== undefined && tileSet.format !== scope.format) continue;
        const deleted = { format: tileSet.format, x, y, z, bytes: stored.bytes.byteLength };
        await listener.willDelete([deleted]);
        if (tiles.delete(key)) listener.onDeleted(deleted);
      }
      signal.throwIfAborted();
    },
    needsSweep: () => false,
    sweep: async () => undefined,
    sweepRemote: async () => undefined,
  };
}

function inventoryStore({ tiles, described }: Memory): Omit<InventoryStore, "timesOf"> {
  const levelsOfOne = (pyramid: StoredPyramid): number[] => {
    const levels = [...tiles.values()].filter((stored) => isOf(stored, pyramid)).map(({ at }) => at.z);
    return [...new Set(levels)].sort((a, b) => a - b);
  };
  return {
    pyramids(layer) {
      const all = new Map<string, StoredPyramid>();
      for (const { at } of tiles.values()) {
        const { gridSet, parametersId } = at.tileSet;
        if (at.tileSet.layer === layer) all.set(`${gridSet}\n${parametersId}`, { layer, gridSet, parametersId });
      }
      return [...all.values()];
    },
    layersThere: (layers) => layers,
    levels: levelsOfOne,
    levelsOf: (_layer, pyramids) => pyramids.map(levelsOfOne),
    recount(tileSet, rect) {
      const inside: FoundTile[] = [];
      for (const { at, bytes, modifiedMs } of tiles.values()) {
        if (tileSetKey(at.tileSet) !== tileSetKey(tileSet) || at.z !== rect.z || !rectHolds(rect, at.x, at.y)) continue;
        if (bytes.byteLength > 0) inside.push({ x: at.x, y: at.y, bytes: bytes.byteLength, modifiedMs });
      }
      return inside;
    },
    async removeLeftovers() {},
    async *regions(pyramid, z, after) {
      const inside = new Map<string, { x: number; y: number }[]>();
      const rect = { z, minX: 0, minY: 0, maxX: BLOCK_SIDE - 1, maxY: BLOCK_SIDE - 1 };
      for (const stored of tiles.values()) {
        const { x, y, tileSet } = stored.at;
        if (!isOf(stored, pyramid) || stored.at.z !== z) continue;
        inside.set(tileSet.format, [...(inside.get(tileSet.format) ?? []), { x, y }]);
        rect.maxX = Math.max(rect.maxX, Math.floor(x / BLOCK_SIDE + 1) * BLOCK_SIDE - 1);
        rect.maxY = Math.max(rect.maxY, Math.floor(y / BLOCK_SIDE + 1) * BLOCK_SIDE - 1);
      }
      if (inside.size > 0 && after === undefined) yield { key: "all", rect, tiles: inside };
    },
    noteAlive: async () => undefined,
    lastAliveMs: () => undefined,
    // No other process can change the tiles of this store.
    changes: () => ({ hasLost: false, holds: async () => true, regions: async function* () {} }),
    removeEmptied: () => undefined,
    removeEmptyPyramids(layer, pyramids) {
      return pyramids.map(({ gridSet, parametersId }) => {
        const stored = [...tiles.values()];
        if (!stored.some(({ at }) => at.tileSet.layer === layer && at.tileSet.parametersId === parametersId))
          described.delete(`${layer}\n${parametersId}`);
        return stored.some((tile) => isOf(tile, { layer, gridSet, parametersId })) ? "tiles" : "gone";
      });
    },
  };
}
