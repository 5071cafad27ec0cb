/** How much a write adds to the store: bytes of tiles, and files. */
export interface StoredSize {
  readonly bytes: number;
  readonly files: number;
}

/** The quota's answer whether the store may grow by a size. The quota answers before anything is written. */
export type Admission = { readonly kind: "store" } | Refused;

/** Why the store may not grow. */
export type Refused =
  /** Other writers hold the free space, or the quota is evicting tiles: ask again. */
  | { readonly kind: "busy"; readonly reason: string }
  /** No tile can be evicted to free space. */
  | { readonly kind: "full"; readonly reason: string }
  | { readonly kind: "disk_full"; readonly reason: string };

/** A reservation as a renderer receives it. The renderer may store `bytes` and `files` without asking again. */
export interface Leave extends StoredSize {
  readonly id: number;
}

/** Enlarges a reservation. Returns false when there is no space; nothing of that size may be stored then. */
export type Reserve = (id: number, more: StoredSize) => Promise<boolean>;

/**
 * The space that one renderer may still use under a reservation. The renderer first uses the space that was reserved
 * before the render began. It reserves the rest when the size of the encoded tiles is known.
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
   * Takes space for tiles. Returns false when too little is left. `most` is the size of all tiles. `growth` looks up
   * the tiles that are replaced, and is called only when `most` does not fit.
   */
  async take(most: StoredSize, growth: () => StoredSize): Promise<boolean> {
    if (this.#takeFromLeft(most)) return true;
    const needed = growth();
    if (this.#takeFromLeft(needed)) return true;
    if (this.#leave === undefined) return false;
    const { bytes, files } = this.#left;
    const more = { bytes: Math.max(0, needed.bytes - bytes), files: Math.max(0, needed.files - files) };
    // Take the space before the answer arrives, so that another render of the same batch cannot take it meanwhile.
    this.#left = { bytes: Math.max(0, bytes - needed.bytes), files: Math.max(0, files - needed.files) };
    return await this.#reserve(this.#leave.id, more);
  }

  #takeFromLeft({ bytes, files }: StoredSize): boolean {
    if (bytes > this.#left.bytes || files > this.#left.files) return false;
    this.#left = { bytes: this.#left.bytes - bytes, files: this.#left.files - files };
    return true;
  }
}
