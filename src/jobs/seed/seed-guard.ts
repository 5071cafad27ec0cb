import type { Layer, SeedGuardOptions } from "../../layer/layer.ts";
import type { WrittenTile } from "../../render/render-order.ts";
import type { ActiveJob } from "../active/active-job.ts";
import { JobPaused } from "../work.ts";

/** A tile that a job has just stored, as the guard checks it. */
export type CheckedTile = Required<Pick<WrittenTile, "digest" | "bytes" | "replaced">>;

/** A tile that is this many times larger or smaller than the tile it replaced probably shows different content. */
const UNLIKE = 4;

/**
 * Checks the last tiles of a job. A map server that has lost its data continues to answer, with blank or identical
 * pictures. A seed without this check would fill the cache with them.
 */
export class SeedGuard {
  readonly options: SeedGuardOptions;
  readonly #digests: Window<string>;
  readonly #unlike: Window<boolean>;

  constructor(options: SeedGuardOptions) {
    this.options = options;
    this.#digests = new Window(options.tiles);
    this.#unlike = new Window(options.tiles);
  }

  /** Returns the reason to pause the job. Undefined if the last tiles are not suspicious. */
  check({ digest, bytes, replaced }: CheckedTile): string | undefined {
    const identical = this.#digests.add(digest);
    const reason = this.#tooMany("identicalPercent", this.#digests, identical, "are one and the same picture");
    // A new tile has replaced no tile with which it could be compared.
    if (reason !== undefined || replaced === undefined) return reason;
    const isUnlike = bytes * UNLIKE <= replaced || bytes >= replaced * UNLIKE;
    const count = this.#unlike.add(isUnlike);
    if (!isUnlike) return undefined;
    const what = `are ${UNLIKE} times as small or as large as those they replaced`;
    return this.#tooMany("unlikePercent", this.#unlike, count, what);
  }

  #tooMany(
    key: Exclude<keyof SeedGuardOptions, "tiles">,
    { isFull }: Window<unknown>,
    count: number,
    what: string,
  ): string | undefined {
    const { tiles, [key]: percent } = this.options;
    if (percent === undefined || !isFull || count * 100 < tiles * percent) return undefined;
    return `${count} of the last ${tiles} tiles ${what} (seedGuard.${key} is ${percent})`;
  }
}

/** The last values, and how often each of them occurs. Constant time per value. */
class Window<T> {
  readonly #size: number;
  readonly #values: T[] = [];
  readonly #counts = new Map<T, number>();
  #next = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get isFull(): boolean {
    return this.#values.length === this.#size;
  }

  /**
   * Adds a value in place of the oldest one.
   * @returns how often the value occurs now
   */
  add(value: T): number {
    const oldest = this.isFull ? this.#values[this.#next] : undefined;
    if (oldest !== undefined) {
      const left = (this.#counts.get(oldest) ?? 1) - 1;
      if (left === 0) this.#counts.delete(oldest);
      else this.#counts.set(oldest, left);
    }
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % this.#size;
    const count = (this.#counts.get(value) ?? 0) + 1;
    this.#counts.set(value, count);
    return count;
  }
}

/** The seed guards of running jobs. */
export class SeedGuards {
  readonly #guards = new WeakMap<ActiveJob, SeedGuard>();

  /**
   * Checks stored tiles with the layer's seed guard, unless a user has resumed the job since the start of the server.
   * @throws JobPaused if the tiles are suspicious
   */
  check(job: ActiveJob, { seedGuard: options }: Pick<Layer, "seedGuard">, written: readonly WrittenTile[]): void {
    if (options === undefined || job.isTrusted) return;
    const known = this.#guards.get(job);
    const guard = known?.options === options ? known : new SeedGuard(options);
    this.#guards.set(job, guard);
    for (const { digest, bytes, replaced } of written) {
      const reason = digest === undefined ? undefined : guard.check({ digest, bytes, replaced });
      if (reason !== undefined) throw new JobPaused(`paused: the tiles are suspicious: ${reason}`);
    }
  }
}
