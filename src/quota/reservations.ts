import type { Refused, StoredSize } from "../render/admission.ts";

/** The kind of writer for which a metatile is stored. */
export type Writer = "user" | "seed";

/** Functions of a table of reservations that its reservations call. */
interface Sums {
  add(layer: string, bytes: number, files: number): void;
  released(reservation: Reservation): void;
  changed(): void;
}

/**
 * Room in the store that one writer holds. A size is held from `grow` until it is counted as usage or the reservation
 * is released, whichever comes first.
 */
export class Reservation {
  readonly id: number;
  readonly layer: string;
  readonly writer: Writer;
  readonly #sums: Sums;
  #bytes = 0;
  #files = 0;
  #isOpen = true;
  /** Why the writer's last request for space was refused; undefined: it was granted. */
  refused: Refused | undefined;

  constructor(id: number, layer: string, writer: Writer, sums: Sums) {
    this.id = id;
    this.layer = layer;
    this.writer = writer;
    this.#sums = sums;
  }

  /** The size that is held now. */
  get held(): StoredSize {
    return { bytes: this.#bytes, files: this.#files };
  }

  /** False: the reservation was released, and holds nothing any more. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Adds a size. The caller has checked in the same turn of the event loop that the size fits. */
  grow({ bytes, files }: StoredSize): void {
    if (this.#isOpen) this.#add(bytes, files);
  }

  /**
   * Converts a part of the held size to usage. A size below 0, of a tile that replaced a larger one, changes nothing.
   */
  count({ bytes, files }: StoredSize): void {
    const [counted, made] = [clamp(bytes, this.#bytes), clamp(files, this.#files)];
    if (counted === 0 && made === 0) return;
    this.#add(-counted, -made);
    this.#sums.changed();
  }

  /** Releases the held size. A second release does nothing. */
  release(): void {
    if (!this.#isOpen) return;
    this.#add(-this.#bytes, -this.#files);
    this.#isOpen = false;
    this.#sums.released(this);
  }

  #add(bytes: number, files: number): void {
    this.#bytes += bytes;
    this.#files += files;
    this.#sums.add(this.layer, bytes, files);
  }
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, most));

/** All reservations, with their sums. Held in memory only, as a process that has ended writes nothing more. */
export class Reservations {
  readonly #open = new Map<number, Reservation>();
  readonly #byLayer = new Map<string, bigint>();
  readonly #sums: Sums;
  #bytes = 0n;
  #files = 0;
  #next = 1;
  #waiting: (() => void)[] = [];

  constructor() {
    this.#sums = {
      add: (layer, bytes, files) => {
        this.#bytes += BigInt(bytes);
        this.#files += files;
        const ofLayer = (this.#byLayer.get(layer) ?? 0n) + BigInt(bytes);
        if (ofLayer === 0n) this.#byLayer.delete(layer);
        else this.#byLayer.set(layer, ofLayer);
      },
      released: ({ id }) => {
        this.#open.delete(id);
        this.#changed();
      },
      changed: () => this.#changed(),
    };
  }

  /** Returns a new reservation that holds nothing yet. */
  begin(layer: string, writer: Writer): Reservation {
    const reservation = new Reservation(this.#next++, layer, writer, this.#sums);
    this.#open.set(reservation.id, reservation);
    return reservation;
  }

  /** Returns an open reservation; undefined: it was released. */
  find(id: number): Reservation | undefined {
    return this.#open.get(id);
  }

  /** Returns the bytes that are held: for one layer, or (undefined) for all. */
  bytes(layer: string | undefined): bigint {
    return layer === undefined ? this.#bytes : (this.#byLayer.get(layer) ?? 0n);
  }

  /** Files that are held, for all layers. */
  get files(): number {
    return this.#files;
  }

  /** Waits until a writer holds less than now. */
  less(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
