import { MOST_CELLS, MOST_LEVELS, type TileChange } from "../../../coordinator/coverage/tile-changes.ts";
import type { LayerName } from "../../../layer/tile-set.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { pause } from "../../../lib/time/sleep.ts";

/** The pause before the next request after a failed one. */
const RETRY_MS = 1_000;

/** The most cells that wait for one listener. A further cell is recorded as a change anywhere in its level. */
const MOST_CELLS_KEPT = 10 * MOST_CELLS;

/** The changes that have not been sent to one listener, by level of a tile set. */
export interface TileListener {
  /** Returns the changes since the last call. */
  take(): readonly TileChange[];
  end(): void;
}

/** Requests changes of tiles while there are listeners, and distributes them. */
export class TileChangeFeed {
  readonly #request: (signal: AbortSignal) => Promise<readonly TileChange[]>;
  readonly #wake: () => void;
  readonly #listeners = new Set<(change: TileChange) => void>();
  #requesting: AbortController | undefined;

  /** @param wake called when listeners have new changes */
  constructor(request: (signal: AbortSignal) => Promise<readonly TileChange[]>, wake: () => void) {
    this.#request = request;
    this.#wake = wake;
  }

  /** Starts to collect changes of one layer, or of all layers, for a listener. The caller must call `end`. */
  listen(layer: LayerName | undefined): TileListener {
    let kept = new Map<string, TileChange>();
    let cellsKept = 0;
    const add = (change: TileChange): void => {
      if (layer !== undefined && change.layer !== layer) return;
      const { cells: _, ...level } = change;
      const key = JSON.stringify(level);
      const before = kept.get(key);
      if (before === undefined && kept.size >= MOST_LEVELS) return;
      const both = before === undefined ? change : merged(before, change);
      const cells = cellsKept - cellsOf(before) + cellsOf(both);
      const next = cells > MOST_CELLS_KEPT ? { ...both, cells: null } : both;
      cellsKept += cellsOf(next) - cellsOf(before);
      kept.set(key, next);
    };
    this.#listeners.add(add);
    if (this.#requesting === undefined) {
      this.#requesting = new AbortController();
      void this.#run(this.#requesting.signal);
    }
    return {
      take: () => {
        const changes = [...kept.values()];
        kept = new Map();
        cellsKept = 0;
        return changes;
      },
      end: () => {
        this.#listeners.delete(add);
        if (this.#listeners.size > 0) return;
        this.#requesting?.abort();
        this.#requesting = undefined;
      },
    };
  }

  /** Requests and distributes changes until the signal fires. Never rejects. */
  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let changes: readonly TileChange[];
      try {
        changes = await this.#request(signal);
      } catch {
        // The coordinator has not begun yet, or has ended. Listeners learn of it by other events.
        await pause(machineClock, RETRY_MS, signal);
        continue;
      }
      for (const add of this.#listeners) for (const change of changes) add(change);
      if (changes.length > 0) this.#wake();
    }
  }
}

const cellsOf = (change: TileChange | undefined): number => change?.cells?.length ?? 0;

/** Merges two changes of one level. */
function merged(before: TileChange, { cells }: TileChange): TileChange {
  if (before.cells === null || cells === null || before.cells.length + cells.length > MOST_CELLS)
    return { ...before, cells: null };
  return { ...before, cells: [...before.cells, ...cells] };
}
