import type { TileIndex, TileRect } from "../../grid/grid-set.ts";
import { indexInSteps } from "../../grid/selection.ts";
import { isSelected, type TileSelection } from "../../grid/tile-selection.ts";
import { isNoTileMark } from "../../layer/no-tile-mark.ts";
import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import { Slices } from "../../lib/process/slices.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { JobRequest } from "../../plan/job/job-request.ts";
import { StoreError, type TileStore } from "../../store/tile-store.ts";
import type { CountedParts } from "../coordinator-parts.ts";

/** The tiles of one tile set to export, and the limits of one page of them. */
export interface ExportPageRequest {
  readonly tileSet: TileSet;
  /** The rectangles to walk, ascending by level, and the tiles selected inside them. */
  readonly rects: readonly TileRect[];
  readonly selection: JobRequest["selection"];
  /** The last tile of the previous page. Undefined for the first page. */
  readonly after: TileIndex | undefined;
  readonly mostTiles: number;
  /** A page ends with the tile that reaches this size. */
  readonly mostBytes: number;
}

/** Stored tiles, unchanged, in an order that is the same for each request. */
export interface ExportPage {
  readonly tiles: readonly ExportedTile[];
  /**
   * The number of tiles that the ledger has and the store cannot read: another program removed them, or they are
   * damaged.
   */
  readonly missing: number;
  /** The last tile that this page has examined, the start of the next page. Null if this page is the last. */
  readonly next: TileIndex | null;
  /** False while the layer is still being counted: some of its tiles may be missing. */
  readonly complete: boolean;
}

export interface ExportedTile extends TileIndex {
  readonly bytes: Uint8Array;
}

export interface ExportServiceParts extends Pick<CountedParts, "ledger" | "recounted"> {
  readonly store: Pick<TileStore, "get">;
  /** Returns whether all tiles of a layer have been counted. */
  readonly isCounted: (layer: LayerName) => boolean;
}

/** Reads stored tiles page by page. Renders nothing, and does not count as a use of the tiles. */
export class ExportService {
  readonly #parts: ExportServiceParts;

  constructor(parts: ExportServiceParts) {
    this.#parts = parts;
  }

  /** Returns one page. @throws the reason of the signal */
  async exportTiles(request: ExportPageRequest, signal: AbortSignal): Promise<Result<ExportPage, Refusal>> {
    await this.#parts.recounted();
    const slices = new Slices(this.#parts.ledger.clock, signal);
    const selection = request.selection === undefined ? undefined : await slices.run(indexInSteps(request.selection));
    const page = new Page(request);
    const complete = this.#parts.isCounted(request.tileSet.layer);
    try {
      for (const tile of this.#storedTiles(request, selection)) {
        if (slices.isOver) await slices.next();
        if (tile === undefined) continue;
        page.add(tile, await this.#read(request.tileSet, tile));
        if (page.isFull) return ok({ ...page.content, next: tile, complete });
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return refuse({ code: "unavailable", message: `The store cannot be read at present: ${error.message}.` });
    }
    return ok({ ...page.content, next: null, complete });
  }

  /** Yields the stored tiles after `after`. Yields undefined for a cell or a tile that is not exported. */
  *#storedTiles(
    { tileSet, rects, after }: ExportPageRequest,
    selection: TileSelection | undefined,
  ): Generator<TileIndex | undefined> {
    const { ledger } = this.#parts;
    for (const rect of rects) {
      const { z } = rect;
      if (after !== undefined && z < after.z) continue;
      const from = after?.z === z ? after : undefined;
      for (const cell of ledger.storedCellsFrom(tileSet, rect, from ?? { x: rect.minX, y: rect.minY })) {
        const isFirst = from !== undefined && holds(cell.rect, from);
        // Reads the tiles of a cell in one turn, because the block may leave the memory.
        for (const { x, y } of [...cell.tilesInRect()]) {
          const isBefore = isFirst && (y < from.y || (y === from.y && x <= from.x));
          if (!isBefore && (selection === undefined || isSelected(selection, z, x, y))) yield { x, y, z };
        }
        yield undefined;
      }
    }
  }

  /** Returns the bytes of a tile. Undefined if the store lacks the tile, or the tile is damaged. @throws StoreError */
  async #read(tileSet: TileSet, { x, y, z }: TileIndex): Promise<Uint8Array | undefined> {
    try {
      return (await this.#parts.store.get({ tileSet, x, y, z }))?.bytes;
    } catch (error) {
      if (error instanceof StoreError && error.code === "corrupt") return undefined;
      throw error;
    }
  }
}

const holds = ({ minX, minY, maxX, maxY }: TileRect, { x, y }: TileIndex): boolean =>
  x >= minX && x <= maxX && y >= minY && y <= maxY;

/** The tiles of one answer, up to its limits. */
class Page {
  readonly #limits: Pick<ExportPageRequest, "mostTiles" | "mostBytes">;
  readonly #tiles: ExportedTile[] = [];
  #bytes = 0;
  #missing = 0;
  #marks = 0;

  constructor(limits: Pick<ExportPageRequest, "mostTiles" | "mostBytes">) {
    this.#limits = limits;
  }

  get content() {
    return { tiles: this.#tiles, missing: this.#missing };
  }

  get isFull(): boolean {
    return (
      this.#tiles.length + this.#missing + this.#marks >= this.#limits.mostTiles ||
      this.#bytes >= this.#limits.mostBytes
    );
  }

  add(at: TileIndex, bytes: Uint8Array | undefined): void {
    if (bytes === undefined) {
      this.#missing++;
      return;
    }
    // A mark says that the upstream has no tile here: there is nothing to export.
    if (isNoTileMark(bytes)) {
      this.#marks++;
      return;
    }
    this.#tiles.push({ ...at, bytes });
    this.#bytes += bytes.byteLength;
  }
}
