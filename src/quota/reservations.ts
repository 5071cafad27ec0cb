import type { Refused, StoredSize } from "../render/admission.ts";

/** For whom a metatile is stored. */
export type Writer = "user" | "seed";

/** What a table of reservations lets its reservations do. */
interface Sums {
  add(layer: string, bytes: number, files: number): void;
  released(reservation: Reservation): void;
  changed(): void;
}

/**
 * Room that one writer holds in the store. A size is held from `grow` until it is counted as usage or the reservation is
 * released, whichever comes first.
 */
export class Reservation {
  readonly id: number;
  readonly layer: string;
  readonly writer: Writer;
  readonly #sums: Sums;
  #bytes = 0;
  #files = 0;
  #isOpen = true;
  /** Why the writer was given no more room when it asked last; undefined: it was. */
  refused: Refused | undefined;

  constructor(id: number, layer: string, writer: Writer, sums: Sums) {
    this.id = id;
    this.layer = layer;
    this.writer = writer;
    this.#sums = sums;
  }

  /** What is held now. */
  get held(): StoredSize {
    return { bytes: this.#bytes, files: this.#files };
  }

  /** False: it was released, and holds nothing any more. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Holds more. The caller has found that it fits, in the same turn of the event loop. */
  grow({ bytes, files }: StoredSize): void {
    if (this.#isOpen) this.#add(bytes, files);
  }

  /** A part of what is held has become usage. Sizes below 0 are those of tiles that replaced larger ones: they hold on. */
  count({ bytes, files }: StoredSize): void {
    const [counted, made] = [clamp(bytes, this.#bytes), clamp(files, this.#files)];
    if (counted === 0 && made === 0) return;
    this.#add(-counted, -made);
    this.#sums.changed();
  }

  /** Gives up what is held. What is released twice is released once. */
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

/** All reservations, with their sums. In memory alone: a process that has ended writes nothing more. */
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

  /** A reservation that holds nothing yet. */
  begin(layer: string, writer: Writer): Reservation {
    const reservation = new Reservation(this.#next++, layer, writer, this.#sums);
    this.#open.set(reservation.id, reservation);
    return reservation;
  }

  /** Undefined: it was released. */
  find(id: number): Reservation | undefined {
    return this.#open.get(id);
  }

  /** Bytes that are held: for one layer, or (undefined) for all. */
  bytes(layer: string | undefined): bigint {
    return layer === undefined ? this.#bytes : (this.#byLayer.get(layer) ?? 0n);
  }

  /** Files that are held, for all layers. */
  get files(): number {
    return this.#files;
  }

  /** Resolves when some writer holds less than now. */
  less(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
