/** How much a write adds to the store: bytes of tiles, and files. */
export interface StoredSize {
  readonly bytes: number;
  readonly files: number;
}

/** Whether the store may grow by a size. Answered by the quota before anything is written. */
export type Admission = { readonly kind: "store" } | Refused;

/** Why it may not. */
export type Refused =
  /** Other writers hold the room that there is, or room is being made: ask again. */
  | { readonly kind: "busy"; readonly reason: string }
  /** Nothing can be evicted for it. */
  | { readonly kind: "full"; readonly reason: string }
  | { readonly kind: "disk_full"; readonly reason: string };

/** A reservation as its renderer sees it: `bytes` and `files` may be stored without another question. */
export interface Leave extends StoredSize {
  readonly id: number;
}

/** Adds to a reservation. False: there is no room, nothing of that size may be stored. */
export type Reserve = (id: number, more: StoredSize) => Promise<boolean>;

/**
 * What one renderer may still store under a reservation. It hands out what was reserved before the render began, and asks
 * for the rest when the size of the encoded tiles is known.
 */
export class Allowance {
  readonly #leave: Leave | undefined;
  readonly #reserve: Reserve;
  #left: StoredSize;

  /** `leave` undefined: nothing may be stored. */
  constructor(leave: Leave | undefined, reserve: Reserve) {
    this.#leave = leave;
    this.#reserve = reserve;
    this.#left = leave ?? { bytes: 0, files: 0 };
  }

  /**
   * Takes room for tiles. `most` is known at once; `growth` looks at the tiles that are replaced, and is asked for only when
   * `most` does not fit.
   */
  async take(most: StoredSize, growth: () => StoredSize): Promise<boolean> {
    if (this.#takeFromLeft(most)) return true;
    const needed = growth();
    if (this.#takeFromLeft(needed)) return true;
    if (this.#leave === undefined) return false;
    const { bytes, files } = this.#left;
    const more = { bytes: Math.max(0, needed.bytes - bytes), files: Math.max(0, needed.files - files) };
    // Taken before the answer: another render of the same batch must not take it meanwhile.
    this.#left = { bytes: Math.max(0, bytes - needed.bytes), files: Math.max(0, files - needed.files) };
    return await this.#reserve(this.#leave.id, more);
  }

  #takeFromLeft({ bytes, files }: StoredSize): boolean {
    if (bytes > this.#left.bytes || files > this.#left.files) return false;
    this.#left = { bytes: this.#left.bytes - bytes, files: this.#left.files - files };
    return true;
  }
}
