import type { TimeLeft } from "./job/job-documents.ts";

interface Sample {
  readonly ms: number;
  readonly processed: bigint;
}

/**
 * The least time between samples, and the number of samples. The rate covers the last two minutes, or a longer time if
 * progress is slow.
 */
const THROTTLE_MS = 1_000;
const SAMPLES = 120;
/** With fewer intervals the spread of the rate is unknown. */
const INTERVALS_TO_JUDGE = 5;
const HIGH = 0.1;
const MEDIUM = 0.35;

/**
 * Measures the rate of a job. The measurement begins with the first progress, not with the start, because renderers
 * must start and an upstream may be slow at first.
 */
export class RateMeter {
  #samples: Sample[] = [];
  #base: bigint | undefined;

  /** Discards all samples, because after a pause the rate may differ. */
  reset(): void {
    this.#samples = [];
    this.#base = undefined;
  }

  sample(ms: number, processed: bigint): void {
    this.#base ??= processed;
    if (processed === this.#base) return;
    const last = this.#samples.at(-1);
    if (last !== undefined && (ms - last.ms < THROTTLE_MS || processed === last.processed)) return;
    this.#samples.push({ ms, processed });
    if (this.#samples.length > SAMPLES) this.#samples.shift();
  }

  /** Returns the tiles per second. Undefined if unknown. */
  rate(ms: number, processed: bigint): number | undefined {
    const first = this.#samples[0];
    return first === undefined ? undefined : rateBetween(first, { ms, processed });
  }

  timeLeft(
    ms: number,
    { processed, left }: { readonly processed: bigint; readonly left: bigint },
  ): TimeLeft | undefined {
    const rate = this.rate(ms, processed);
    if (rate === undefined) return undefined;
    const seconds = Number(left) / rate;
    const spread = this.#spread(rate);
    const bounded = spread ?? 1;
    return {
      seconds: whole(seconds),
      least: whole(seconds / (1 + bounded)),
      most: bounded < 1 ? whole(seconds / (1 - bounded)) : spread === undefined ? whole(2 * seconds) : null,
      confidence: spread === undefined || spread > MEDIUM ? "low" : spread > HIGH ? "medium" : "high",
    };
  }

  /**
   * Returns the possible error of the rate as a share of the rate, by chance or by a recent change. Undefined if there
   * are too few samples.
   */
  #spread(mean: number): number | undefined {
    const rates: number[] = [];
    for (const [n, sample] of this.#samples.entries()) {
      const before = this.#samples[n - 1];
      const rate = before === undefined ? undefined : rateBetween(before, sample);
      if (rate !== undefined) rates.push(rate);
    }
    if (rates.length < INTERVALS_TO_JUDGE) return undefined;
    const variance = rates.reduce((sum, r) => sum + (r - mean) ** 2, 0) / (rates.length - 1);
    const byChance = (2 * Math.sqrt(variance / rates.length)) / mean;
    const lately = rates.slice(-Math.ceil(rates.length / 4));
    const drift = Math.abs(lately.reduce((sum, r) => sum + r, 0) / lately.length - mean) / mean;
    return Math.max(byChance, rates.length >= 4 * INTERVALS_TO_JUDGE ? drift : 0);
  }
}

function rateBetween(from: Sample, to: Sample): number | undefined {
  const ms = to.ms - from.ms;
  const done = to.processed - from.processed;
  return ms > 0 && done > 0n ? (Number(done) * 1000) / ms : undefined;
}

const whole = (seconds: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.round(seconds));
