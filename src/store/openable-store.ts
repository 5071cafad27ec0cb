import type { LayerName, TileAddress } from "../layer/tile-set.ts";
import { errorMessage } from "../lib/error-code.ts";
import type { Disk } from "../lib/file/disk.ts";
import type { Machine } from "../lib/machine.ts";
import { statOf } from "./internal/directories.ts";
import { type FileProbe, REPLACED } from "./internal/file-probe.ts";
import { identityOf } from "./internal/store-root.ts";
import type { InventoryStore } from "./inventory-store.ts";
import { LayerStores } from "./layer-stores.ts";
import type { LocalStore, Store } from "./store.ts";
import type { StoreNews } from "./store-news.ts";
import { type DiskSpace, type MaybePromise, type StoredTile, StoreError, type TileStore } from "./tile-store.ts";
import type { TruncationStore } from "./truncation-store.ts";

/** After a failure to open the store, the first call after this time in ms tries again. */
const AGAIN_MS = 1_000;
/** The assumed allocation unit of a store that is not open yet. */
const USUAL_BLOCK_BYTES = 4096;

interface Opened {
  readonly store: LocalStore;
  readonly device: number | undefined;
  readonly identity: string | undefined;
}

export interface OpenableParts {
  readonly machine: Pick<Machine, "clock" | "disk">;
  /** The name of the store in messages, such as `the store "two"`. */
  readonly name: string;
  readonly root: string;
  /** Opens the store if its directory exists. @throws StoreError */
  readonly open: () => LocalStore;
  /** Checks whether the file system of the store answers. */
  readonly probe: FileProbe;
  /** Called when the store is open after an attempt to open it has failed. */
  readonly back: () => void;
}

/**
 * A store in a directory that may be unavailable: at the start, for a time, or because its file system hangs. While it
 * is unavailable, each call throws a StoreError; other stores are not affected. The first call after the directory has
 * become available opens the store.
 */
export class OpenableStore extends LayerStores implements Store {
  readonly #parts: OpenableParts;
  #opened: Opened | undefined;
  /** Why the store could not be opened, and until when opening it is not tried again. */
  #fault: { readonly error: StoreError; readonly untilMs: number } | undefined;
  /** Why the file system does not answer. Undefined if it answers, to this process's knowledge. */
  #hanging: StoreError | undefined;

  constructor(parts: OpenableParts) {
    super();
    this.#parts = parts;
    parts.probe.changed = (reason) => {
      this.#hanging = reason === undefined ? undefined : this.#away(reason);
    };
  }

  /** The open store. @throws StoreError while the store is unavailable */
  get #store(): LocalStore {
    if (this.#hanging !== undefined) throw this.#hanging;
    return (this.#opened ?? this.#open()).store;
  }

  protected override of(): LocalStore {
    return this.#store;
  }

  #open(): Opened {
    if (this.#fault !== undefined && this.#parts.machine.clock.monotonicNow() < this.#fault.untilMs)
      throw this.#fault.error;
    const { open, root, back, machine } = this.#parts;
    try {
      const store = open();
      this.#opened = { store, device: deviceOf(machine.disk, root), identity: identityOf(machine.disk, root) };
      const wasAway = this.#fault !== undefined;
      this.#fault = undefined;
      if (wasAway) back();
      return this.#opened;
    } catch (cause) {
      const error = this.#away(errorMessage(cause), cause);
      this.#fault = { error, untilMs: this.#parts.machine.clock.monotonicNow() + AGAIN_MS };
      throw error;
    }
  }

  /** Takes over the news that another process could open the store: the next call tries it. */
  tell(away: NonNullable<StoreNews["away"]> | undefined): void {
    if (away === undefined) this.#fault = undefined;
  }

  #away(reason: string, cause?: unknown): StoreError {
    return new StoreError("unavailable", `${this.#parts.name} cannot be used: ${reason}`, cause);
  }

  /**
   * Returns why the store cannot be used. Undefined if it can be used. Checks the file system, and waits for at most
   * two seconds.
   */
  async trouble(): Promise<{ readonly message: string; readonly isConfiguration: false } | undefined> {
    const message = await this.#reason();
    return message === undefined ? undefined : { message, isConfiguration: false };
  }

  async #reason(): Promise<string | undefined> {
    const { probe } = this.#parts;
    const found = await probe.look();
    try {
      this.#openAgainIfMoved();
      void this.#store;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return this.#opened === undefined ? error.message : (found ?? error.message);
    }
    return found;
  }

  /**
   * Closes the store if its directory is on a different file system than when it was opened, but contains the same
   * store: its volume was mounted again. The next call opens the store again.
   * @throws StoreError when a different directory has taken its place
   */
  #openAgainIfMoved(): void {
    const { root, probe, machine } = this.#parts;
    const { disk } = machine;
    const opened = this.#opened;
    if (opened === undefined || this.#hanging !== undefined) return;
    const device = deviceOf(disk, root);
    if (device === undefined || device === opened.device) return;
    if (opened.identity === undefined || identityOf(disk, root) !== opened.identity)
      throw new StoreError("unavailable", `${probe.lost}: ${REPLACED}`, undefined);
    this.#opened = undefined;
    // Not awaited, and without a report: the store is not used any more, and each put has ended on the disk.
    opened.store[Symbol.asyncDispose]().then(undefined, () => undefined);
  }

  override get(at: TileAddress): MaybePromise<StoredTile | undefined> {
    const store = this.#store;
    return store.getLater === undefined ? store.get(at) : this.#parts.probe.inTime(store.getLater(at));
  }

  override put(...call: Parameters<TileStore["put"]>): ReturnType<TileStore["put"]> {
    try {
      return this.#store.put(...call);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  override putsAtOnce(): number {
    return 1;
  }

  override async check(layer: LayerName): Promise<void> {
    await this.#parts.probe.inTime(this.#store.check(layer));
  }

  deleteAll(tiles: readonly TileAddress[]): readonly boolean[] {
    try {
      return this.#store.deleteAll(tiles);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return tiles.map(() => false);
    }
  }

  /** @throws StoreError without a layer while the store is unavailable */
  allocated(bytes: number, layer?: LayerName): number {
    if (layer === undefined) return this.#store.allocated(bytes);
    return this.#opened?.store.allocated(bytes, layer) ?? Math.ceil(bytes / USUAL_BLOCK_BYTES) * USUAL_BLOCK_BYTES;
  }

  get disk(): string {
    return this.#opened?.store.disk ?? this.#parts.name;
  }

  async diskSpace(): Promise<DiskSpace> {
    return await this.#parts.probe.inTime(this.#store.diskSpace());
  }

  override async describeParameters(...call: Parameters<TileStore["describeParameters"]>): Promise<void> {
    await this.#parts.probe.inTime(this.#store.describeParameters(...call));
  }

  plan(scope: Parameters<TruncationStore["plan"]>[0]): readonly string[] {
    return this.#store.plan(scope);
  }

  truncate(...call: Parameters<TruncationStore["truncate"]>): void {
    this.#store.truncate(...call);
  }

  restore(...call: Parameters<TruncationStore["restore"]>): void {
    this.#store.restore(...call);
  }

  discard(id: string): void {
    this.#store.discard(id);
  }

  asideIds(): readonly string[] {
    return this.#store.asideIds();
  }

  async deleteRange(...call: Parameters<TruncationStore["deleteRange"]>): Promise<void> {
    await this.#store.deleteRange(...call);
  }

  needsSweep(): boolean {
    return this.#store.needsSweep();
  }

  isWasteful(): boolean {
    return this.#store.isWasteful?.() === true;
  }

  async sweep(signal: AbortSignal): Promise<void> {
    await this.#store.sweep(signal);
  }

  async sweepRemote(signal: AbortSignal): Promise<number | undefined> {
    return await this.#store.sweepRemote(signal);
  }

  layersThere(layers: readonly LayerName[]): readonly LayerName[] {
    return this.#store.layersThere(layers);
  }

  async removeLeftovers(...call: Parameters<InventoryStore["removeLeftovers"]>): Promise<void> {
    await this.#store.removeLeftovers(...call);
  }

  async noteAlive(): Promise<void> {
    await this.#parts.probe.inTime(this.#store.noteAlive());
  }

  lastAliveMs(): number | undefined {
    return this.#store.lastAliveMs();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.probe.end();
    await this.#opened?.store[Symbol.asyncDispose]();
  }
}

const deviceOf = (disk: Disk, root: string): number | undefined =>
  statOf(disk, root, "the directory of the store cannot be read")?.dev;
