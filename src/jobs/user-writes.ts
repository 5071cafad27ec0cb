import type { Admission } from "../cache/admission.ts";
import { type FilledMetatile, tileSetsOf, type WrittenTile } from "../cache/draw.ts";
import type { TileIndex, TileRect } from "../grid/grid-set.ts";
import type { Ledger, OpenCells } from "../ledger/ledger.ts";
import type { TileSet } from "../tile/tile-set.ts";

export interface UserWritesParts {
  readonly ledger: Ledger;
  readonly admit: (layer: string) => Admission;
  readonly marksCommitted: () => Promise<void>;
  /** A tile was drawn for a user and cannot be kept. */
  readonly notStored: () => void;
  readonly storeFault: (layer: string, reason: string) => void;
  readonly fault: (error: unknown) => void;
}

/** The ledger's side of a user's miss: cells are opened, what was written is told, cells are closed. */
export class UserWrites {
  readonly #parts: UserWritesParts;
  readonly #opened = new Map<number, readonly OpenCells[]>();
  #next = 1;

  constructor(parts: UserWritesParts) {
    this.#parts = parts;
  }

  /**
   * Opens the cells of a metatile; answered once their marks are on the disk. The tile at `missed` was not found.
   * Undefined: nothing may be kept.
   */
  async open(order: FilledMetatile, missed: TileIndex): Promise<number | undefined> {
    const { ledger, admit, marksCommitted, notStored, fault } = this.#parts;
    const open: OpenCells[] = [];
    try {
      ledger.missed(order.tileSet, missed);
      if (admit(order.tileSet.layer).kind !== "store") {
        notStored();
        return undefined;
      }
      for (const tileSet of tileSetsOf(order)) open.push(ledger.open(tileSet, order.rect));
      if (open.some(({ mustCommit }) => mustCommit)) await marksCommitted();
    } catch (error) {
      // A user gets the picture whatever the disk says.
      for (const cells of open) ledger.close(cells);
      notStored();
      fault(error);
      return undefined;
    }
    const id = this.#next++;
    this.#opened.set(id, open);
    return id;
  }

  /** A metatile was rendered and the store has not kept it. */
  notStored(layer: string, reason: string, who: "user" | "job"): void {
    if (who === "user") this.#parts.notStored();
    this.#parts.storeFault(layer, reason);
  }

  wrote(tileSet: TileSet, tiles: readonly WrittenTile[]): void {
    for (const tile of tiles) this.#parts.ledger.wrote(tileSet, tile);
  }

  close(id: number): void {
    const open = this.#opened.get(id);
    if (open === undefined) return;
    this.#opened.delete(id);
    for (const cells of open) this.#parts.ledger.close(cells);
  }

  /** A writer died and may have written what it did not tell. */
  lost(tileSet: TileSet, rect: TileRect): void {
    const { ledger } = this.#parts;
    const open = ledger.open(tileSet, rect);
    ledger.lost(open);
    ledger.close(open);
  }
}
