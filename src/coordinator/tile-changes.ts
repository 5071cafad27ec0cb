import { CELLS_PER_SIDE, type TileSet, tileSetKey } from "../layer/tile-set.ts";
import type { CellWriters } from "../ledger/cells/cell-writers.ts";
import type { CellPosition } from "../ledger/cells/cells.ts";
import type { TileStore } from "../store/tile-store.ts";

/** The cells of one level of a tile set in which tiles were stored or removed, have failed, or began to be rendered. */
export interface TileChange {
  readonly layer: string;
  readonly gridSet: string;
  readonly format: string;
  /** Empty: the defaults. Null: the store does not have them yet. */
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly z: number;
  /** Cells of 16 x 16 tiles, counted from the lower left. Null: any cell of the level. */
  readonly cells: readonly (readonly [cx: number, cy: number])[] | null;
}

/** The least time between two answers. */
const COLLECT_MS = 500;
/** Without a listener for this time, nothing is collected any more. */
const IDLE_MS = 3_000;
/** The most cells of one level in one answer. */
export const MOST_CELLS = 2_000;
/** The most levels of tile sets in one answer. The changes of further levels are lost. */
export const MOST_LEVELS = 500;

export interface TileChangesParts {
  readonly writers: Pick<CellWriters, "observe">;
  readonly store: Pick<TileStore, "parametersOf">;
}

interface Level {
  readonly tileSet: TileSet;
  readonly z: number;
  /** The changed cells, by their text; undefined: too many cells. */
  cells: Map<string, readonly [number, number]> | undefined;
}

/** Collects the cells that writers open and close, while a client reads these changes. */
export class TileChanges {
  readonly #parts: TileChangesParts;
  #levels = new Map<string, Level>();
  readonly #waiting = new Set<(changes: readonly TileChange[]) => void>();
  #collecting: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: TileChangesParts) {
    this.#parts = parts;
  }

  /**
   * Waits for changes, and returns those of half a second. Returns none when the signal fires. Changes between two
   * calls are in the second answer. Several callers that wait get the same answer.
   */
  tileChanges(signal: AbortSignal): Promise<readonly TileChange[]> {
    clearTimeout(this.#idle);
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
    for (const { tileSet, z, bx, by, cell } of cells) {
      const key = `${tileSetKey(tileSet)}\n${z}`;
      let level = this.#levels.get(key);
      if (level === undefined) {
        if (this.#levels.size >= MOST_LEVELS) continue;
        level = { tileSet, z, cells: new Map() };
        this.#levels.set(key, level);
      }
      const cx = bx * CELLS_PER_SIDE + (cell % CELLS_PER_SIDE);
      const cy = by * CELLS_PER_SIDE + Math.floor(cell / CELLS_PER_SIDE);
      level.cells?.set(`${cx}/${cy}`, [cx, cy]);
      if (level.cells !== undefined && level.cells.size > MOST_CELLS) level.cells = undefined;
    }
    this.#answerLater();
  }

  #answerLater(): void {
    this.#collecting ??= setTimeout(() => {
      this.#collecting = undefined;
      if (this.#waiting.size === 0) return;
      const changes = [...this.#levels.values()].map((level) => this.#changeOf(level));
      this.#levels = new Map();
      for (const answer of [...this.#waiting]) answer(changes);
    }, COLLECT_MS).unref();
  }

  #changeOf({ tileSet, z, cells }: Level): TileChange {
    const { layer, gridSet, format, parametersId } = tileSet;
    const parameters = parametersId === "" ? {} : (this.#parts.store.parametersOf(layer, parametersId) ?? null);
    return { layer, gridSet, format, parameters, z, cells: cells === undefined ? null : [...cells.values()] };
  }

  #stopLater(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#parts.writers.observe(undefined);
      this.#levels = new Map();
    }, IDLE_MS).unref();
  }
}
