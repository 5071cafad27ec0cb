import { join } from "node:path";
import type { Disk } from "../../../lib/file/disk.ts";
import type { StoreDirectory } from "../../internal/store-directory.ts";
import type { Entry } from "./bundle.ts";
import { encodeEntry, entryAt, isWasteful, readEntry, unusedBytes } from "./bundle.ts";
import { countsOf, openWritable, syncIf, type Written, writeAll, writeCounts } from "./bundle-file.ts";
import { StoreLock } from "./store-lock.ts";
import { WastefulBundles } from "./wasteful-bundles.ts";

/** A bundle that is open for writing. */
export interface OpenBundle {
  readonly path: string;
  readonly file: number;
  /** The counts of the bundle. The counts in the file's header may be older. */
  counts: Written;
  readonly before: Written;
}

/**
 * The writing side of a compact store. Each thread has one writer per store. The writer writes under a lock of all
 * processes, and leaves bundles open as long as it holds the lock.
 */
export class BundleWriter {
  readonly wasteful: WastefulBundles;
  /** The lock for rewriting bundles. */
  readonly sweepLock: StoreLock;
  readonly #disk: Disk;
  readonly #lock: StoreLock;
  readonly #open = new Map<string, OpenBundle>();

  private constructor(directory: StoreDirectory) {
    const { disk, root } = directory;
    this.#disk = disk;
    this.wasteful = new WastefulBundles(disk, root);
    this.#lock = new StoreLock(directory, join(root, ".nuthatch-lock"));
    this.sweepLock = new StoreLock(directory, join(root, ".nuthatch-sweep-lock"));
  }

  /** Returns this thread's writer for a store. The caller must return it with `release`. */
  static of(directory: StoreDirectory): BundleWriter {
    const { root } = directory;
    const shared = writers.get(root) ?? { writer: new BundleWriter(directory), users: 0 };
    shared.users++;
    writers.set(root, shared);
    return shared.writer;
  }

  static release(root: string): void {
    const shared = writers.get(root);
    if (shared === undefined || --shared.users > 0) return;
    writers.delete(root);
    shared.writer.#lock.close();
    shared.writer.sweepLock.close();
  }

  /**
   * Runs work that writes to bundles. During the work no other process writes to bundles or renames them.
   * @throws StoreError when the lock cannot be acquired, and the errors of the work
   */
  run<T>(work: () => T): T {
    this.#lock.take(() => this.#closeAll());
    return work();
  }

  /** Runs work that renames or removes bundles or their directories. No bundle is open during the work. */
  runAlone<T>(work: () => T): T {
    return this.run(() => {
      this.#closeAll();
      return work();
    });
  }

  /**
   * Opens a bundle within the work of `run`. If the bundle is missing, creates it when `describe` is given
   * (`openWritable`), otherwise returns undefined.
   */
  open(path: string, describe: (() => void) | undefined): OpenBundle | undefined {
    const known = this.#open.get(path);
    if (known !== undefined) return known;
    const opened = openWritable(this.#disk, path, describe);
    if (opened === undefined) return undefined;
    try {
      const counts = countsOf(this.#disk, opened.file);
      const bundle = { path, ...opened, counts, before: counts };
      this.#open.set(path, bundle);
      return bundle;
    } catch (error) {
      this.#disk.closeSync(opened.file);
      throw error;
    }
  }

  /**
   * Removes tiles of a bundle within the work of `run`. Returns the size of each tile; undefined for a tile that does
   * not exist.
   */
  remove(path: string, indexes: readonly number[], fsync: boolean): readonly (number | undefined)[] {
    const bundle = this.open(path, undefined);
    if (bundle === undefined) return [];
    const removed: Entry[] = [];
    const sizes = indexes.map((index) => {
      const entry = readEntry(this.#disk, bundle.file, index);
      if (entry === undefined) return undefined;
      writeAll(this.#disk, bundle.file, encodeEntry(undefined), entryAt(index));
      removed.push(entry);
      return entry.size;
    });
    if (removed.length > 0) syncIf({ disk: this.#disk, fsync }, bundle.file);
    const unused = bundle.counts.unused + removed.reduce((sum, entry) => sum + unusedBytes(entry), 0);
    bundle.counts = { ...bundle.counts, unused };
    return sizes;
  }

  #closeAll(): void {
    for (const bundle of this.#open.values()) this.#close(bundle);
    this.#open.clear();
  }

  #close({ path, file, counts, before }: OpenBundle): void {
    try {
      try {
        if (counts === before) return;
        writeCounts(this.#disk, file, counts);
        // Noted again for each further MiB: a truncation removes the note together with the bundle, and an undo may
        // bring the bundle back.
        const isMore = Math.floor(counts.unused / 2 ** 20) > Math.floor(before.unused / 2 ** 20);
        if (isWasteful(counts) && (isMore || !isWasteful(before))) this.wasteful.add(path);
      } finally {
        this.#disk.closeSync(file);
      }
    } catch {
      // The counts only decide when a bundle is rewritten, so a failure is ignored. The next writer counts all bytes
      // after the last known ones as unused. An error here would leave the store locked.
    }
  }
}

/**
 * The writers of this thread by the root of their store. They are shared, because a thread would wait for its own lock
 * forever.
 */
const writers = new Map<string, { readonly writer: BundleWriter; users: number }>();
