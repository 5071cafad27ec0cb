/** The growth of the store by a write: bytes of tiles, bytes that the disk allocates for them, and files. */
export interface StoredSize {
  readonly bytes: number;
  readonly allocated: number;
  readonly files: number;
}

export const NO_SIZE: StoredSize = { bytes: 0, allocated: 0, files: 0 };

/** The quota's decision whether the store may grow by a size. The quota decides before anything is written. */
export type Admission = { readonly kind: "store" } | SpaceRefusal;

/** Why the store may not grow. */
export type SpaceRefusal =
  /** Other writers have reserved the free space, or the quota is evicting tiles: try again. */
  | { readonly kind: "busy"; readonly reason: string }
  /** No tile can be evicted to free space. */
  | { readonly kind: "full"; readonly reason: string }
  | { readonly kind: "disk_full"; readonly reason: string }
  /** The free space is unknown, because the file system of the store is unavailable or does not answer. */
  | { readonly kind: "store_away"; readonly reason: string };

/**
 * A reservation in the form that a renderer receives. The renderer may store up to this size without a further request.
 */
export interface Leave extends StoredSize {
  readonly id: number;
}

/** Enlarges a reservation. Returns false if there is no space; then nothing of that size may be stored. */
export type Reserve = (id: number, more: StoredSize) => Promise<boolean>;

/**
 * The space that one renderer may still use under a reservation. The renderer first uses the space that was reserved
 * before the render began. It reserves additional space when the size of the encoded tiles is known.
 */
export class Allowance {
  readonly #leave: Leave | undefined;
  readonly #reserve: Reserve;
  #left: StoredSize;

  /** If `leave` is undefined, nothing may be stored. */
  constructor(leave: Leave | undefined, reserve: Reserve) {
    this.#leave = leave;
    this.#reserve = reserve;
    this.#left = leave ?? NO_SIZE;
  }

  /**
   * Takes space for tiles, synchronously if enough of the reservation is left. Returns false if the space cannot be
   * reserved.
   * @param most the size of all tiles
   * @param growth reads the sizes of the replaced tiles; called only if `most` does not fit
   */
  take(most: StoredSize, growth: () => StoredSize | Promise<StoredSize>): boolean | Promise<boolean> {
    return this.#takeFromLeft(most) || this.#takeGrowth(growth);
  }

  async #takeGrowth(growth: () => StoredSize | Promise<StoredSize>): Promise<boolean> {
    const needed = await growth();
    if (this.#takeFromLeft(needed)) return true;
    if (this.#leave === undefined) return false;
    const more = beyond(needed, this.#left);
    // Takes the space before the answer arrives, so that another render of the same batch cannot take it during the
    // request.
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

/** Returns the part of `size` that exceeds `other`. */
const beyond = (size: StoredSize, other: StoredSize): StoredSize => ({
  bytes: Math.max(0, size.bytes - other.bytes),
  allocated: Math.max(0, size.allocated - other.allocated),
  files: Math.max(0, size.files - other.files),
});
