import { elapsedMs } from "../../lib/time/elapsed.ts";

/** How long a renderer has worked since its start, ms. */
export interface WorkedTimes {
  /**
   * Its event loop did not wait. It works, too, while it waits for the disk of a store, but not while it waits for a
   * processor: another renderer would wait as long.
   */
  readonly activeMs: number;
  /** The processor time of all threads. */
  readonly processorMs: number;
}

/** A renderer that works for more than this part of the time fills its load. */
const SHARE = 0.5;
/** The work above the share that makes the load full, ms: somewhat more than V8 needs to compile the code of a renderer. */
const FULL_MS = 1_500;
/** The shortest time between two questions, ms. */
const ASK_MS = 100;

/** Finds out whether a renderer has worked most of the time for some seconds. A pause empties the load again. */
export class RendererLoad {
  readonly #ask: () => Promise<WorkedTimes | undefined>;
  readonly #now: () => number;
  #levelMs = 0;
  /** The last answer, and when it came. */
  #known: WorkedTimes & { readonly atMs: number };
  #askedMs: number | undefined;
  #tells = true;

  /**
   * @param ask asks the renderer; undefined: it does not know, as one of an older node
   * @param now measures durations, ms
   */
  constructor(ask: () => Promise<WorkedTimes | undefined>, now: () => number = elapsedMs) {
    this.#ask = ask;
    this.#now = now;
    this.#known = { activeMs: 0, processorMs: 0, atMs: now() };
  }

  /** Whether the renderer has worked so much; true also where it does not tell. A renderer that does not answer works. */
  get isFull(): boolean {
    const now = this.#now();
    if (this.#askedMs === undefined && this.#tells && now - this.#known.atMs >= ASK_MS) void this.#look(now);
    const silentMs = this.#askedMs === undefined ? 0 : now - this.#askedMs;
    return !this.#tells || this.#levelMs + silentMs * (1 - SHARE) >= FULL_MS;
  }

  async #look(askedMs: number): Promise<void> {
    this.#askedMs = askedMs;
    try {
      const times = await this.#ask();
      this.#tells = times !== undefined;
      if (times === undefined) return;
      const { activeMs, processorMs, atMs } = this.#known;
      this.#known = { ...times, atMs: this.#now() };
      const workedMs = Math.max(times.activeMs - activeMs, times.processorMs - processorMs);
      this.#levelMs = Math.max(0, this.#levelMs + workedMs - (this.#known.atMs - atMs) * SHARE);
    } catch {
      // The renderer has ended, which the pool is told.
    } finally {
      this.#askedMs = undefined;
    }
  }
}
