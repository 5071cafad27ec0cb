import type { TileIndex, TileRect } from "../../grid/grid-set.ts";
import type { Layer } from "../../layer/layer.ts";
import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import { blockOf, cellOf, cellRectOf } from "../../ledger/blocks/block.ts";
import type { OpenCells } from "../../ledger/cells/cell-writers.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { RepeatedLog } from "../../lib/process/repeated-log.ts";
import { Slices } from "../../lib/process/slices.ts";
import { type Refusal, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { Disks } from "../../quota/disk/disks.ts";
import type { Enforcer } from "../../quota/enforcer.ts";
import type { Reservation, Reservations } from "../../quota/reservations.ts";
import type { StoredSize } from "../../render/admission.ts";
import { keepTiles, type StoredTiles } from "../../render/renderer/store-tiles.ts";
import type { LedgerTruncations } from "../../truncation/truncations.ts";
import type { BuildContext } from "../coordinator-parts.ts";
import type { UserWrites } from "../user-writes.ts";

/** The treatment of a tile that is already stored. */
export const EXISTING = ["replace", "keep"] as const;
export type Existing = (typeof EXISTING)[number];

/** Tiles that did not come from the upstream of their layer, such as tiles of an archive. */
export interface ImportRequest {
  readonly tileSet: TileSet;
  /** The values of all filters of the layer. Empty for the defaults. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Tiles inside the coverage of the layer, in its format. */
  readonly tiles: readonly ImportedTile[];
  readonly existing: Existing;
}

export interface ImportedTile extends TileIndex {
  readonly bytes: Uint8Array;
}

/** The number of tiles that an import has stored, that had the same bytes before, and that it has left as they were. */
export interface ImportCounts {
  readonly stored: number;
  readonly unchanged: number;
  readonly kept: number;
}

/** Never fires: an import stores the tiles that it was sent, even if its client has disconnected. */
const TO_THE_END = new AbortController().signal;

export interface ImportServiceParts
  extends Pick<BuildContext, "ledger" | "store" | "renders" | "catalogue" | "clock" | "closing" | "state"> {
  readonly log: Logger;
  readonly reservations: Reservations;
  readonly enforcer: Pick<Enforcer, "tryReserve">;
  readonly disks: Pick<Disks, "of">;
  readonly truncations: Pick<LedgerTruncations, "withoutTruncation">;
  readonly userWrites: Pick<UserWrites, "wrote">;
  /** Returns a promise that resolves when a layer has its new store. Undefined if the layer is not moving. */
  readonly move: (layer: LayerName) => Promise<void> | undefined;
}

/** Tiles that are stored before the time slice is checked. With `store.fsync` each takes milliseconds. */
const TILES_AT_ONCE = 8;

/** The tiles of one cell. */
interface CellTiles {
  readonly rect: TileRect;
  readonly tiles: ImportedTile[];
}

/**
 * Stores tiles that a client sends. They count in the ledger and in the quotas as rendered tiles do. An import evicts
 * nothing: it would evict the tiles that it has just stored.
 */
export class ImportService {
  readonly #parts: ImportServiceParts;
  readonly #imported: RepeatedLog;

  constructor(parts: ImportServiceParts) {
    this.#parts = parts;
    this.#imported = new RepeatedLog((fields) => parts.log.info("tiles were imported", fields));
    parts.closing.addEventListener("abort", () => this.#imported.close(), { once: true });
  }

  /** Stores tiles. Tiles that were stored before a refusal stay, so the client may repeat the request. */
  async importTiles(request: ImportRequest): Promise<Result<ImportCounts, Refusal>> {
    const { truncations, move } = this.#parts;
    const { layer } = request.tileSet;
    for (;;) {
      await move(layer);
      // A truncation changes directories and records, so it runs entirely before or after the import of these tiles.
      const imported = await truncations.withoutTruncation(layer, async () =>
        // A moving layer waits outside of this turn, because the move needs the turn. Its old store is no longer
        // copied.
        move(layer) === undefined ? await this.#import(request) : undefined,
      );
      if (imported !== undefined) return imported;
    }
  }

  async #import(request: ImportRequest): Promise<Result<ImportCounts, Refusal>> {
    const { catalogue, reservations } = this.#parts;
    const { tileSet, tiles } = request;
    const layer = catalogue().layers.get(tileSet.layer);
    if (layer === undefined) return refuse(unknownLayer(tileSet.layer));
    const wanted: ImportedTile[] = [];
    for (const tile of tiles)
      if (request.existing === "replace" || !(await this.#isStored(tileSet, tile))) wanted.push(tile);
    const kept = tiles.length - wanted.length;
    if (wanted.length === 0) return ok({ stored: 0, unchanged: 0, kept });
    const reservation = reservations.begin(tileSet.layer, "user");
    try {
      const refused = await this.#reserve(reservation, tileSet, wanted);
      if (refused !== undefined) return refuse(refused);
      const written = await this.#write({ ...request, tiles: wanted }, layer, reservation);
      if (!written.ok) return written;
      const counts = { ...written.value, kept };
      if (counts.stored > 0) this.#imported.add(layer.name, { layer: layer.name }, counts.stored);
      return ok(counts);
    } finally {
      reservation.release();
    }
  }

  async #isStored(tileSet: TileSet, { x, y, z }: TileIndex): Promise<boolean> {
    return (await this.#parts.store.stat({ tileSet, x, y, z })) !== undefined;
  }

  /**
   * Reserves the bytes by which the store grows. Returns why they cannot be reserved. Undefined if they are reserved.
   */
  async #reserve(
    reservation: Reservation,
    tileSet: TileSet,
    tiles: readonly ImportedTile[],
  ): Promise<Refusal | undefined> {
    const { store, enforcer, disks } = this.#parts;
    const allocated = (size: number): number => store.allocated(size, tileSet.layer);
    const growth = { bytes: 0, allocated: 0, files: 0 };
    for (const { bytes, ...at } of tiles) {
      const before = (await store.stat({ tileSet, x: at.x, y: at.y, z: at.z }))?.bytes;
      growth.bytes += Math.max(0, bytes.byteLength - (before ?? 0));
      growth.allocated += Math.max(0, allocated(bytes.byteLength) - allocated(before ?? 0));
      if (before === undefined) growth.files++;
    }
    const size: StoredSize = growth;
    if (enforcer.tryReserve(reservation, size)) return undefined;
    // The space of the disk may be unknown, or have been read some time ago.
    const disk = disks.of(tileSet.layer);
    const space = await disk.fresh();
    if (enforcer.tryReserve(reservation, size)) return undefined;
    if (space === undefined)
      return { code: "unavailable", message: `The store cannot be written at present: ${disk.reason}.` };
    return {
      code: "disk_full",
      message: `There is no room for ${growth.bytes} more bytes: the disk or a disk quota is full.`,
      details: ["An import evicts no tiles. Raise the quota or truncate tiles, then import again."],
    };
  }

  /** Writes tiles cell by cell, and counts each tile. */
  async #write(
    { tileSet, parameters, tiles }: ImportRequest,
    layer: Layer,
    reservation: Reservation,
  ): Promise<Result<Pick<ImportCounts, "stored" | "unchanged">, Refusal>> {
    const { ledger, state } = this.#parts;
    const cells = cellsOf(tiles);
    const opened = ledger.writers.openAll(cells.map(({ rect }) => ({ tileSet, rect })));
    const counts = { stored: 0, unchanged: 0 };
    const slices = new Slices(this.#parts.clock);
    try {
      if (opened.some(({ mustCommit }) => mustCommit)) await state.marksCommitted(tileSet.layer);
      for (const [i, cell] of cells.entries()) {
        for (let first = 0; first < cell.tiles.length; first += TILES_AT_ONCE) {
          const part = { rect: cell.rect, tiles: cell.tiles.slice(first, first + TILES_AT_ONCE) };
          const kept = await this.#keep(part, { tileSet, parameters, layer, reservation, opened: opened[i] });
          for (const { unchanged } of kept.written) counts[unchanged === undefined ? "stored" : "unchanged"]++;
          const failed = failureOf(kept);
          if (failed !== undefined) return refuse(failed);
          if (slices.isOver) await slices.next();
        }
      }
      return ok(counts);
    } finally {
      for (const open of opened) ledger.writers.close(open);
    }
  }

  /** Stores tiles of one cell, and reports them to the ledger and the memory tiers in the same turn. */
  async #keep(
    { rect, tiles }: CellTiles,
    about: {
      readonly tileSet: TileSet;
      readonly parameters: Readonly<Record<string, string>>;
      readonly layer: Layer;
      readonly reservation: Reservation;
      readonly opened: OpenCells | undefined;
    },
  ): Promise<StoredTiles> {
    const { ledger, store, renders, userWrites, catalogue } = this.#parts;
    const { tileSet, parameters, layer, reservation, opened } = about;
    const stored = await keepTiles(
      { tileSet, parameters, rect, wanted: null },
      tiles.map(({ x, y, bytes }) => ({ x, y, bytes, keep: true })),
      { layer, store, isCurrent: () => catalogue().layers.has(layer.name) },
      TO_THE_END,
    );
    userWrites.wrote(tileSet, stored.written, reservation.id);
    for (const { x, y, z, unchanged } of stored.written)
      if (unchanged !== "left") renders.evicted(tileSet, { z, minX: x, minY: y, maxX: x, maxY: y });
    // A renderer may write to the same cell. It is then unknown whether the renderer or the import wrote last, so the
    // cell is counted again. It is also counted again if a put may have arrived without a response.
    const isUncertain = stored.isUncertain === true;
    if (opened !== undefined && (isUncertain || ledger.writers.isShared(opened))) ledger.writers.lost(opened);
    return stored;
  }
}

/** Returns why not all tiles were stored. Undefined if all were. */
function failureOf({ stale, storeFailure }: StoredTiles): Refusal | undefined {
  if (storeFailure?.code === "full")
    return { code: "disk_full", message: `The store is full: ${storeFailure.message}.` };
  if (storeFailure !== undefined)
    return { code: "unavailable", message: `The store cannot be written at present: ${storeFailure.message}.` };
  return stale
    ? { code: "unavailable", message: "The layer has changed since the import began; import again." }
    : undefined;
}

/** Groups tiles by cells. */
function cellsOf(tiles: readonly ImportedTile[]): readonly CellTiles[] {
  const cells = new Map<string, CellTiles>();
  for (const tile of tiles) {
    const [block, cell] = [{ z: tile.z, bx: blockOf(tile.x), by: blockOf(tile.y) }, cellOf(tile.x, tile.y)];
    const key = `${block.z}/${block.bx}/${block.by}/${cell}`;
    const known = cells.get(key) ?? { rect: cellRectOf(block, cell), tiles: [] };
    cells.set(key, known);
    known.tiles.push(tile);
  }
  return [...cells.values()];
}
