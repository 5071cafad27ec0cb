import type { Refused, StoredSize } from "../render/admission.ts";

/** The kind of writer for which a metatile is stored. */
export type Writer = "user" | "seed";

/** Called after the size that a reservation reserves has changed by so much, and after its release. */
type Changed = (reservation: Reservation, bytes: number, files: number) => void;

/**
 * Space in the store that is reserved for one writer. A size is reserved from `grow` until it is counted as usage or the
 * reservation is released, whichever comes first.
 */
export class Reservation {
  readonly id: number;
  readonly layer: string;
  readonly writer: Writer;
  readonly #changed: Changed;
  #bytes = 0;
  #files = 0;
  #isOpen = true;
  /** Why the writer's last request for space was refused; undefined: it was granted. */
  refused: Refused | undefined;

  constructor(id: number, layer: string, writer: Writer, changed: Changed) {
    this.id = id;
    this.layer = layer;
    this.writer = writer;
    this.#changed = changed;
  }

  /** The size that is reserved now. */
  get size(): StoredSize {
    return { bytes: this.#bytes, files: this.#files };
  }

  /** False: the reservation was released, and reserves nothing any more. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Adds a size. The caller has checked in the same turn of the event loop that the size fits. */
  grow({ bytes, files }: StoredSize): void {
    if (this.#isOpen) this.#add(bytes, files);
  }

  /**
   * Converts a part of the reserved size to usage. A size below 0, of a tile that replaced a larger one, changes nothing.
   */
  count({ bytes, files }: StoredSize): void {
    const [counted, made] = [clamp(bytes, this.#bytes), clamp(files, this.#files)];
    if (counted > 0 || made > 0) this.#add(-counted, -made);
  }

  /** Releases the reserved size. A second release does nothing. */
  release(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#add(-this.#bytes, -this.#files);
  }

  #add(bytes: number, files: number): void {
    this.#bytes += bytes;
    this.#files += files;
    this.#changed(this, bytes, files);
  }
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, most));

/** All reservations, with their sums. In memory only, as a process that has ended writes nothing more. */
export class Reservations {
  readonly #open = new Map<number, Reservation>();
  readonly #byLayer = new Map<string, bigint>();
  #bytes = 0n;
  #files = 0;
  #next = 1;
  #waiting: (() => void)[] = [];

  /** Returns a new reservation that reserves nothing yet. */
  begin(layer: string, writer: Writer): Reservation {
    const reservation = new Reservation(this.#next++, layer, writer, (...change) => this.#changed(...change));
    this.#open.set(reservation.id, reservation);
    return reservation;
  }

  /** Returns an open reservation; undefined: it was released. */
  find(id: number): Reservation | undefined {
    return this.#open.get(id);
  }

  /** Returns the bytes that are reserved: for one layer, or (undefined) for all. */
  bytes(layer: string | undefined): bigint {
    return layer === undefined ? this.#bytes : (this.#byLayer.get(layer) ?? 0n);
  }

  /** Files that are reserved, for all layers. */
  get files(): number {
    return this.#files;
  }

  /** Waits until less is reserved for a writer than now. */
  less(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #changed({ id, layer, isOpen }: Reservation, bytes: number, files: number): void {
    this.#bytes += BigInt(bytes);
    this.#files += files;
    const ofLayer = (this.#byLayer.get(layer) ?? 0n) + BigInt(bytes);
    if (ofLayer === 0n) this.#byLayer.delete(layer);
    else this.#byLayer.set(layer, ofLayer);
    if (!isOpen) this.#open.delete(id);
    else if (bytes >= 0 && files >= 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
