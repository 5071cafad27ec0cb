import type { TileIndex, TileRect } from "../grid/grid-set.ts";
import type { LayerName, TileSet } from "../layer/tile-set.ts";
import type { OpenCells } from "../ledger/cells/cell-writers.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { StateWriter } from "../ledger/state-writer.ts";
import type { Disks } from "../quota/disk/disks.ts";
import type { Enforcer } from "../quota/enforcer.ts";
import type { Reservation, Reservations } from "../quota/reservations.ts";
import { type Admission, type Leave, NO_SIZE, type StoredSize } from "../render/admission.ts";
import type { LedgerAccess } from "../render/dispatch/render-reports.ts";
import { type FilledMetatile, tileSetsOf, type WrittenTile } from "../render/render-order.ts";
import type { TileStore } from "../store/tile-store.ts";

export interface UserWritesParts {
  readonly ledger: Pick<Ledger, "writers" | "missed">;
  readonly reservations: Reservations;
  /** Adds to a reservation, after evicting tiles that exceed the quota. */
  readonly admit: (reservation: Reservation, size: StoredSize) => Promise<Admission>;
  readonly enforcer: Pick<Enforcer, "reserveAhead" | "notStored">;
  readonly store: Pick<TileStore, "allocated">;
  readonly disks: Pick<Disks, "wrote">;
  readonly state: Pick<StateWriter, "marksCommitted" | "fault">;
  readonly storeFault: (layer: LayerName, reason: string) => void;
}

interface OpenedWrite {
  readonly cells: readonly OpenCells[];
  readonly reservation: Reservation;
}

/**
 * The space that is reserved for the missed tile when its cells are opened. With it the renderer stores the tile at
 * once, without another request to the coordinator while the user waits.
 */
const MISSED_TILE: StoredSize = { bytes: 64 * 1024, allocated: 64 * 1024, files: 1 };

/**
 * Accounts for writes in the ledger. For a user's miss it opens the cells and reserves space for the missed tile while
 * the upstream renders. It reserves space for the other tiles when their sizes are known, counts the written tiles, and
 * closes the cells and the reservation together. For a job's render it reserves bytes and counts the written tiles. The
 * job opens the cells and ends the reservation.
 */
export class UserWrites implements LedgerAccess {
  readonly #parts: UserWritesParts;
  /** Open writes by the id of their reservation. */
  readonly #opened = new Map<number, OpenedWrite>();

  constructor(parts: UserWritesParts) {
    this.#parts = parts;
  }

  /**
   * Opens the cells of a metatile and waits until their marks are committed. `missed` is the tile that a reader did not
   * find.
   * @returns the write's reservation, with space for the missed tile if there is ample space; undefined if the tiles
   * must not be stored
   */
  async open(order: FilledMetatile, missed: TileIndex): Promise<Leave | undefined> {
    const { ledger, reservations, admit, state, enforcer } = this.#parts;
    const cells: OpenCells[] = [];
    const reservation = reservations.begin(order.tileSet.layer, "user");
    const giveUp = (): undefined => {
      for (const open of cells) ledger.writers.close(open);
      reservation.release();
      enforcer.notStored++;
    };
    try {
      ledger.missed(order.tileSet, missed);
      if ((await admit(reservation, NO_SIZE)).kind !== "store") return giveUp();
      cells.push(...ledger.writers.openAll(tileSetsOf(order).map((tileSet) => ({ tileSet, rect: order.rect }))));
      if (cells.some(({ mustCommit }) => mustCommit)) await state.marksCommitted(order.tileSet.layer);
    } catch (error) {
      // A fault of the database must not fail the render: the user gets the tile, and it is not stored.
      state.fault(error);
      return giveUp();
    }
    this.#opened.set(reservation.id, { cells, reservation });
    return { id: reservation.id, ...(enforcer.reserveAhead(reservation, MISSED_TILE) ? MISSED_TILE : NO_SIZE) };
  }

  /** Records that the store could not store a rendered metatile. */
  notStored(layer: LayerName, reason: string, who: "user" | "job"): void {
    if (who === "user") this.#parts.enforcer.notStored++;
    this.#parts.storeFault(layer, reason);
  }

  /** Adds to the reservation of a user's or a job's write. Returns false if the tiles must not be stored. */
  async reserve(id: number, more: StoredSize): Promise<boolean> {
    const { reservations, admit, enforcer } = this.#parts;
    const reservation = reservations.find(id);
    if (reservation === undefined) return false;
    const isStored = (await admit(reservation, more)).kind === "store";
    if (!isStored && reservation.writer === "user") enforcer.notStored++;
    return isStored;
  }

  /** Counts written tiles. `id` is the reservation under which they were written. */
  wrote(tileSet: TileSet, tiles: readonly WrittenTile[], id: number | undefined): void {
    const { ledger, reservations, store, disks } = this.#parts;
    const size = { bytes: 0, allocated: 0, files: 0 };
    for (const tile of tiles) {
      ledger.writers.wrote(tileSet, tile);
      size.bytes += tile.bytes - (tile.replaced ?? 0);
      size.allocated += store.allocated(tile.bytes, tileSet.layer) - store.allocated(tile.replaced ?? 0, tileSet.layer);
      if (tile.replaced === undefined) size.files++;
    }
    disks.wrote(tileSet.layer, size);
    if (id !== undefined) reservations.find(id)?.count(size);
  }

  closeCells(id: number): void {
    const opened = this.#opened.get(id);
    if (opened === undefined) return;
    this.#opened.delete(id);
    for (const cells of opened.cells) this.#parts.ledger.writers.close(cells);
    opened.reservation.release();
  }

  /** Makes the cells of a writer be counted again that has died and may not have reported all its tiles. */
  lost(tileSet: TileSet, rect: TileRect): void {
    const { ledger } = this.#parts;
    const open = ledger.writers.open(tileSet, rect);
    ledger.writers.lost(open);
    ledger.writers.close(open);
  }
}
