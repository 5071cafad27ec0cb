import type { TileRect, Zoom } from "../../../grid/grid-set.ts";
import type { LayerName, TileAddress, TileSet } from "../../../layer/tile-set.ts";
import type { Machine } from "../../../lib/machine.ts";
import type { FoundTile, StoredPyramid } from "../../inventory-store.ts";
import { StoreError } from "../../tile-store.ts";
import type { TruncationScope } from "../../truncation-store.ts";
import { S3Client } from "../s3-client.ts";
import { type S3Away, S3Error, s3StoreError } from "../s3-error.ts";
import type { S3StoreOptions } from "../s3-options.ts";
import { type Named, swept } from "./generations.ts";
import { segments } from "./levels.ts";
import { Names, NamesDocument } from "./names.ts";
import { S3Inventory } from "./s3-inventory.ts";
import { S3Tiles } from "./s3-tiles.ts";
import { needsSweep, S3Truncations } from "./s3-truncations.ts";

/**
 * Performs the operations for which the coordinator waits within one turn. They run in the thread of the bridge, one
 * after the other.
 */
export class OwnedBucket {
  readonly #id: string;
  readonly #client: S3Client;
  readonly #document: NamesDocument;
  readonly #inventory: S3Inventory;
  readonly #truncations: S3Truncations;
  readonly #tiles: S3Tiles;
  readonly #isOwner: boolean;

  constructor(options: S3StoreOptions, machine: Machine) {
    const { id, isOwner, serverSideEncryption } = options;
    const names = new Names(machine.disk, options);
    this.#id = id;
    this.#isOwner = isOwner;
    // Operations fail instead of waiting for the service, because the coordinator sleeps until there is an answer.
    this.#client = new S3Client(options, machine, process.env, "fail");
    this.#document = new NamesDocument(this.#client, names);
    this.#inventory = new S3Inventory(machine.clock, this.#client, names);
    this.#truncations = new S3Truncations(machine.random, this.#document, this.#inventory);
    const hasOwnEtags = serverSideEncryption !== undefined;
    this.#tiles = new S3Tiles({ id, client: this.#client, names, hasOwnEtags });
  }

  /** Takes over from the coordinator that the service is unavailable (with the cause), or available again (null). */
  async tell(away: S3Away | null): Promise<void> {
    this.#client.tell(away === null ? undefined : new S3Error(away.status, away.code));
  }

  /** Returns the first segments of all keys, which are names of layers up to their first slash. */
  firstSegments(): Promise<readonly string[]> {
    return this.#reading("layers cannot be listed", () => segments(this.#client, ""));
  }

  plan(scope: TruncationScope): Promise<readonly string[]> {
    return this.#reading("tiles cannot be listed", () => this.#truncations.plan(scope));
  }

  truncate(id: string, names: readonly string[], remains: "keep" | "reclaim"): Promise<void> {
    return this.#writing("tiles cannot be truncated", () =>
      this.#truncations.truncate(id, names, remains, this.#client.now()),
    );
  }

  restore(id: string): Promise<void> {
    return this.#writing("truncated tiles cannot be brought back", () =>
      this.#truncations.restore(id, this.#client.now()),
    );
  }

  discard(id: string): Promise<void> {
    return this.#writing("truncated tiles cannot be released", () => this.#truncations.discard(id, this.#client.now()));
  }

  asideIds(): Promise<readonly string[]> {
    return this.#reading("the truncations cannot be read", () => this.#truncations.asideIds());
  }

  needsSweep(): Promise<boolean> {
    return this.#reading("the truncations cannot be read", async () =>
      needsSweep(await this.#document.current(), this.#client.now()),
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
      throw s3StoreError(error, this.#id, what, "read");
    }
  }

  async #writing<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (!this.#isOwner)
      throw new StoreError("read_only", `store ${this.#id}: only the coordinator changes it`, undefined);
    try {
      await this.#document.current();
      return await work();
    } catch (error) {
      throw s3StoreError(error, this.#id, what, "write");
    }
  }
}
