/** The fields of a tile that all walks have. */
interface LayerTile {
  readonly layer: string;
}

type Covers<T> = (tile: T) => boolean;

/** A truncation, or another operation after which no older version of some tiles is served. */
export interface Floor {
  readonly version: number;
  /** When it was sent and answered, in the order of the book; infinite: there is no answer yet. */
  readonly sent: number;
  answered: number;
}

interface Entry<T> extends Floor {
  readonly layer: string;
  readonly covers: Covers<T>;
  readonly except: Undo<T>[];
}

/** The versions that an undo may have restored. */
export interface Undo<T> {
  readonly covers: Covers<T>;
  readonly layer: string;
  /** False: it was refused, and has changed nothing. */
  isPossible: boolean;
}

/** The oldest version of the map that may be served for each tile, by the acknowledged operations. */
export class Floors<T extends LayerTile> {
  #clock = 0;
  readonly #entries: Entry<T>[] = [];
  readonly #undos: Undo<T>[] = [];

  /** Before the request is sent: after its answer no version older than `version` is served of its tiles. */
  send(layer: string, version: number, covers: Covers<T>): Floor {
    const entry = { layer, version, covers, sent: ++this.#clock, answered: Number.POSITIVE_INFINITY, except: [] };
    this.#entries.push(entry);
    return entry;
  }

  answered(floor: Floor): void {
    floor.answered = Math.min(floor.answered, ++this.#clock);
  }

  /**
   * Before an undo is sent, and again when it is answered: after it the tiles of the truncation are restored. Later
   * truncations of these tiles, also truncations in progress, no longer apply.
   */
  undo(truncation: Floor, known?: Undo<T>): Undo<T> | undefined {
    const undone = this.#entries.find((entry) => entry === truncation);
    if (undone === undefined) return undefined;
    const undo: Undo<T> = known ?? { covers: undone.covers, layer: undone.layer, isPossible: true };
    if (known === undefined) this.#undos.push(undo);
    for (const entry of this.#entries)
      if (entry.layer === undone.layer && (entry === undone || entry.answered > undone.sent))
        if (!entry.except.includes(undo)) entry.except.push(undo);
    return undo;
  }

  /** How often something of a layer may have been brought back. */
  undosOf(layer: string): number {
    return this.#undos.filter((undo) => undo.layer === layer && undo.isPossible).length;
  }

  of(tile: T): number {
    let oldest = 0;
    for (let n = this.#entries.length - 1; n >= 0; n--) {
      const entry = this.#entries[n];
      if (entry === undefined || entry.version <= oldest || entry.layer !== tile.layer) continue;
      if (entry.answered === Number.POSITIVE_INFINITY || !entry.covers(tile)) continue;
      if (!entry.except.some((undo) => undo.isPossible && undo.covers(tile))) oldest = entry.version;
    }
    return oldest;
  }
}
