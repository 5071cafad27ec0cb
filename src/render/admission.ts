/** How much a write adds to the store: bytes of tiles, bytes that they take on the disk, and files. */
export interface StoredSize {
  readonly bytes: number;
  readonly allocated: number;
  readonly files: number;
}

export const NO_SIZE: StoredSize = { bytes: 0, allocated: 0, files: 0 };

/** The quota's answer whether the store may grow by a size. The quota answers before anything is written. */
export type Admission = { readonly kind: "store" } | SpaceRefusal;

/** Why the store may not grow. */
export type SpaceRefusal =
  /** Other writers hold the free space, or the quota is evicting tiles: ask again. */
  | { readonly kind: "busy"; readonly reason: string }
  /** No tile can be evicted to free space. */
  | { readonly kind: "full"; readonly reason: string }
  | { readonly kind: "disk_full"; readonly reason: string }
  /** The free space is not known, as the file system of the store is away or does not answer. */
  | { readonly kind: "store_away"; readonly reason: string };

/** A reservation as a renderer receives it. The renderer may store its size without asking again. */
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
    this.#left = leave ?? NO_SIZE;
  }

  /**
   * Takes space for tiles, at once if it is left. Returns false when too little is left. `most` is the size of all tiles. `growth` looks up
   * the tiles that are replaced, and is called only when `most` does not fit.
   */
  take(most: StoredSize, growth: () => StoredSize | Promise<StoredSize>): boolean | Promise<boolean> {
    return this.#takeFromLeft(most) || this.#takeGrowth(growth);
  }

  async #takeGrowth(growth: () => StoredSize | Promise<StoredSize>): Promise<boolean> {
    const needed = await growth();
    if (this.#takeFromLeft(needed)) return true;
    if (this.#leave === undefined) return false;
    const more = beyond(needed, this.#left);
    // Take the space before the answer arrives, so that another render of the same batch cannot take it meanwhile.
    this.#left = beyond(this.#left, needed);
    return await this.#reserve(this.#leave.id, more);
  }

  #takeFromLeft(size: StoredSize): boolean {
    const { bytes, allocated, files } = this.#left;
    if (size.bytes > bytes || size.allocated > allocated || size.files > files) return false;
    this.#left = beyond(this.#left, size);
    return true;
  }
}

/** Returns the part of a size that goes beyond another one. */
const beyond = (size: StoredSize, other: StoredSize): StoredSize => ({
  bytes: Math.max(0, size.bytes - other.bytes),
  allocated: Math.max(0, size.allocated - other.allocated),
  files: Math.max(0, size.files - other.files),
});
