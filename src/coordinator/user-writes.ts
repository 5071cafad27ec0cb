import type { TileIndex, TileRect } from "../grid/grid-set.ts";
import type { TileSet } from "../layer/tile-set.ts";
import type { OpenCells } from "../ledger/cells/cell-writers.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Reservation, Reservations } from "../quota/reservations.ts";
import { type Admission, type Leave, NO_SIZE, type StoredSize } from "../render/admission.ts";
import type { LedgerAccess } from "../render/dispatch/render-reports.ts";
import { type FilledMetatile, tileSetsOf, type WrittenTile } from "../render/render-order.ts";

export interface UserWritesParts {
  readonly ledger: Pick<Ledger, "writers" | "missed">;
  readonly reservations: Reservations;
  /** Adds to a reservation, after evicting what exceeds the quota. */
  readonly admit: (reservation: Reservation, size: StoredSize) => Promise<Admission>;
  /** Adds to a reservation while there is ample space. Returns whether it did. */
  readonly reserveAhead: (reservation: Reservation, size: StoredSize) => boolean;
  /** Returns the bytes that the disk takes for a tile of this size. */
  readonly allocated: (bytes: number, layer: string) => number;
  /** Called after tiles were stored. */
  readonly stored: (layer: string, size: StoredSize) => void;
  readonly marksCommitted: (layer: string) => Promise<void>;
  /** Called when a tile was rendered for a user and cannot be stored. */
  readonly notStored: () => void;
  readonly storeFault: (layer: string, reason: string) => void;
  readonly fault: (error: unknown) => void;
}

interface OpenedWrite {
  readonly cells: readonly OpenCells[];
  readonly reservation: Reservation;
}

/**
 * The space for the tile that the user missed, which is reserved with the cells. The renderer stores that tile without
 * a further question to the coordinator, while the user waits.
 */
const MISSED_TILE: StoredSize = { bytes: 64 * 1024, allocated: 64 * 1024, files: 1 };

/**
 * Accounts writes in the ledger. For a user's miss: opens the cells while the upstream renders, reserves space for the
 * missed tile then and for the others when their sizes are known, counts the written tiles, then closes cells and reservation together. For a
 * job's render: reserves bytes and counts the written tiles; the job opens the cells and ends the reservation.
 */
export class UserWrites implements LedgerAccess {
  readonly #parts: UserWritesParts;
  /** Open writes by the ids of their reservations. */
  readonly #opened = new Map<number, OpenedWrite>();

  constructor(parts: UserWritesParts) {
    this.#parts = parts;
  }

  /**
   * Opens the cells of a metatile and waits until their marks are on the disk. A reader did not find the tile at
   * `missed`.
   * @returns the write's reservation, with space for the missed tile if there is ample space; undefined: the tiles must
   * not be stored
   */
  async open(order: FilledMetatile, missed: TileIndex): Promise<Leave | undefined> {
    const { ledger, reservations, admit, marksCommitted, notStored, fault } = this.#parts;
    const cells: OpenCells[] = [];
    const reservation = reservations.begin(order.tileSet.layer, "user");
    const giveUp = (): undefined => {
      for (const open of cells) ledger.writers.close(open);
      reservation.release();
      notStored();
    };
    try {
      ledger.missed(order.tileSet, missed);
      if ((await admit(reservation, NO_SIZE)).kind !== "store") return giveUp();
      cells.push(...ledger.writers.openAll(tileSetsOf(order).map((tileSet) => ({ tileSet, rect: order.rect }))));
      if (cells.some(({ mustCommit }) => mustCommit)) await marksCommitted(order.tileSet.layer);
    } catch (error) {
      // A fault of the database must not fail the render: the user gets the tile without storing it.
      fault(error);
      return giveUp();
    }
    this.#opened.set(reservation.id, { cells, reservation });
    return { id: reservation.id, ...(this.#parts.reserveAhead(reservation, MISSED_TILE) ? MISSED_TILE : NO_SIZE) };
  }

  /** Records that a metatile was rendered and that the store failed to store it. */
  notStored(layer: string, reason: string, who: "user" | "job"): void {
    if (who === "user") this.#parts.notStored();
    this.#parts.storeFault(layer, reason);
  }

  /** Adds to the reservation of a user's write or of a job's. Returns false when the tiles must not be stored. */
  async reserve(id: number, more: StoredSize): Promise<boolean> {
    const { reservations, admit, notStored } = this.#parts;
    const reservation = reservations.find(id);
    if (reservation === undefined) return false;
    const isStored = (await admit(reservation, more)).kind === "store";
    if (!isStored && reservation.writer === "user") notStored();
    return isStored;
  }

  /** Records written tiles. `id`: the reservation under which they were written. */
  wrote(tileSet: TileSet, tiles: readonly WrittenTile[], id: number | undefined): void {
    const { ledger, reservations, stored, allocated } = this.#parts;
    const size = { bytes: 0, allocated: 0, files: 0 };
    for (const tile of tiles) {
      ledger.writers.wrote(tileSet, tile);
      size.bytes += tile.bytes - (tile.replaced ?? 0);
      size.allocated += allocated(tile.bytes, tileSet.layer) - allocated(tile.replaced ?? 0, tileSet.layer);
      if (tile.replaced === undefined) size.files++;
    }
    stored(tileSet.layer, size);
    if (id !== undefined) reservations.find(id)?.count(size);
  }

  closeCells(id: number): void {
    const opened = this.#opened.get(id);
    if (opened === undefined) return;
    this.#opened.delete(id);
    for (const cells of opened.cells) this.#parts.ledger.writers.close(cells);
    opened.reservation.release();
  }

  /** Puts the cells of a writer in doubt that died and may not have reported all that it wrote. */
  lost(tileSet: TileSet, rect: TileRect): void {
    const { ledger } = this.#parts;
    const open = ledger.writers.open(tileSet, rect);
    ledger.writers.lost(open);
    ledger.writers.close(open);
  }
}
