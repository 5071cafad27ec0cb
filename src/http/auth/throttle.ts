import { isIPv4, isIPv6 } from "node:net";
import { LRUCache } from "lru-cache";
import PQueue from "p-queue";
import { type BackOff, pauseAfter } from "../../lib/time/back-off.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";

const DELAYS: BackOff = { firstMs: 50, longestMs: 1_000 };
/** Further failures change neither the delay nor the order. */
const MOST_FAILURES = 30;
/** Failures of an address are forgotten after this time. */
const EXPIRY_MS = 600_000;
/** The most waiting attempts that are wrong without hashing: of one address, and of all addresses. */
const WAITING_PER_ADDRESS = 8;
const WAITING_IN_ALL = 256;
/** The most concurrent hashes. libuv has four threads, which also read tiles. */
const HASHING = 2;
/**
 * The most attempts at one name from one address that wait to be hashed or are being hashed. The right password may be
 * among guesses of other persons at the same address, so an attempt is refused only if it would wait for seconds.
 */
const QUEUED_PER_NAME = 32;
/** A longer queue is called a crowd below. With bcrypt of cost 12 its last entry would wait for seconds. */
const CROWD = 4;
/** The most wrong attempts that wait for the comparison with hashes of other kinds: some seconds of one core. */
const EQUALISED_IN_ALL = 8;
/** In a crowd, the oldest entry gets one turn out of this number. */
const OLDEST_EACH = 8;
/**
 * The most entries of the queue: more than the likely number of connections of a crowd. An entry takes some hundred
 * bytes.
 */
const QUEUED_IN_ALL = 4_096;

/** The attempts from one address, at one name, or at one name from one address. */
interface Attempts {
  failures: number;
  /**
   * The number of waiting attempts. Of an address: attempts that are wrong without hashing, and wait for their answer.
   * Of a name from an address: attempts whose password waits for its hash.
   */
  waiting: number;
}

/** The sender of an attempt. */
export interface Sender {
  readonly address: string;
  /** The name of an existing user; "" for any other name, so that invented names share their failures. */
  readonly name: string;
}

/** Delays the answers to wrong credentials. Each failure lengthens the delay. A pair is a name and a password. */
export interface WrongAttempts {
  /** Delays the answer to a wrong pair that was hashed. */
  wrong(sender: Sender): Promise<void>;
  /** Delays the answer to a wrong attempt that was not hashed. Returns "full" at once if too many attempts wait. */
  wrongUnhashed(address: string): Promise<"waited" | "full">;
}

interface Queued {
  /** The attempts from the sender's address. */
  readonly from: Attempts;
  /** The attempts at the sender's name from its address. */
  readonly attempts: Attempts;
  /** The attempts at the sender's name from all addresses. */
  readonly named: Attempts;
  /** Whether the pair was right before, so that it is not a guess. */
  readonly known: boolean;
  readonly verification: () => Promise<boolean>;
  readonly gone: AbortSignal;
  readonly leave: () => void;
  readonly resolve: (right: Promise<boolean> | undefined) => void;
}

/**
 * Returns the network of an address: for IPv6 the /64, because a host can use all 2^64 addresses of its network. An
 * IPv4 address in IPv6 form counts as the IPv4 address.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return address;
  const [left = "", right] = (address.split("%", 1)[0] ?? "").split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [before, after] = [groups(left), groups(right ?? "")];
  // An IPv4 address at the end replaces two groups.
  const length = before.length + after.length + (address.includes(".") ? 1 : 0);
  const zeros: string[] = Array(Math.max(0, 8 - length)).fill("0");
  const first = [...before, ...zeros, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(":")}::/64`;
}

/**
 * Limits the cost and the rate of password guesses. Verifications wait in a queue. Pairs that were right before come
 * first. The order of other pairs depends on the failures of their address at the same name, then on all failures at
 * the name, then on all failures of their address. So a user with the right password does not wait behind a crowd of
 * guesses at other names, for any number of addresses. If the queue is full, its last entry is refused.
 */
export class Throttle implements WrongAttempts {
  readonly #clock: Clock;
  readonly #addresses: LRUCache<string, Attempts>;
  readonly #attempts: LRUCache<string, Attempts>;
  readonly #names: LRUCache<string, Attempts>;
  readonly #queue: Queued[] = [];
  /** A separate queue, so that right passwords do not wait for comparisons that only wrong passwords need. */
  readonly #equalising = new PQueue({ concurrency: 1 });
  #hashing = 0;
  /** The number of turns in a crowd since the start. */
  #turns = 0;
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    // With `max` instead, each cache would allocate space for all its entries at once.
    const bounds = {
      maxSize: 10_000,
      sizeCalculation: () => 1,
      ttl: EXPIRY_MS,
      ttlResolution: 0,
      perf: { now: clock.monotonicNow },
    };
    this.#addresses = new LRUCache(bounds);
    this.#attempts = new LRUCache(bounds);
    this.#names = new LRUCache(bounds);
  }

  #of(address: string): Attempts {
    return recorded(this.#addresses, networkOf(address));
  }

  #attemptsOf({ address, name }: Sender): Attempts {
    return recorded(this.#attempts, JSON.stringify([networkOf(address), name]));
  }

  /**
   * Runs a verification when its turn comes. Undefined if the password was not hashed, because the queue was full or
   * the client has disconnected.
   * @param known whether the pair was right before
   */
  verify(
    sender: Sender,
    known: boolean,
    verification: () => Promise<boolean>,
    gone: AbortSignal,
  ): Promise<boolean | undefined> {
    const from = this.#of(sender.address);
    const attempts = this.#attemptsOf(sender);
    if (gone.aborted || (!known && attempts.waiting >= QUEUED_PER_NAME)) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const leave = (): void => this.#refuse(this.#queue.indexOf(queued));
      const named = recorded(this.#names, sender.name);
      const queued: Queued = { from, attempts, named, known, verification, gone, leave, resolve };
      attempts.waiting++;
      this.#queue.push(queued);
      gone.addEventListener("abort", leave, { once: true });
      if (this.#queue.length > QUEUED_IN_ALL) this.#refuse(this.#last());
      this.#next();
    });
  }

  #refuse(index: number): void {
    const { attempts, resolve } = this.#takeOut(index);
    attempts.waiting--;
    resolve(undefined);
  }

  #next(): void {
    while (this.#hashing < HASHING && this.#queue.length > 0) {
      const { attempts, verification, resolve } = this.#takeOut(this.#first());
      this.#hashing++;
      const right = verification().finally(() => {
        this.#hashing--;
        attempts.waiting--;
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
   * Returns the index of the next entry. Among equal entries the oldest is next; in a crowd, seven times the newest and
   * then once the oldest. If the newest comes first, guesses wait for each other and do not delay later users. The
   * oldest in between ensures that newer guesses cannot delay an entry for ever. With a larger share for the oldest,
   * fewer users with the right password would be served in time.
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

  /** Returns the index of the entry to refuse when the queue is full. Of equal entries, it is the newest. */
  #last(): number {
    return this.#queue.reduce((worst, one, n) => (rank(one) >= rank(this.#queue[worst] ?? one) ? n : worst), 0);
  }

  /**
   * Runs the comparisons that make all wrong pairs take the same time, one after the other. If too many wait, the
   * answer is instead sent a whole number of seconds after the attempt. Otherwise guesses whose clients have left would
   * use a core for hours, and a mistyped password would wait for all of them.
   * @param since the time of the attempt, by the monotonic clock
   */
  async equalise(since: number, comparison: () => Promise<void>): Promise<void> {
    const { size, pending } = this.#equalising;
    if (size + pending < EQUALISED_IN_ALL) await this.#equalising.add(comparison);
    else await sleep(this.#clock, DELAYS.longestMs - ((this.#clock.monotonicNow() - since) % DELAYS.longestMs));
  }

  /**
   * Delays the answer to a wrong pair, longer with each failure of the address. A pair that was hashed always waits and
   * is then answered as wrong.
   */
  async wrong(sender: Sender): Promise<void> {
    for (const failed of [this.#attemptsOf(sender), recorded(this.#names, sender.name)]) addFailure(failed);
    await this.#delay(this.#of(sender.address));
  }

  /** Records a wrong pair whose answer another throttle has delayed. */
  note(sender: Sender): void {
    for (const failed of [this.#attemptsOf(sender), recorded(this.#names, sender.name), this.#of(sender.address)])
      addFailure(failed);
  }

  async #delay(from: Attempts): Promise<void> {
    const ms = pauseAfter(from.failures + 1, DELAYS);
    addFailure(from);
    await sleep(this.#clock, ms);
  }

  /**
   * Delays the answer to a wrong attempt that was not hashed. Returns "full" without delay if too many already wait.
   */
  async wrongUnhashed(address: string): Promise<"waited" | "full"> {
    const from = this.#of(address);
    if (from.waiting >= WAITING_PER_ADDRESS || this.#waiting >= WAITING_IN_ALL) return "full";
    from.waiting++;
    this.#waiting++;
    try {
      await this.#delay(from);
    } finally {
      from.waiting--;
      this.#waiting--;
    }
    return "waited";
  }
}

/** Returns the attempts of a key, and restarts their time in the cache. */
function recorded(cache: LRUCache<string, Attempts>, key: string): Attempts {
  const known = cache.get(key) ?? { failures: 0, waiting: 0 };
  cache.set(key, known);
  return known;
}

function addFailure(attempts: Attempts): void {
  attempts.failures = Math.min(attempts.failures + 1, MOST_FAILURES);
}

/** Returns the rank of an entry. The smallest rank comes first. */
function rank({ known, from, attempts, named }: Queued): number {
  if (known) return -1;
  return [attempts, named, from].reduce((sum, { failures }) => sum * (MOST_FAILURES + 1) + failures, 0);
}
