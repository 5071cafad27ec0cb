import type { Clock, Timer } from "../../src/lib/time/clock.ts";
import type { Chance } from "../soak/chance.ts";

/** A death of a simulated process in the middle of its work. The product must not survive it, whatever it catches. */
export class ProcessDied extends Error {
  override readonly name = "ProcessDied";
}

interface Event {
  atMs: number;
  /** Events of one time run in the order in which they were scheduled. */
  order: number;
  readonly owner: SimulatedProcess | undefined;
  /** Undefined: cancelled. */
  work: (() => void) | undefined;
}

/** The time, ms, that a reading of a clock takes: work takes time only in this way. */
const READING_MS = 0.01;

/** The events of a simulation in the order of their times. All time in it passes here. */
export class Scheduler {
  readonly chance: Chance;
  #nowMs: number;
  #order = 0;
  readonly #heap: Event[] = [];
  /** The number of events that have run. */
  events = 0;

  constructor(chance: Chance, startMs: number) {
    this.chance = chance;
    this.#nowMs = startMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** A process reads its clock. */
  reading(): number {
    this.#nowMs += READING_MS;
    return this.#nowMs;
  }

  at(delayMs: number, owner: SimulatedProcess | undefined, work: () => void): Event {
    const event = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, owner, work };
    this.#push(event);
    return event;
  }

  /** Runs events until the time has come, or `isOver` returns true. */
  async run(untilMs: number, isOver: () => boolean = () => false): Promise<void> {
    while (!isOver()) {
      const next = this.#heap[0];
      if (next === undefined || next.atMs > untilMs) {
        this.#nowMs = Math.max(this.#nowMs, untilMs);
        return;
      }
      this.#pop();
      const { work, owner } = next;
      if (work === undefined || owner?.isAlive === false) continue;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      if (owner !== undefined && owner.stoppedUntilMs > this.#nowMs) {
        // The events of a stopped process wait, and keep their order.
        next.atMs = owner.stoppedUntilMs;
        next.order = this.#order++;
        this.#push(next);
        continue;
      }
      this.events++;
      try {
        work();
      } catch (error) {
        if (!(error instanceof ProcessDied)) throw error;
      }
      // All promises that are settled run their reactions before the next event.
      await new Promise(setImmediate);
    }
  }

  #isBefore(a: Event, b: Event): boolean {
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let n = heap.length;
    heap.push(event);
    while (n > 0) {
      const up = (n - 1) >> 1;
      const above = heap[up];
      if (above === undefined || !this.#isBefore(event, above)) break;
      heap[n] = above;
      n = up;
    }
    heap[n] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let n = 0;
    for (;;) {
      let down = 2 * n + 1;
      let below = heap[down];
      if (below === undefined) break;
      const right = heap[down + 1];
      if (right !== undefined && this.#isBefore(right, below)) {
        below = right;
        down++;
      }
      if (!this.#isBefore(below, last)) break;
      heap[n] = below;
      n = down;
    }
    heap[n] = last;
  }
}

/** A process or a thread of the simulation. After its death none of its timers, messages and operations has an effect. */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #ended: (() => void)[] = [];
  #isAlive = true;
  /** Until this time the process does nothing: it waits for a processor, or collects garbage. */
  stoppedUntilMs = 0;
  /** The number of operations after which the process dies; undefined: it does not die by itself. */
  diesAfter: number | undefined;

  /** @param aheadMs how far the wall clock of the machine is ahead */
  constructor(name: string, scheduler: Scheduler, aheadMs: () => number) {
    this.name = name;
    this.#scheduler = scheduler;
    this.clock = clockOf(this, scheduler, aheadMs);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  whenEnded(work: () => void): void {
    this.#ended.push(work);
  }

  /** Ends the process at once. */
  die(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    for (const work of this.#ended) work();
  }

  /** Called before each operation on a disk or a database. @throws ProcessDied */
  operation(): void {
    if (this.#isAlive && this.diesAfter !== undefined && this.diesAfter-- <= 0) this.die();
    if (!this.#isAlive) throw new ProcessDied(`${this.name} has died`);
  }

  /** Runs work of this process later. */
  later(delayMs: number, work: () => void): void {
    this.#scheduler.at(delayMs, this, work);
  }
}

function clockOf(owner: SimulatedProcess, scheduler: Scheduler, aheadMs: () => number): Clock {
  const after = (ms: number, work: () => void): Timer => {
    const event = scheduler.at(Math.max(1, ms), owner, work);
    const timer: Timer = {
      cancel() {
        event.work = undefined;
      },
      unref: () => timer,
    };
    return timer;
  };
  const every = (ms: number, work: () => void): Timer => {
    let next = after(ms, fire);
    function fire(): void {
      next = after(ms, fire);
      work();
    }
    const timer: Timer = {
      cancel: () => next.cancel(),
      unref: () => timer,
    };
    return timer;
  };
  return {
    now: () => Math.floor(scheduler.reading() + aheadMs()),
    monotonicNow: () => scheduler.reading(),
    machineNow: () => scheduler.reading(),
    after,
    every,
    soon: (work) => void scheduler.at(0.001, owner, work),
  };
}
