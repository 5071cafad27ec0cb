import type { Fingerprint } from "../image/sight.ts";
import type { SeedGuardOptions } from "../layer/layer.ts";

/** A tile that a job has just stored. */
export interface StoredLook {
  /** Equal for equal bytes. */
  readonly digest: string;
  readonly bytes: number;
  /** Bytes of the tile that was there before, undefined when there was none. */
  readonly replaced: number | undefined;
  /** Where the guard looks at pictures. */
  readonly fingerprint?: Fingerprint;
}

type Percent = Exclude<keyof SeedGuardOptions, "tiles">;

/** A tile this many times as large, or as small, as the one it replaced shows something else. */
const UNLIKE = 4;

/**
 * Looks at the last tiles of a job: a map server that has lost its data goes on answering, with blank pictures or with
 * ones that are all the same, and a seed would fill the cache with them overnight.
 */
export class SeedGuard {
  readonly options: SeedGuardOptions;
  readonly #digests: Window<string>;
  readonly #blanks: Window<boolean>;
  readonly #unlikes: Window<boolean>;
  readonly #unlikeParents: Window<boolean>;

  constructor(options: SeedGuardOptions) {
    this.options = options;
    this.#digests = new Window(options.tiles);
    this.#blanks = new Window(options.tiles);
    this.#unlikes = new Window(options.tiles);
    this.#unlikeParents = new Window(options.tiles);
  }

  /** Why the job should not go on; undefined: nothing is suspicious. */
  look({ digest, bytes, replaced, fingerprint }: StoredLook): string | undefined {
    const identical = this.#digests.add(digest);
    const isUnlike = replaced === undefined ? undefined : bytes * UNLIKE <= replaced || bytes >= replaced * UNLIKE;
    return (
      this.#tooMany("identicalPercent", this.#digests, identical, "are one and the same picture") ??
      this.#flagged("blankPercent", this.#blanks, fingerprint?.blank, "are of one colour") ??
      this.#flagged(
        "unlikePercent",
        this.#unlikes,
        isUnlike,
        `are ${UNLIKE} times as small or as large as those they replaced`,
      ) ??
      this.#flagged(
        "unlikeParentPercent",
        this.#unlikeParents,
        fingerprint?.unlikeParent,
        "show something else than the tiles above them",
      )
    );
  }

  /** Undefined: not known of this tile, which does not count. */
  #flagged(key: Percent, window: Window<boolean>, flag: boolean | undefined, what: string): string | undefined {
    if (flag === undefined) return undefined;
    const count = window.add(flag);
    return flag ? this.#tooMany(key, window, count, what) : undefined;
  }

  #tooMany(key: Percent, { isFull }: Window<unknown>, count: number, what: string): string | undefined {
    const { tiles, [key]: percent } = this.options;
    if (percent === undefined || !isFull || count * 100 < tiles * percent) return undefined;
    return `${count} of the last ${tiles} tiles ${what} (seedGuard.${key} is ${percent})`;
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
