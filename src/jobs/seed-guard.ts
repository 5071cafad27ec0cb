import type { SeedGuardOptions } from "../layer/layer.ts";

/** A tile that a job has just stored. */
export interface StoredLook {
  /** Equal for equal bytes. */
  readonly digest: string;
  readonly bytes: number;
  /** Bytes of the tile that was there before, undefined when there was none. */
  readonly replaced: number | undefined;
}

/** A tile this many times as large, or as small, as the one it replaced shows something else. */
const UNLIKE = 4;

/**
 * Looks at the last tiles of a job: a map server that has lost its data goes on answering, with blank pictures or with
 * ones that are all the same, and a seed would fill the cache with them overnight.
 */
export class SeedGuard {
  readonly options: SeedGuardOptions;
  readonly #digests: Window<string>;
  readonly #unlikes: Window<boolean>;

  constructor(options: SeedGuardOptions) {
    this.options = options;
    this.#digests = new Window(options.tiles);
    this.#unlikes = new Window(options.tiles);
  }

  /** Why the job should not go on; undefined: nothing is suspicious. */
  look({ digest, bytes, replaced }: StoredLook): string | undefined {
    const { tiles, identicalPercent, unlikePercent } = this.options;
    const identical = this.#digests.add(digest);
    if (identicalPercent !== undefined && this.#digests.isFull && identical * 100 >= tiles * identicalPercent)
      return `${identical} of the last ${tiles} tiles are one and the same picture (seedGuard.identicalPercent is ${identicalPercent})`;
    if (replaced === undefined) return undefined;
    const isUnlike = bytes * UNLIKE <= replaced || bytes >= replaced * UNLIKE;
    const unlike = this.#unlikes.add(isUnlike);
    if (isUnlike && unlikePercent !== undefined && this.#unlikes.isFull && unlike * 100 >= tiles * unlikePercent)
      return `${unlike} of the last ${tiles} tiles are ${UNLIKE} times as small or as large as those they replaced (seedGuard.unlikePercent is ${unlikePercent})`;
    return undefined;
  }
}

/** The last values, and how often each is among them. Constant time per value. */
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

  /** @returns how often the value is there now */
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
