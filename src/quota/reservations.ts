import type { LayerName } from "../layer/tile-set.ts";
import { NO_SIZE, type SpaceRefusal, type StoredSize } from "../render/admission.ts";

/** The kind of request for which a metatile is stored. */
export type Writer = "user" | "seed";

/** Called with the change after the reserved size has changed, and after the release. */
type Changed = (reservation: Reservation, by: StoredSize) => void;

/**
 * Space in the store that is reserved for one writer. A size is reserved from `grow` until it is counted as usage or
 * the reservation is released, whichever happens first.
 */
export class Reservation {
  readonly id: number;
  readonly layer: LayerName;
  readonly writer: Writer;
  readonly #changed: Changed;
  #size = NO_SIZE;
  #isOpen = true;
  /** Why the writer's last request for space was refused. Undefined if it was granted. */
  refused: SpaceRefusal | undefined;

  constructor(id: number, layer: LayerName, writer: Writer, changed: Changed) {
    this.id = id;
    this.layer = layer;
    this.writer = writer;
    this.#changed = changed;
  }

  /** The currently reserved size. */
  get size(): StoredSize {
    return this.#size;
  }

  /** False after the release, when the reservation reserves nothing any more. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Adds a size. The caller has checked in the same turn of the event loop that the size fits. */
  grow({ bytes, allocated, files }: StoredSize): void {
    if (this.#isOpen) this.#add({ bytes, allocated, files });
  }

  /**
   * Converts a part of the reserved size to usage. A negative size, of a tile that replaced a larger tile, changes
   * nothing.
   */
  count({ bytes, allocated, files }: StoredSize): void {
    const counted = {
      bytes: clamp(bytes, this.#size.bytes),
      allocated: clamp(allocated, this.#size.allocated),
      files: clamp(files, this.#size.files),
    };
    if (counted.bytes > 0 || counted.allocated > 0 || counted.files > 0) this.#add(minus(counted));
  }

  /** Releases the reserved size. A second release does nothing. */
  release(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#add(minus(this.#size));
  }

  #add(by: StoredSize): void {
    const { bytes, allocated, files } = this.#size;
    this.#size = { bytes: bytes + by.bytes, allocated: allocated + by.allocated, files: files + by.files };
    this.#changed(this, by);
  }
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, most));
const minus = ({ bytes, allocated, files }: StoredSize): StoredSize => ({
  bytes: -bytes,
  allocated: -allocated,
  files: -files,
});

/** Sums of reserved sizes. */
interface Reserved {
  bytes: bigint;
  allocated: bigint;
  files: number;
}

const NOTHING: Readonly<Reserved> = { bytes: 0n, allocated: 0n, files: 0 };

/** All open reservations, with their sums. In memory only, because a process that has ended writes nothing more. */
export class Reservations {
  readonly #open = new Map<number, Reservation>();
  /** Contains no entry for a layer without a reserved size. */
  readonly #byLayer = new Map<LayerName, Reserved>();
  readonly #all: Reserved = { ...NOTHING };
  #next = 1;
  #waiting: (() => void)[] = [];

  /** Returns a new reservation that reserves nothing yet. */
  begin(layer: LayerName, writer: Writer): Reservation {
    const reservation = new Reservation(this.#next++, layer, writer, (...change) => this.#changed(...change));
    this.#open.set(reservation.id, reservation);
    return reservation;
  }

  /** Returns an open reservation. Undefined if it was released. */
  find(id: number): Reservation | undefined {
    return this.#open.get(id);
  }

  /** Returns the sum of reserved sizes for one layer, or (undefined) for all layers. */
  sumOf(layer: LayerName | undefined): Readonly<Reserved> {
    return layer === undefined ? this.#all : (this.#byLayer.get(layer) ?? NOTHING);
  }

  /** Returns the sum of reserved sizes for the chosen layers, or (undefined) for all layers. */
  sumWhere(isChosen: ((layer: LayerName) => boolean) | undefined): Readonly<Reserved> {
    if (isChosen === undefined) return this.#all;
    const sum = { ...NOTHING };
    for (const [layer, { bytes, allocated, files }] of this.#byLayer) {
      if (!isChosen(layer)) continue;
      sum.bytes += bytes;
      sum.allocated += allocated;
      sum.files += files;
    }
    return sum;
  }

  /** Waits until the reserved size of any writer decreases. */
  less(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #changed({ id, layer, isOpen }: Reservation, { bytes, allocated, files }: StoredSize): void {
    const ofLayer = this.#byLayer.get(layer) ?? { ...NOTHING };
    for (const sum of [this.#all, ofLayer]) {
      sum.bytes += BigInt(bytes);
      sum.allocated += BigInt(allocated);
      sum.files += files;
    }
    if (ofLayer.bytes === 0n && ofLayer.allocated === 0n && ofLayer.files === 0) this.#byLayer.delete(layer);
    else this.#byLayer.set(layer, ofLayer);
    if (!isOpen) this.#open.delete(id);
    else if (bytes >= 0 && allocated >= 0 && files >= 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
