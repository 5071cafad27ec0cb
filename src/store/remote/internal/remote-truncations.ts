import { asTileX, type TileRect } from "../../../grid/grid-set.ts";
import { extensionOf, formatInPath } from "../../../layer/format.ts";
import type { Random } from "../../../lib/random/random.ts";
import type { Deleted, TruncationScope, TruncationStore } from "../../truncation-store.ts";
import type { Bucket } from "../bucket.ts";
import { columnTiles, type ListedTile } from "./columns.ts";
import {
  discarded,
  dueNames,
  type Generations,
  isUnreadable,
  type Named,
  newName,
  parseScope,
  restored,
  type Scope,
  scopeName,
  truncated,
} from "./generations.ts";
import { type KeyLevel, levelPrefix, parseNumber } from "./keys.ts";
import { levelsIn, segments } from "./levels.ts";
import type { Names, NamesDocument } from "./names.ts";
import type { RemoteInventory } from "./remote-inventory.ts";

/** Changes the names of generations, one change after the other. Only the owner of the store has an instance. */
export class RemoteTruncations {
  readonly #random: Random;
  readonly #document: NamesDocument;
  readonly #inventory: RemoteInventory;

  constructor(random: Random, document: NamesDocument, inventory: RemoteInventory) {
    this.#random = random;
    this.#document = document;
    this.#inventory = inventory;
  }

  /**
   * Returns the names of the scopes that have a tile. A new name for a scope without tiles would only cost the sweep
   * some list requests.
   */
  async plan(scope: TruncationScope): Promise<string[]> {
    await this.#document.current();
    if (scope.kind === "layer") return (await this.#inventory.hasTiles(scope.layer)) ? [scopeName([scope.layer])] : [];
    const { layer, gridSet, parametersId, zooms } = scope;
    const levels = await this.#inventory.readable(layer, { gridSet, parametersId });
    const chosen = levels.filter(({ z }) => zooms === undefined || (z >= zooms.first && z <= zooms.last));
    if (zooms === undefined) return chosen.length === 0 ? [] : [scopeName([layer, gridSet, parametersId])];
    return [...new Set(chosen.map(({ z }) => scopeName([layer, gridSet, parametersId, z])))];
  }

  truncate(id: string, names: readonly string[], remains: "keep" | "reclaim", nowMs: number): Promise<void> {
    const scopes: readonly Scope[] = names.map(parseScope);
    const random = this.#random
      .below(36 ** 4)
      .toString(36)
      .padStart(4, "0");
    const options = { remains, name: newName(nowMs, random), nowMs };
    return this.#document.change((before) => (scopes.length === 0 ? before : truncated(before, id, scopes, options)));
  }

  restore(id: string, nowMs: number): Promise<void> {
    return this.#document.change((before) =>
      before.asides.some((aside) => aside.id === id) ? restored(before, id, nowMs) : before,
    );
  }

  discard(id: string, nowMs: number): Promise<void> {
    return this.#document.change((before) => discarded(before, id, nowMs));
  }

  async asideIds(): Promise<string[]> {
    return [...new Set((await this.#document.current()).asides.map(({ id }) => id))];
  }
}

/** The most keys of one page of a sweep, which are deleted together. */
const SWEPT_AT_ONCE = 1_000;
/** The number of tiles deleted at a time. Before each deletion the ledger gets a mark. */
const DELETED_AT_ONCE = 500;

/** Deletes the tiles of a rectangle, as `TruncationStore.deleteRange` says. */
export async function deleteRange(
  { bucket, names }: { readonly bucket: Bucket; readonly names: Names },
  ...[scope, rect, listener, signal]: Parameters<TruncationStore["deleteRange"]>
): Promise<void> {
  const { layer, gridSet, parametersId, format, chosen = () => true } = scope;
  const name = names.nameOf(layer, gridSet, parametersId, rect.z);
  const extensions = format === undefined ? await segments(bucket, `${layer}/${gridSet}/`) : [extensionOf(format)];
  for (const extension of extensions) {
    const mimeType = formatInPath(extension);
    if (mimeType === undefined) continue;
    const level: KeyLevel = { layer, gridSet, extension, parametersId, name, z: rect.z };
    let some: ListedTile[] = [];
    const flush = async (): Promise<void> => {
      signal.throwIfAborted();
      const tiles = some.map(({ x, y, bytes }): Deleted => ({ format: mimeType, x, y, z: rect.z, bytes }));
      await listener.willDelete(tiles);
      const failures = await bucket.deleteAll(some.map(({ key }) => key));
      for (const [i, tile] of tiles.entries()) if (!failures.has(some[i]?.key ?? "")) listener.onDeleted(tile);
      for (const failure of failures.values()) throw failure;
      some = [];
    };
    for (const x of await columnsOf(bucket, level, rect)) {
      signal.throwIfAborted();
      for await (const tiles of columnTiles(bucket, level, asTileX(x), { first: rect.minY, last: rect.maxY })) {
        for (const tile of tiles) if (chosen(tile.x, tile.y)) some.push(tile);
        if (some.length >= DELETED_AT_ONCE) await flush();
      }
    }
    if (some.length > 0) await flush();
  }
  signal.throwIfAborted();
}

async function columnsOf(bucket: Bucket, level: KeyLevel, { minX, maxX }: TileRect): Promise<number[]> {
  const columns = (await segments(bucket, levelPrefix(level))).map(parseNumber);
  return columns.filter((x): x is number => x !== undefined && x >= minX && x <= maxX).sort((a, b) => a - b);
}

export const needsSweep = (generations: Generations, nowMs: number): boolean => dueNames(generations, nowMs).length > 0;

/**
 * Deletes the tiles of the retired names that are due. Leaves a level that a reader or an undo may need, even if the
 * record lists it as retired.
 * @returns the names whose tiles are deleted
 */
export async function sweepRetired(
  { bucket, names }: { readonly bucket: Bucket; readonly names: Names },
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly Named[]> {
  const done: Named[] = [];
  for (const retired of dueNames(names.current, nowMs)) {
    const [layer, gridSet, parametersId, z] = retired.scope;
    const only = gridSet === undefined || parametersId === undefined ? {} : { gridSet, parametersId };
    for (const level of await levelsIn(bucket, layer, { ...only, name: retired.name })) {
      if (z !== undefined && level.z !== z) continue;
      for await (const { objects } of bucket.list({ prefix: levelPrefix(level), limit: SWEPT_AT_ONCE })) {
        if (signal.aborted) return done;
        // Checked again before each deletion, because an undo may have restored the name.
        if (!isUnreadable(names.current, level, level.name)) break;
        const failures = await bucket.deleteAll(objects.map(({ key }) => key));
        for (const failure of failures.values()) throw failure;
      }
    }
    done.push(retired);
  }
  return done;
}
