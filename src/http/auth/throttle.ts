import { setTimeout as sleepFor } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import PQueue from "p-queue";

export interface Clock {
  /** Milliseconds, from anywhere. */
  now(): number;
  sleep(ms: number): Promise<void>;
}
export const realClock: Clock = { now: () => performance.now(), sleep: (ms) => sleepFor(ms) };

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1_000;
/** An address that behaves for so long is like a new one. */
const FORGET_MS = 600_000;
/** Wrong attempts that wait for their answer, of one address and of all. */
const WAITING_PER_ADDRESS = 8;
const WAITING_IN_ALL = 256;
/** Passwords hashed at one time. libuv has four threads, and the tiles' files need some of them. */
const HASHING = 2;
/**
 * Attempts that wait to be hashed: of an address, of all that failed before, and of all. The right one may be among the
 * guesses of others at the same address: it is refused only where it would wait for seconds.
 */
const QUEUED_PER_ADDRESS = 64;
const QUEUED_SUSPECTS = 192;
const QUEUED_IN_ALL = 256;

interface Address {
  failures: number;
  /** For the answer to a wrong attempt. */
  waiting: number;
  /** To be hashed. */
  queued: number;
}

/**
 * Bounds what guessing passwords costs us and how fast it goes. Verification is a queue in which an address goes behind
 * all that failed less often, so that the right one never stands behind a crowd of guesses.
 */
export class Throttle {
  readonly #clock: Clock;
  readonly #addresses: LRUCache<string, Address>;
  readonly #hashing = new PQueue({ concurrency: HASHING });
  #suspects = 0;
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#addresses = new LRUCache({ max: 10_000, ttl: FORGET_MS, ttlResolution: 0, perf: { now: () => clock.now() } });
  }

  #of(address: string): Address {
    const known = this.#addresses.get(address) ?? { failures: 0, waiting: 0, queued: 0 };
    this.#addresses.set(address, known);
    return known;
  }

  /** Runs a verification when it is its turn; undefined: too many wait. */
  async verify(address: string, verification: () => Promise<boolean>): Promise<boolean | undefined> {
    const from = this.#of(address);
    const suspect = from.failures > 0;
    if (from.queued >= QUEUED_PER_ADDRESS) return undefined;
    if (this.#hashing.size >= QUEUED_IN_ALL) return undefined;
    if (suspect && this.#suspects >= QUEUED_SUSPECTS) return undefined;
    from.queued++;
    if (suspect) this.#suspects++;
    try {
      return await this.#hashing.add(verification, { priority: -from.failures });
    } finally {
      from.queued--;
      if (suspect) this.#suspects--;
    }
  }

  /** Lets a wrong attempt wait for its answer, each longer than the one before; "full": too many wait already. */
  async delay(address: string): Promise<"waited" | "full"> {
    const from = this.#of(address);
    // Those that are still to be hashed wait too: on a slow machine a crowd is one all the same.
    if (from.waiting + from.queued >= WAITING_PER_ADDRESS || this.#waiting >= WAITING_IN_ALL) return "full";
    const ms = Math.min(FIRST_DELAY_MS * 2 ** from.failures, LONGEST_DELAY_MS);
    from.failures = Math.min(from.failures + 1, 30);
    from.waiting++;
    this.#waiting++;
    try {
      await this.#clock.sleep(ms);
    } finally {
      from.waiting--;
      this.#waiting--;
    }
    return "waited";
  }
}
