import { closeSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "./bundle.ts";
import { encodeEntry, entryAt, isWasteful, readEntry, unusedBytes } from "./bundle.ts";
import { countsOf, openWritable, syncIf, type Written, writeAll, writeCounts } from "./bundle-file.ts";
import { StoreLock } from "./store-lock.ts";
import { WastefulBundles } from "./wasteful-bundles.ts";

/** A bundle that is open for writing. */
export interface OpenBundle {
  readonly path: string;
  readonly file: number;
  readonly isNew: boolean;
  /** The counts of the bundle. Those in the header of the file may be older. */
  counts: Written;
  readonly before: Written;
}

/**
 * The writing side of a compact store, of which each thread has one for each store. It writes under a lock of all
 * processes, and keeps bundles open as long as it holds the lock.
 */
export class BundleWriter {
  readonly wasteful: WastefulBundles;
  /** The right to write bundles anew. */
  readonly sweepLock: StoreLock;
  readonly #lock: StoreLock;
  readonly #open = new Map<string, OpenBundle>();

  private constructor(root: string) {
    this.wasteful = new WastefulBundles(root);
    this.#lock = new StoreLock(join(root, ".nuthatch-lock"));
    this.sweepLock = new StoreLock(join(root, ".nuthatch-sweep-lock"));
  }

  /** Returns the writer of this thread for a store. To be given back to `release`. */
  static of(root: string): BundleWriter {
    const shared = writers.get(root) ?? { writer: new BundleWriter(root), users: 0 };
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
   * Runs work that writes to bundles. No other process writes to them, or renames them, meanwhile.
   * @throws StoreError when the lock cannot be had, and the errors of the work
   */
  run<T>(work: () => T): T {
    this.#lock.take(() => this.#closeAll());
    return work();
  }

  /** Runs work that renames or removes bundles or their directories. No bundle is open meanwhile. */
  runAlone<T>(work: () => T): T {
    return this.run(() => {
      this.#closeAll();
      return work();
    });
  }

  /** Opens a bundle in the work of `run`. Makes it if `rows` is given, else returns undefined when there is none. */
  open(path: string, rows: number | undefined): OpenBundle | undefined {
    const known = this.#open.get(path);
    if (known !== undefined) return known;
    const opened = openWritable(path, rows);
    if (opened === undefined) return undefined;
    try {
      const counts = countsOf(opened.file);
      const bundle = { path, ...opened, counts, before: counts };
      this.#open.set(path, bundle);
      return bundle;
    } catch (error) {
      closeSync(opened.file);
      throw error;
    }
  }

  /** Removes tiles of a bundle. Returns the size of each; undefined: there was none. In the work of `run`. */
  remove(path: string, indexes: readonly number[], fsync: boolean): readonly (number | undefined)[] {
    const bundle = this.open(path, undefined);
    if (bundle === undefined) return [];
    const removed: Entry[] = [];
    const sizes = indexes.map((index) => {
      const entry = readEntry(bundle.file, index);
      if (entry === undefined) return undefined;
      writeAll(bundle.file, encodeEntry(undefined), entryAt(index));
      removed.push(entry);
      return entry.size;
    });
    if (removed.length > 0) syncIf(fsync, bundle.file);
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
      if (counts === before) return;
      writeCounts(file, counts);
      // Once for each further MiB: the note goes with a truncation, and the bundle may come back by an undo.
      const isMore = Math.floor(counts.unused / 2 ** 20) > Math.floor(before.unused / 2 ** 20);
      if (isWasteful(counts) && (isMore || !isWasteful(before))) this.wasteful.add(path);
    } catch {
      // The counts decide only when a bundle is written anew. The next writer takes all bytes behind the last known ones
      // for unused.
    } finally {
      closeSync(file);
    }
  }
}

/** The writers of this thread by the root of their store: a thread that waited for itself would wait in vain. */
const writers = new Map<string, { readonly writer: BundleWriter; users: number }>();
