import type { StoredSize } from "../render/admission.ts";
import { type DiskSpace, StoreError } from "../store/tile-store.ts";

export interface DiskSpaceMonitorParts {
  /** Asks the file system for its free space. The answer may take long, or never come. */
  readonly read: () => Promise<DiskSpace>;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Resolves after so many ms, or when the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A younger reading is as good as a new one. */
const FRESH_MS = 100;
/** An older reading is renewed, but remains valid until the new one arrives. */
const OLD_MS = 1_000;
/** An older reading is not used: other programs may have filled the disk. */
const TOO_OLD_MS = 5_000;
/** How long a caller waits for the file system, and how long a question may take before it counts as hanging. */
const LONGEST_WAIT_MS = 1_000;

/**
 * Knows the free space on the store's disk. The file system is queried in the background, one request at a time. Bytes
 * that are written meanwhile are subtracted from its last answer. A network file system that hangs delays only its own
 * request.
 */
export class DiskSpaceMonitor {
  readonly #parts: DiskSpaceMonitorParts;
  #reading: { readonly space: DiskSpace; readonly requestedMs: number } | undefined;
  /** Written since the request of the last reading. */
  #since = { bytes: 0, files: 0 };
  /** Written since the request that is not answered yet. */
  #sinceRequested = { bytes: 0, files: 0 };
  #pending: { readonly sinceMs: number; readonly answered: Promise<void> } | undefined;
  #again: Promise<void> | undefined;
  #fault: string | undefined;

  constructor(parts: DiskSpaceMonitorParts) {
    this.#parts = parts;
  }

  /** Records that tiles were stored. */
  wrote({ allocated, files }: StoredSize): void {
    for (const since of [this.#since, this.#sinceRequested]) {
      since.bytes += Math.max(0, allocated);
      since.files += Math.max(0, files);
    }
  }

  /** Returns the free space that is known at this moment; undefined: it is not known. */
  now(): DiskSpace | undefined {
    const ageMs = this.#ageMs;
    if (ageMs > OLD_MS && this.#pending === undefined) void this.#request();
    return ageMs > TOO_OLD_MS ? undefined : this.#left();
  }

  /** Returns the free space by the last answer of the file system, however old; undefined: there was none. */
  async last(): Promise<DiskSpace | undefined> {
    await this.fresh();
    return this.#left();
  }

  /** Returns a fresh reading; undefined: the file system does not answer in time. */
  async fresh(): Promise<DiskSpace | undefined> {
    return this.#ageMs <= FRESH_MS ? this.now() : await this.again();
  }

  /**
   * Returns a reading that is requested after this call, such as after files were removed; undefined: the file system
   * does not answer in time.
   */
  async again(): Promise<DiskSpace | undefined> {
    const before = this.#pending?.answered;
    this.#again ??= Promise.resolve(before).then(async () => {
      this.#again = undefined;
      // Only one request runs at a time. A request that another caller has started in between is recent enough.
      await (this.#pending?.answered ?? this.#request());
    });
    return (await this.#wait(this.#again)) ? this.now() : undefined;
  }

  /** The reason why the free space is not known. */
  get reason(): string {
    return this.#fault ?? "the file system of the store does not answer";
  }

  #request(): Promise<void> {
    const sinceMs = this.#parts.now();
    this.#sinceRequested = { bytes: 0, files: 0 };
    const answered = this.#parts.read().then(
      (space) => {
        this.#reading = { space, requestedMs: sinceMs };
        this.#since = this.#sinceRequested;
        this.#sinceRequested = { bytes: 0, files: 0 };
        this.#fault = undefined;
      },
      (error: unknown) => {
        this.#reading = undefined;
        this.#fault =
          error instanceof StoreError
            ? error.message
            : `the free space of the store's file system cannot be read: ${String(error)}`;
      },
    );
    const pending = {
      sinceMs,
      answered: answered.finally(() => {
        if (this.#pending === pending) this.#pending = undefined;
      }),
    };
    this.#pending = pending;
    return pending.answered;
  }

  /**
   * Waits for a reading. Returns false when the file system does not answer in time. Does not wait at all for a request
   * that has been unanswered for long.
   */
  async #wait(answered: Promise<void> | undefined): Promise<boolean> {
    const waitedMs = this.#pending === undefined ? 0 : this.#parts.now() - this.#pending.sinceMs;
    if (waitedMs >= LONGEST_WAIT_MS) return false;
    const over = new AbortController();
    const late = this.#parts.sleep(LONGEST_WAIT_MS - waitedMs, over.signal).then(() => false);
    const inTime = Promise.resolve(answered).then(() => true);
    try {
      return await Promise.race([inTime, late]);
    } finally {
      over.abort();
    }
  }

  get #ageMs(): number {
    return this.#reading === undefined ? Number.POSITIVE_INFINITY : this.#parts.now() - this.#reading.requestedMs;
  }

  #left(): DiskSpace | undefined {
    if (this.#reading === undefined) return undefined;
    const { space } = this.#reading;
    return {
      ...space,
      freeBytes: Math.max(0, space.freeBytes - this.#since.bytes),
      freeInodes: Math.max(0, space.freeInodes - this.#since.files),
    };
  }
}
