import type { GridSetName, Zoom } from "../../grid/grid-set.ts";
import { cellPath } from "../../layer/cells.ts";
import { type FormatName, type LayerName, type TileSet, tileSetKey } from "../../layer/tile-set.ts";
import { cellOfBlock } from "../../ledger/blocks/block.ts";
import type { CellWriters } from "../../ledger/cells/cell-writers.ts";
import type { CellPosition } from "../../ledger/cells/cells.ts";
import type { Clock, Timer } from "../../lib/time/clock.ts";
import type { TileStore } from "../../store/tile-store.ts";

/**
 * The cells of one level of a tile set that have changed: a tile was stored or removed, has failed, or is being
 * rendered.
 */
export interface TileChange {
  readonly layer: LayerName;
  readonly gridSet: GridSetName;
  readonly format: FormatName;
  /** The values of the parameters; empty for the defaults. Null if the store does not have them yet. */
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly z: Zoom;
  /** Cells of 16 x 16 tiles, counted from the lower left. Null if any cell of the level may have changed. */
  readonly cells: readonly (readonly [cx: number, cy: number])[] | null;
}

/** The time for which changes are collected before they are returned. */
const COLLECT_MS = 500;
/** After this time without a caller, changes are no longer collected. */
const IDLE_MS = 3_000;
/** The most cells of one level in one result. */
export const MOST_CELLS = 2_000;
/** The most levels of tile sets in one result. The changes of further levels are lost. */
export const MOST_LEVELS = 500;

export interface TileChangesParts {
  readonly writers: Pick<CellWriters, "observe">;
  readonly store: Pick<TileStore, "parametersOf">;
  readonly clock: Clock;
}

interface Level {
  readonly tileSet: TileSet;
  readonly z: Zoom;
  /** The changed cells by their key. Undefined if there are too many. */
  cells: Map<string, readonly [number, number]> | undefined;
}

/** Collects the cells that writers open and close, as long as a client reads the changes. */
export class TileChanges {
  readonly #parts: TileChangesParts;
  #levels = new Map<string, Level>();
  readonly #waiting = new Set<(changes: readonly TileChange[]) => void>();
  #collecting: Timer | undefined;
  #idle: Timer | undefined;

  constructor(parts: TileChangesParts) {
    this.#parts = parts;
  }

  /**
   * Waits for a change, collects changes for half a second, and returns them. Returns no changes if the signal fires.
   * The next call returns the changes between both calls. Several waiting callers get the same result.
   */
  tileChanges(signal: AbortSignal): Promise<readonly TileChange[]> {
    this.#idle?.cancel();
    this.#parts.writers.observe((cells) => this.#changed(cells));
    if (signal.aborted) return Promise.resolve([]);
    return new Promise((resolve) => {
      const answer = (changes: readonly TileChange[]): void => {
        signal.removeEventListener("abort", cancel);
        this.#waiting.delete(answer);
        if (this.#waiting.size === 0) this.#stopLater();
        resolve(changes);
      };
      const cancel = (): void => answer([]);
      signal.addEventListener("abort", cancel, { once: true });
      this.#waiting.add(answer);
      if (this.#levels.size > 0) this.#answerLater();
    });
  }

  #changed(cells: readonly CellPosition[]): void {
    for (const position of cells) {
      const { tileSet, z, cell } = position;
      const key = `${tileSetKey(tileSet)}\n${z}`;
      let level = this.#levels.get(key);
      if (level === undefined) {
        if (this.#levels.size >= MOST_LEVELS) continue;
        level = { tileSet, z, cells: new Map() };
        this.#levels.set(key, level);
      }
      const index = cellOfBlock(position, cell);
      level.cells?.set(cellPath(index), [index.column, index.row]);
      if (level.cells !== undefined && level.cells.size > MOST_CELLS) level.cells = undefined;
    }
    this.#answerLater();
  }

  #answerLater(): void {
    this.#collecting ??= this.#parts.clock
      .after(COLLECT_MS, () => {
        this.#collecting = undefined;
        if (this.#waiting.size === 0) return;
        const changes = [...this.#levels.values()].map((level) => this.#changeOf(level));
        this.#levels = new Map();
        for (const answer of [...this.#waiting]) answer(changes);
      })
      .unref();
  }

  #changeOf({ tileSet, z, cells }: Level): TileChange {
    const { layer, gridSet, format, parametersId } = tileSet;
    const parameters = parametersId === "" ? {} : (this.#parts.store.parametersOf(layer, parametersId) ?? null);
    return { layer, gridSet, format, parameters, z, cells: cells === undefined ? null : [...cells.values()] };
  }

  #stopLater(): void {
    this.#idle?.cancel();
    this.#idle = this.#parts.clock
      .after(IDLE_MS, () => {
        this.#parts.writers.observe(undefined);
        this.#levels = new Map();
      })
      .unref();
  }
}
