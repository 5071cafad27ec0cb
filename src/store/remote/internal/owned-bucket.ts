import type { TileRect, Zoom } from "../../../grid/grid-set.ts";
import type { LayerName, TileAddress, TileSet } from "../../../layer/tile-set.ts";
import type { Machine } from "../../../lib/machine.ts";
import type { FoundTile, StoredPyramid } from "../../inventory-store.ts";
import { StoreError } from "../../tile-store.ts";
import type { TruncationScope } from "../../truncation-store.ts";
import type { Bucket, OpenBucket } from "../bucket.ts";
import { type RemoteAway, remoteStoreError } from "../remote-error.ts";
import type { RemoteStoreParts } from "../remote-options.ts";
import { type Named, swept } from "./generations.ts";
import { segments } from "./levels.ts";
import { Names, NamesDocument } from "./names.ts";
import { RemoteInventory } from "./remote-inventory.ts";
import { RemoteTiles } from "./remote-tiles.ts";
import { needsSweep, RemoteTruncations } from "./remote-truncations.ts";

/**
 * Performs the operations for which the coordinator waits within one turn. They run in the thread of the bridge, one
 * after the other.
 */
export class OwnedBucket {
  readonly #id: string;
  readonly #bucket: Bucket;
  readonly #document: NamesDocument;
  readonly #inventory: RemoteInventory;
  readonly #truncations: RemoteTruncations;
  readonly #tiles: RemoteTiles;
  readonly #isOwner: boolean;

  constructor(parts: RemoteStoreParts, open: OpenBucket, machine: Machine) {
    const { id, isOwner } = parts;
    const names = new Names(machine.disk, parts);
    this.#id = id;
    this.#isOwner = isOwner;
    // Operations fail instead of waiting for the service, because the coordinator sleeps until there is an answer.
    this.#bucket = open("fail");
    this.#document = new NamesDocument(this.#bucket, names);
    this.#inventory = new RemoteInventory(machine.clock, this.#bucket, names);
    this.#truncations = new RemoteTruncations(machine.random, this.#document, this.#inventory);
    this.#tiles = new RemoteTiles({ id, bucket: this.#bucket, names });
  }

  /** Takes over from the coordinator that the service is unavailable (with the cause), or available again (null). */
  async tell(away: RemoteAway | null): Promise<void> {
    this.#bucket.tell(away ?? undefined);
  }

  /** Returns the first segments of all keys, which are names of layers up to their first slash. */
  firstSegments(): Promise<readonly string[]> {
    return this.#reading("layers cannot be listed", () => segments(this.#bucket, ""));
  }

  plan(scope: TruncationScope): Promise<readonly string[]> {
    return this.#reading("tiles cannot be listed", () => this.#truncations.plan(scope));
  }

  truncate(id: string, names: readonly string[], remains: "keep" | "reclaim"): Promise<void> {
    return this.#writing("tiles cannot be truncated", () =>
      this.#truncations.truncate(id, names, remains, this.#bucket.now()),
    );
  }

  restore(id: string): Promise<void> {
    return this.#writing("truncated tiles cannot be brought back", () =>
      this.#truncations.restore(id, this.#bucket.now()),
    );
  }

  discard(id: string): Promise<void> {
    return this.#writing("truncated tiles cannot be released", () => this.#truncations.discard(id, this.#bucket.now()));
  }

  asideIds(): Promise<readonly string[]> {
    return this.#reading("the truncations cannot be read", () => this.#truncations.asideIds());
  }

  needsSweep(): Promise<boolean> {
    return this.#reading("the truncations cannot be read", async () =>
      needsSweep(await this.#document.current(), this.#bucket.now()),
    );
  }

  /** Records that a sweep, which began at `beganMs`, has deleted the tiles of names. */
  noteSwept(done: readonly Named[], beganMs: number): Promise<void> {
    return this.#writing("a sweep cannot be recorded", () =>
      this.#document.change((before) => (done.length === 0 ? before : swept(before, done, beganMs))),
    );
  }

  pyramids(layer: LayerName): Promise<readonly StoredPyramid[]> {
    return this.#reading("tiles cannot be listed", () => this.#inventory.pyramids(layer));
  }

  levelsOf(layer: LayerName, pyramids: readonly StoredPyramid[]): Promise<readonly (readonly Zoom[])[]> {
    return this.#reading("tiles cannot be listed", () => this.#inventory.levelsOf(layer, pyramids));
  }

  recount(tileSet: TileSet, rect: TileRect): Promise<FoundTile[]> {
    return this.#reading("tiles cannot be counted", () => this.#inventory.recount(tileSet, rect));
  }

  removeEmptyPyramids(
    layer: LayerName,
    pyramids: readonly Pick<StoredPyramid, "gridSet" | "parametersId">[],
  ): Promise<readonly ("gone" | "tiles" | "unfinished")[]> {
    return this.#writing("the remains of tiles cannot be removed", () =>
      this.#inventory.removeEmptyPyramids(layer, pyramids),
    );
  }

  delete(at: TileAddress): Promise<number | undefined> {
    return this.#writing("a tile cannot be removed", () => this.#tiles.delete(at));
  }

  deleteAll(tiles: readonly TileAddress[]): Promise<readonly boolean[]> {
    return this.#writing("tiles cannot be removed", () => this.#tiles.deleteAll(tiles));
  }

  parametersOf(layer: LayerName, id: string): Promise<Readonly<Record<string, string>> | undefined> {
    return this.#reading("a parameters file cannot be read", () => this.#tiles.parameters.parametersOf(layer, id));
  }

  async #reading<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      if (this.#isOwner) await this.#document.current();
      return await work();
    } catch (error) {
      throw remoteStoreError(error, this.#id, what, "read");
    }
  }

  async #writing<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (!this.#isOwner)
      throw new StoreError("read_only", `store ${this.#id}: only the coordinator changes it`, undefined);
    try {
      await this.#document.current();
      return await work();
    } catch (error) {
      throw remoteStoreError(error, this.#id, what, "write");
    }
  }
}
