import {
  asTileRect,
  asTileX,
  asTileY,
  intersectRects,
  type TileRect,
  type TileX,
  type TileY,
} from "../../grid/grid-set.ts";
import { BAND, bandOf, groupEnd, type MetatileWalk, metatileAt, metatileRow, numberAt } from "../../grid/metatile.ts";
import type { MetatileChoice } from "../../grid/selected-metatiles.ts";
import { type Span, spanFrom, type TileSelection } from "../../grid/tile-selection.ts";
import { BLOCK_SIDE } from "../../layer/tile-set.ts";
import { type Block, blockOf, blockRect } from "./block.ts";
import type { BlockTable } from "./block-table.ts";

/** The number of blocks without tiles that one call examines, because each may have to be read from the database. */
const MOST_LOOKS = 64;

/**
 * Chooses the metatiles of a walk that may have stored tiles. The cost depends on the number of blocks, not on the
 * length of the walk.
 */
export class StoredMetatiles implements MetatileChoice {
  readonly #blocks: BlockTable;
  /** Returns the current id of the tile set, which a truncation changes. Undefined if the tile set has no record. */
  readonly #tileSetId: () => number | undefined;
  readonly #walk: MetatileWalk;

  constructor(blocks: BlockTable, tileSetId: () => number | undefined, walk: MetatileWalk) {
    this.#blocks = blocks;
    this.#tileSetId = tileSetId;
    this.#walk = walk;
  }

  next(n: bigint): bigint {
    const tileSetId = this.#tileSetId();
    const walk = this.#walk;
    if (tileSetId === undefined) return walk.count;
    let from = n;
    for (let looks = 0; from < walk.count && looks < MOST_LOOKS; ) {
      const { band, group } = bandOf(walk, from);
      const found = this.#columnWithTile(tileSetId, band, group, MOST_LOOKS - looks);
      looks += found.looks;
      if (found.column === undefined) {
        from = this.#nextBand(tileSetId, band);
        continue;
      }
      if (found.column > group) from = numberAt(walk, band, found.column);
      const end = groupEnd(walk, band, found.column);
      for (; from < end; from++) if (this.#mayHold(tileSetId, metatileAt(walk, from))) return from;
    }
    return from;
  }

  /**
   * Returns the first group of a band, at or after `group`, that may have stored tiles, or the group where the search
   * ended after `mostLooks` blocks. `column` is undefined if there is no such group.
   */
  #columnWithTile(
    tileSetId: number,
    band: number,
    group: number,
    mostLooks: number,
  ): { readonly column: number | undefined; readonly looks: number } {
    const { rect, factorX } = this.#walk;
    const left = Math.floor(rect.minX / factorX);
    const columnOf = (x: TileX): number => Math.floor((Math.floor(x / factorX) - left) / BAND);
    const rows = this.#rowsOf(band);
    const part = { ...rect, ...rows, minX: Math.max(rect.minX, (left + group * BAND) * factorX) };
    let looks = 0;
    let first: number | undefined;
    for (let by = blockOf(part.minY); by <= blockOf(part.maxY); by++) {
      let bx = blockOf(part.minX);
      for (;;) {
        looks++;
        const row = { tileSetId, z: rect.z, by };
        const next = this.#blocks.rows.firstInRow(row, bx, blockOf(first ?? rect.maxX));
        if (next === undefined) break;
        const found =
          looks < mostLooks
            ? this.#blocks.at({ ...row, bx: next }).firstColumn(asTileRect(part))
            : Math.max(part.minX, next * BLOCK_SIDE);
        if (found !== undefined) {
          if (first === undefined || found < first) first = found;
          break;
        }
        bx = next + 1;
      }
    }
    return { column: first === undefined ? undefined : columnOf(asTileX(first)), looks };
  }

  #rowsOf(band: number): { readonly minY: number; readonly maxY: number } {
    const { rect } = this.#walk;
    const minY = Math.max(rect.minY, metatileRow(this.#walk, band * BAND));
    const maxY = Math.min(rect.maxY, metatileRow(this.#walk, (band + 1) * BAND) - 1);
    return { minY, maxY };
  }

  #nextBand(tileSetId: number, band: number): bigint {
    const { rect, factorY, count } = this.#walk;
    const y = this.#rowsOf(band).maxY + 1;
    const by = y > rect.maxY ? undefined : this.#blocks.rows.nextRow(tileSetId, rect.z, blockOf(y));
    if (by === undefined || by > blockOf(rect.maxY)) return count;
    const row = Math.floor(Math.max(y, by * BLOCK_SIDE) / factorY) - Math.floor(rect.minY / factorY);
    return numberAt(this.#walk, Math.floor(row / BAND), 0);
  }

  #mayHold(tileSetId: number, metatile: TileRect): boolean {
    const rect = intersectRects(metatile, this.#walk.rect);
    if (rect === undefined) return false;
    for (let by = blockOf(rect.minY); by <= blockOf(rect.maxY); by++)
      for (let bx = blockOf(rect.minX); bx <= blockOf(rect.maxX); bx++)
        if (this.#blocks.at({ tileSetId, z: rect.z, bx, by }).firstColumn(rect) !== undefined) return true;
    return false;
  }
}

/**
 * Counts the selected tiles of a rectangle that are stored. For a block whose tiles are all selected, uses the count in
 * the block's database row.
 */
export function* countStored(
  blocks: BlockTable,
  tileSetId: number | undefined,
  rect: TileRect,
  selection: TileSelection | undefined,
): Generator<undefined, bigint> {
  let count = 0n;
  if (tileSetId === undefined) return count;
  for (const row of blocks.rows.rowsIn(tileSetId, rect)) {
    const selected = yield* selectedOf(rect, selection, row.by);
    for (const page of blocks.rows.tilesInRow(row, rect)) {
      for (const block of page) {
        const all = blockRect(block);
        const isWhole = selected.length === BLOCK_SIDE && selected.every(({ spans }) => isAround(spans, all));
        count += BigInt(isWhole ? block.tiles : storedOf(blocks.at(block), all, selected));
        // Loading a block takes as long as reading a page of rows.
        yield;
      }
      yield;
    }
  }
  return count;
}

/** The selected columns of a row of tiles. */
interface SelectedRow {
  readonly y: TileY;
  readonly spans: readonly Span[];
}

function isAround(spans: readonly Span[], { minX, maxX }: TileRect): boolean {
  const span = spans[spanFrom(spans, minX)];
  return span !== undefined && span.first <= minX && span.last >= maxX;
}

/** Returns the number of stored tiles of a block that are selected. */
function storedOf(block: Block, { minX, maxX }: TileRect, selected: readonly SelectedRow[]): number {
  let count = 0;
  for (const { y, spans } of selected) {
    for (let i = spanFrom(spans, minX); i < spans.length; i++) {
      const { first, last } = spans[i] ?? { first: maxX + 1, last: maxX };
      if (first > maxX) break;
      for (let x = Math.max(first, minX); x <= Math.min(last, maxX); x++) if (block.has(asTileX(x), y)) count++;
    }
  }
  return count;
}

/** Returns the selected columns of each row of tiles in a row of blocks. Omits rows without selected tiles. */
function* selectedOf(
  rect: TileRect,
  selection: TileSelection | undefined,
  by: number,
): Generator<undefined, readonly SelectedRow[]> {
  const rows: SelectedRow[] = [];
  const whole = { first: rect.minX, last: rect.maxX };
  const lastY = Math.min(rect.maxY, (by + 1) * BLOCK_SIDE - 1);
  for (let y = Math.max(rect.minY, by * BLOCK_SIDE); y <= lastY; y++) {
    const spans =
      selection === undefined
        ? [whole]
        : (yield* selection.spansInSteps(rect.z, asTileY(y))).flatMap((span) => {
            const cut = { first: Math.max(span.first, whole.first), last: Math.min(span.last, whole.last) };
            return cut.first <= cut.last ? [cut] : [];
          });
    if (spans.length > 0) rows.push({ y: asTileY(y), spans });
    yield;
  }
  return rows;
}
