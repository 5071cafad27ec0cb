import { isIPv4, isIPv6 } from "node:net";
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
/** Wrong attempts that cost no hash and wait for their answer, of one address and of all. */
const WAITING_PER_ADDRESS = 8;
const WAITING_IN_ALL = 256;
/** Passwords hashed at one time. libuv has four threads, and the tiles' files need some of them. */
const HASHING = 2;
/**
 * Attempts of an address that wait to be hashed, or are. The right one may be among the guesses of others at the same address: it
 * is refused only where it would wait for seconds.
 */
const QUEUED_PER_ADDRESS = 32;
/** More than so many are a crowd: the last of them would wait for seconds. */
const CROWD = 32;
/** Wrong attempts that are compared with hashes of the other kinds, or wait for it: some seconds of a core. */
const EQUALISED_IN_ALL = 8;
/** In a crowd each so-manyth turn is the oldest's. */
const OLDEST_EACH = 8;
/** Of all addresses: more than the connections that a crowd is likely to have, at some hundred bytes each. */
const QUEUED_IN_ALL = 4_096;

interface Address {
  failures: number;
  /** For the answer to a wrong attempt that cost no hash. */
  waiting: number;
  /** To be hashed, or being hashed. */
  queued: number;
}

interface Queued {
  readonly from: Address;
  /** Was right before: no guess. */
  readonly known: boolean;
  readonly verification: () => Promise<boolean>;
  readonly gone: AbortSignal;
  readonly leave: () => void;
  readonly resolve: (right: Promise<boolean> | undefined) => void;
}

/**
 * Whom an address stands for: an IPv6 host can take any of the 2^64 addresses of its network. An IPv4 address in IPv6 form
 * is that IPv4 address.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return address;
  const [left = "", right] = (address.split("%", 1)[0] ?? "").split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [before, after] = [groups(left), groups(right ?? "")];
  // An IPv4 address at the end takes the place of two groups.
  const length = before.length + after.length + (address.includes(".") ? 1 : 0);
  const zeros: string[] = Array(Math.max(0, 8 - length)).fill("0");
  const first = [...before, ...zeros, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(":")}::/64`;
}

/**
 * Bounds what guessing passwords costs us and how fast it goes. Verification is a queue: first pairs that were right
 * before, then by the failures of the address, so that the right one never stands behind a crowd of guesses. In a full
 * queue those that would be last make room.
 */
export class Throttle {
  readonly #clock: Clock;
  readonly #addresses: LRUCache<string, Address>;
  readonly #queue: Queued[] = [];
  /** Apart from the queue: those who know their password do not wait for what only wrong ones cost. */
  readonly #equalising = new PQueue({ concurrency: 1 });
  #hashing = 0;
  /** Turns that were given in a crowd. */
  #turns = 0;
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#addresses = new LRUCache({ max: 10_000, ttl: FORGET_MS, ttlResolution: 0, perf: { now: () => clock.now() } });
  }

  #of(address: string): Address {
    const network = networkOf(address);
    const known = this.#addresses.get(network) ?? { failures: 0, waiting: 0, queued: 0 };
    this.#addresses.set(network, known);
    return known;
  }

  /**
   * Runs a verification when it is its turn. Undefined: too many wait, or the client has left, and nothing was hashed.
   * @param known the pair was right before
   */
  verify(
    address: string,
    known: boolean,
    verification: () => Promise<boolean>,
    gone: AbortSignal,
  ): Promise<boolean | undefined> {
    const from = this.#of(address);
    if (gone.aborted || (!known && from.queued >= QUEUED_PER_ADDRESS)) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const leave = (): void => this.#drop(this.#queue.indexOf(queued));
      const queued: Queued = { from, known, verification, gone, leave, resolve };
      from.queued++;
      this.#queue.push(queued);
      gone.addEventListener("abort", leave, { once: true });
      if (this.#queue.length > QUEUED_IN_ALL) this.#drop(this.#last());
      this.#next();
    });
  }

  #drop(index: number): void {
    const { from, resolve } = this.#takeOut(index);
    from.queued--;
    resolve(undefined);
  }

  #next(): void {
    while (this.#hashing < HASHING && this.#queue.length > 0) {
      const { from, verification, resolve } = this.#takeOut(this.#first());
      this.#hashing++;
      const right = verification().finally(() => {
        this.#hashing--;
        from.queued--;
        this.#next();
      });
      resolve(right);
    }
  }

  #takeOut(index: number): Queued {
    const [queued] = this.#queue.splice(index, 1);
    if (queued === undefined) throw new RangeError(`the queue of passwords has no entry ${index}`);
    queued.gone.removeEventListener("abort", queued.leave);
    return queued;
  }

  /**
   * The one whose turn is next: of equal ones the oldest, in a crowd seven newest and then the oldest. By the newest,
   * those who guess wait for each other and not those who come after them; by the oldest, newer guesses keep nobody waiting
   * for ever. With more of the oldest, fewer of those who know their password would be among the newest in time.
   */
  #first(): number {
    const isCrowd = this.#queue.length > CROWD;
    if (isCrowd) this.#turns++;
    const isNewestNext = isCrowd && this.#turns % OLDEST_EACH !== 0;
    return this.#queue.reduce((best, one, n) => {
      const behind = rank(one) - rank(this.#queue[best] ?? one);
      return behind < 0 || (behind === 0 && isNewestNext) ? n : best;
    }, 0);
  }

  /** The one that makes room: of equal ones the newest. */
  #last(): number {
    return this.#queue.reduce((worst, one, n) => (rank(one) >= rank(this.#queue[worst] ?? one) ? n : worst), 0);
  }

  /**
   * Runs, one after the other, what makes a wrong pair take as long as any other. Where many wait for that, the answer
   * comes a whole number of seconds after the attempt instead: guesses whose clients have left would keep a core busy for
   * hours, and a mistyped password would wait for all of them.
   * @param since when the attempt came, by the clock
   */
  async equalise(since: number, comparison: () => Promise<void>): Promise<void> {
    const { size, pending } = this.#equalising;
    if (size + pending < EQUALISED_IN_ALL) await this.#equalising.add(comparison);
    else await this.#clock.sleep(LONGEST_DELAY_MS - ((this.#clock.now() - since) % LONGEST_DELAY_MS));
  }

  /** Lets a wrong pair wait for its answer, each of an address longer than the one before. It was hashed: it is told so. */
  async wrong(address: string): Promise<void> {
    const from = this.#of(address);
    const ms = Math.min(FIRST_DELAY_MS * 2 ** from.failures, LONGEST_DELAY_MS);
    from.failures = Math.min(from.failures + 1, 30);
    await this.#clock.sleep(ms);
  }

  /** The same for a wrong attempt that cost no hash; "full": too many wait already. */
  async wrongUnhashed(address: string): Promise<"waited" | "full"> {
    const from = this.#of(address);
    if (from.waiting >= WAITING_PER_ADDRESS || this.#waiting >= WAITING_IN_ALL) return "full";
    from.waiting++;
    this.#waiting++;
    try {
      await this.wrong(address);
    } finally {
      from.waiting--;
      this.#waiting--;
    }
    return "waited";
  }
}

/** The smaller, the sooner. */
const rank = ({ known, from }: Queued): number => (known ? -1 : from.failures);
