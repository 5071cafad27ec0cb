/** An upstream whose answers take less than this is not overloaded. */
const FAST_MS = 50;
/**
 * Under full load answers may take this many times as long as under half load: the ratio is 1 below the saturation of
 * the upstream, and 2 far beyond it.
 */
const TOLERANCE = 1.5;
/** The number of connections is multiplied by this when it is too high. */
const DECREASE = 0.75;
/** After this many rounds with good answers, half load is tried again, because the upstream may have changed. */
const ROUNDS_OF_TRUST = 64;
/**
 * While answers are as fast as the first ones, half load is not tried before this many answers, so that short jobs do
 * not pay for the trial.
 */
const ANSWERS_UNTRIED = 250;

const leastSamples = (connections: number): number => Math.max(10, 3 * connections);

/**
 * Decides how many connections of an upstream jobs may use, by the duration of its answers.
 *
 *     cruising: all connections are used; each round with good answers adds one, up to the configured number
 *        │ answers slower than the tolerance, or trusted for long enough    ▲
 *        ▼                                                                 │ decision: as many, or fewer
 *     halving: half of them for a round ───────────────────────────────────┘
 *
 * Slow answers alone do not indicate overload, because the upstream may always be slow. The load is too high if answers
 * get faster under half load. This is the gradient of Netflix's concurrency-limits, but relative to a measurement
 * instead of a long-run average: during a job of several days such an average would adapt to the overload. Answers
 * given while connections were free do not count, because jobs did not cause their delay. Means are geometric, so that
 * a single metatile that takes ten times as long as others does not decide.
 */
export class LatencyLimit {
  #configured: number;
  #limit: number;
  #phase: "cruising" | "halving" = "cruising";
  /** The mean of the first round in ms. Later rounds are compared with it until half load has been tried. */
  #firstMs: number | undefined;
  /** The mean of the last round under half load, in ms. */
  #halfLoadMs: number | undefined;
  /** The mean of the last round under full load, in ms. */
  #fullLoadMs = 0;
  #roundsTrusted = 0;
  /** The number of answers to ignore, because their renders began in the previous phase. */
  #toSkip = 0;
  #samples = 0;
  #sumOfLogs = 0;
  #uncounted = 0;

  constructor(connections: number) {
    this.#configured = connections;
    this.#limit = connections;
  }

  /** The number of connections that jobs may use now, from 1 to the configured number. */
  get connections(): number {
    return this.#phase === "halving" ? Math.ceil(this.#limit / 2) : this.#limit;
  }

  setConnections(connections: number): void {
    this.#limit = this.#limit === this.#configured ? connections : Math.min(this.#limit, connections);
    this.#configured = connections;
    this.#begin("cruising");
  }

  /**
   * Records the time of a rendered picture.
   * @param inUse the number of connections in use, including the picture's connection
   */
  answered(upstreamMs: number, inUse: number): void {
    const isRight = this.#phase === "cruising" ? inUse >= this.connections : inUse === this.connections;
    const wanted = leastSamples(this.connections);
    if (!isRight) {
      // Users use more connections, or jobs need fewer, so half load cannot be measured. Jobs must not be limited any
      // longer.
      if (this.#phase === "halving" && ++this.#uncounted > 2 * wanted) this.#begin("cruising");
      return;
    }
    if (this.#toSkip > 0) {
      this.#toSkip--;
      return;
    }
    this.#samples++;
    this.#sumOfLogs += Math.log(Math.max(1, upstreamMs));
    if (this.#samples < wanted) return;
    const mean = Math.exp(this.#sumOfLogs / this.#samples);
    if (this.#phase === "cruising") this.#cruised(mean);
    else this.#halved(mean);
  }

  #cruised(mean: number): void {
    this.#fullLoadMs = mean;
    this.#roundsTrusted++;
    const isSlow = mean > FAST_MS && this.#limit > 1;
    this.#firstMs ??= mean;
    const trust =
      this.#halfLoadMs === undefined ? Math.ceil(ANSWERS_UNTRIED / leastSamples(this.#limit)) : ROUNDS_OF_TRUST;
    const isKnownGood = mean <= TOLERANCE * (this.#halfLoadMs ?? this.#firstMs) && this.#roundsTrusted < trust;
    if (isSlow && !isKnownGood) {
      this.#begin("halving");
      return;
    }
    // A single connection cannot be halved, so its mean is the reference.
    if (this.#limit === 1) this.#halfLoadMs = mean;
    this.#limit = Math.min(this.#configured, this.#limit + 1);
    this.#begin("cruising");
  }

  #halved(mean: number): void {
    this.#halfLoadMs = mean;
    this.#roundsTrusted = 0;
    if (this.#fullLoadMs > TOLERANCE * mean) this.#limit = Math.max(1, Math.floor(this.#limit * DECREASE));
    this.#begin("cruising");
  }

  #begin(phase: "cruising" | "halving"): void {
    const before = this.connections;
    this.#phase = phase;
    this.#toSkip = this.connections === before ? 0 : Math.max(before, this.connections);
    this.#samples = 0;
    this.#sumOfLogs = 0;
    this.#uncounted = 0;
  }
}
