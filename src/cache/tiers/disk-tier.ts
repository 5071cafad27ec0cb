import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { dirname, join } from "node:path";
import { LRUCache } from "lru-cache";
import { codeOf } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { StoredTile } from "../../store/tile-store.ts";
import type { DiskTierView } from "./disk-tier-view.ts";

export interface DiskTierOptions {
  /** A directory that no other process uses. */
  readonly directory: string;
  /** The space that the tier may occupy, in bytes of whole disk blocks. */
  readonly limitBytes: number;
  /** Called with each fault of the disk. The request that caused it continues without the tier. */
  readonly failed: (error: unknown) => void;
  readonly disk: Disk;
  readonly clock: Clock;
}

/** One tile in the tier. */
export interface TierKey {
  /** The tile's `tileKey`. */
  readonly key: string;
  /** The name of the tile in its store. Each truncation changes the name. */
  readonly name: string;
  /** The layer's epoch in the memory tier, read before the bytes. */
  readonly epoch: number;
}

interface Entry {
  /**
   * The number of the entry's file. Each entry of a tier has a unique number, so a late deletion cannot remove a later
   * file.
   */
  readonly file: number;
  readonly bytes: number;
}

/** The time of the write (8 bytes), the epoch (8), and a digest of the name (20). The bytes of the tile follow. */
const HEADER_BYTES = 36;
const DIRECTORIES = 256;
/** The most concurrent writes. Further tiles are not stored in the tier: they are read from the store again. */
const MOST_WRITES = 16;
/** After a fault nothing is written for this time, so that a full disk is not tried for each tile. */
const PAUSE_MS = 5_000;
/**
 * The number of removal counters, which keys share. If a different key raises a read's counter, the read's tile is
 * merely not stored in the tier.
 */
const REMOVAL_COUNTERS = 4_096;
const USUAL_BLOCK_BYTES = 4_096;

/**
 * Stores tiles of a remote store on a local disk, bounded in bytes. The least recently read tiles are removed first.
 * The tier begins empty with each process, because its index is in memory: a change that happened while no process ran
 * cannot leave outdated tiles. A truncation, an eviction by the quota or a change of a layer removes the same tiles
 * from the memory tier and from this tier, by the same epochs and removals. The name of the tile in the store is
 * compared too. A fault of the disk never fails a request.
 */
export class DiskTier {
  readonly #options: DiskTierOptions;
  readonly #index: LRUCache<string, Entry>;
  readonly #writes = new Set<Promise<void>>();
  readonly #deletions = new Set<Promise<void>>();
  readonly #removals = new Uint32Array(REMOVAL_COUNTERS);
  #nextFile = 0;
  /** The bytes of tiles that are being written. */
  #reservedBytes = 0;
  /** The bytes of files that could not be deleted. */
  #lostBytes = 0;
  #blockBytes: number | undefined;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #hits = 0;
  #failures = 0;

  constructor(options: DiskTierOptions) {
    this.#options = options;
    this.#index = new LRUCache({
      maxSize: Math.max(1, options.limitBytes),
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (entry) => this.#delete(entry),
    });
  }

  /** Removes the files that an earlier process has left in the directory. Until then nothing is stored in the tier. */
  prepare(): Promise<void> {
    return this.#noted(async () => {
      const { directory, disk } = this.#options;
      await disk.rm(directory, { recursive: true, force: true });
      await disk.mkdir(directory, { recursive: true });
      const { bsize } = await disk.statfs(directory);
      this.#blockBytes = bsize >= 512 && bsize <= 65_536 ? bsize : USUAL_BLOCK_BYTES;
    });
  }

  view(): DiskTierView {
    return {
      tiles: this.#index.size,
      bytes: this.#index.calculatedSize,
      limitBytes: this.#options.limitBytes,
      hits: this.#hits,
      failures: this.#failures,
    };
  }

  /** Returns a tile with one read. Undefined if the tier does not have it. */
  get({ key, name, epoch }: TierKey): StoredTile | undefined {
    const id = idOf(key);
    const entry = this.#index.get(id);
    if (entry === undefined) return undefined;
    try {
      const content = readWhole(this.#options.disk, this.#pathOf(entry));
      const isCurrent = content.readDoubleLE(8) === epoch && content.subarray(16, HEADER_BYTES).equals(digestOf(name));
      if (isCurrent) {
        this.#hits++;
        return { bytes: content.subarray(HEADER_BYTES), modifiedMs: content.readDoubleLE(0) };
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#index.delete(id);
    return undefined;
  }

  /** Returns the mark for a read of the store that begins now. */
  mark(key: string): number {
    return this.#removals[counterOf(key)] ?? 0;
  }

  /**
   * Begins to write a tile that a read of the store has returned. Does not store the tile if it was removed since the
   * read's `mark`, because the read may have returned an older tile.
   * @param isCurrent returns whether the layer's epoch is unchanged
   */
  keep(at: TierKey, tile: StoredTile, mark: number, isCurrent: () => boolean): void {
    const isWanted = (): boolean => isCurrent() && this.mark(at.key) === mark;
    if (!isWanted()) return;
    if (this.#blockBytes === undefined || this.#writes.size >= MOST_WRITES) return;
    if (this.#options.clock.monotonicNow() < this.#pausedUntilMs) return;
    const write = this.#noted(() => this.#write(at, tile, isWanted)).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  /** Removes tiles by their `tileKey`. */
  remove(keys: readonly string[]): void {
    for (const key of keys) {
      const counter = counterOf(key);
      this.#removals[counter] = (this.#removals[counter] ?? 0) + 1;
      if (this.#index.size > 0) this.#index.delete(idOf(key));
    }
  }

  /** Waits until no tile is being written or deleted. */
  async idle(): Promise<void> {
    while (this.#writes.size + this.#deletions.size > 0) await Promise.all([...this.#writes, ...this.#deletions]);
  }

  async #write({ key, name, epoch }: TierKey, { bytes, modifiedMs }: StoredTile, isCurrent: () => boolean) {
    const { limitBytes } = this.#options;
    const block = this.#blockBytes ?? USUAL_BLOCK_BYTES;
    const size = Math.ceil((HEADER_BYTES + bytes.byteLength) / block) * block;
    const taken = (): number => this.#index.calculatedSize + this.#reservedBytes + this.#lostBytes;
    this.#reservedBytes += size;
    const entry = { file: this.#nextFile++, bytes: size };
    try {
      while (taken() > limitBytes && this.#index.size > 0) this.#index.pop();
      // Waits until the files are deleted, because the limit applies to the disk.
      await Promise.all(this.#deletions);
      if (taken() > limitBytes) return;
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeDoubleLE(modifiedMs, 0);
      header.writeDoubleLE(epoch, 8);
      digestOf(name).copy(header, 16);
      await this.#writeFile(this.#pathOf(entry), Buffer.concat([header, bytes]));
      if (isCurrent()) this.#index.set(idOf(key), entry);
      else this.#delete(entry);
    } catch (error) {
      this.#delete(entry);
      throw error;
    } finally {
      this.#reservedBytes -= size;
    }
  }

  async #writeFile(path: string, content: Buffer): Promise<void> {
    const { disk } = this.#options;
    try {
      await disk.writeFile(path, content, { mode: 0o600 });
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      await disk.mkdir(dirname(path), { recursive: true });
      await disk.writeFile(path, content, { mode: 0o600 });
    }
  }

  #delete(entry: Entry): void {
    const deletion = this.#options.disk
      .unlink(this.#pathOf(entry))
      .catch((error: unknown) => {
        const code = codeOf(error);
        if (code === "ENOENT" || code === "ENOTDIR") return;
        this.#lostBytes += entry.bytes;
        this.#fail(error);
      })
      .finally(() => this.#deletions.delete(deletion));
    this.#deletions.add(deletion);
  }

  #pathOf({ file }: Entry): string {
    return join(this.#options.directory, String(file % DIRECTORIES), String(file));
  }

  async #noted(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#pausedUntilMs = this.#options.clock.monotonicNow() + PAUSE_MS;
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failures++;
    this.#options.failed(error);
  }
}

/** Returns the removal counter of a key: the hash FNV-1a, modulo the number of counters. */
function counterOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % REMOVAL_COUNTERS;
}

const idOf = (key: string): string => createHash("sha1").update(key).digest("base64url");
const digestOf = (name: string): Buffer => createHash("sha1").update(name).digest();

/** @throws Error when the file does not exist, or is not a file of the tier */
function readWhole(disk: Disk, path: string): Buffer {
  const file = disk.openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = disk.fstatSync(file);
    if (!found.isFile()) throw new Error("a file of the disk tier is no regular file");
    const { size } = found;
    const content = Buffer.allocUnsafeSlow(size);
    for (let read = 0; read < size; ) {
      const n = disk.readSync(file, content, read, size - read, read);
      if (n === 0) throw new Error("a file of the disk tier is shorter than it was");
      read += n;
    }
    if (size < HEADER_BYTES) throw new Error("a file of the disk tier has no header");
    return content;
  } finally {
    disk.closeSync(file);
  }
}
