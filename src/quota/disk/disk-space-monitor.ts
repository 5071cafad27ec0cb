import type { Clock } from "../../lib/time/clock.ts";
import { pause } from "../../lib/time/sleep.ts";
import type { StoredSize } from "../../render/admission.ts";
import { type DiskSpace, StoreError } from "../../store/tile-store.ts";

export interface DiskSpaceMonitorParts {
  /** Reads the free space from the file system. May take long, or never return. */
  readonly read: () => Promise<DiskSpace>;
  readonly clock: Clock;
}

/** A reading younger than this is as good as a new reading. */
const FRESH_MS = 100;
/** A reading older than this is renewed, but remains valid until the new reading arrives. */
const OLD_MS = 1_000;
/** A reading older than this is not used, because other programs may have filled the disk. */
const TOO_OLD_MS = 5_000;
/** The longest time that a caller waits for the file system. A request that takes longer counts as hanging. */
const LONGEST_WAIT_MS = 1_000;

/**
 * Reports the free space on the store's disk. Queries the file system in the background, one request at a time.
 * Subtracts the bytes written since the last request. A network file system that hangs delays only this request.
 */
export class DiskSpaceMonitor {
  readonly #parts: DiskSpaceMonitorParts;
  #reading: { readonly space: DiskSpace; readonly requestedMs: number } | undefined;
  /** The sizes written since the request of the last reading. */
  #since = { bytes: 0, files: 0 };
  /** The sizes written since the unanswered request. */
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

  /** Returns the free space as known now. Undefined if it is unknown. */
  now(): DiskSpace | undefined {
    const ageMs = this.#ageMs;
    if (ageMs > OLD_MS && this.#pending === undefined) void this.#request();
    return ageMs > TOO_OLD_MS ? undefined : this.#left();
  }

  /** Returns the free space by the last answer of the file system, however old. Undefined if there was no answer. */
  async last(): Promise<DiskSpace | undefined> {
    await this.fresh();
    return this.#left();
  }

  /** Returns a fresh reading. Undefined if the file system does not answer in time. */
  async fresh(): Promise<DiskSpace | undefined> {
    return this.#ageMs <= FRESH_MS ? this.now() : await this.again();
  }

  /**
   * Returns a reading that is requested after this call, for example after files were removed. Undefined if the file
   * system does not answer in time.
   */
  async again(): Promise<DiskSpace | undefined> {
    const before = this.#pending?.answered;
    this.#again ??= Promise.resolve(before).then(async () => {
      this.#again = undefined;
      // Only one request runs at a time. A request that another caller has started since this call is recent enough.
      await (this.#pending?.answered ?? this.#request());
    });
    return (await this.#wait(this.#again)) ? this.now() : undefined;
  }

  /** Why the free space is unknown. */
  get reason(): string {
    return this.#fault ?? "the file system of the store does not answer";
  }

  #request(): Promise<void> {
    const sinceMs = this.#parts.clock.monotonicNow();
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
   * Waits for a reading. Returns false if the file system does not answer in time. Does not wait for a request that has
   * already been unanswered for too long.
   */
  async #wait(answered: Promise<void> | undefined): Promise<boolean> {
    const waitedMs = this.#pending === undefined ? 0 : this.#parts.clock.monotonicNow() - this.#pending.sinceMs;
    if (waitedMs >= LONGEST_WAIT_MS) return false;
    const over = new AbortController();
    const late = pause(this.#parts.clock, LONGEST_WAIT_MS - waitedMs, over.signal).then(() => false);
    const inTime = Promise.resolve(answered).then(() => true);
    try {
      return await Promise.race([inTime, late]);
    } finally {
      over.abort();
    }
  }

  get #ageMs(): number {
    return this.#reading === undefined
      ? Number.POSITIVE_INFINITY
      : this.#parts.clock.monotonicNow() - this.#reading.requestedMs;
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
