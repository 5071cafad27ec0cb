import type { Machine } from "../../lib/machine.ts";
import { type BackOff, jittered, pauseAfter } from "../../lib/time/back-off.ts";

/** Keys or a token that a service has lent. */
export interface Lent<T> {
  readonly value: T;
  /** The end of the loan, ms since 1970. Undefined if the value has no end. */
  readonly expiresMs: number | undefined;
}

/** A renewal begins this long before the end of a loan at the earliest, and a third of this time at the latest. */
const EARLY_MS = 15 * 60_000;
/** A value is not used in this time before its end, in which a request may still be on its way. */
const UNSURE_MS = 10_000;
/** After failures. While the old value is valid, it is used. Without a valid value, the last failure is the answer. */
const PAUSES: BackOff = { firstMs: 500, longestMs: 10_000 };
/** A value that a service refuses is replaced only if it is older than this. */
const FRESH_MS = 10_000;

interface Held<T> extends Lent<T> {
  readonly sinceMs: number;
  /** When the renewal begins. Undefined if the value has no end. */
  readonly renewMs: number | undefined;
}

/**
 * A value that is obtained at its first use and renewed by a use before its end, in the background. One renewal runs at
 * a time. The time of the renewal is random, so that the processes of one machine, and the machines that started
 * together, do not all ask in the same second.
 */
export class Renewed<T> {
  readonly #machine: Pick<Machine, "clock" | "random">;
  readonly #obtain: () => Promise<Lent<T>>;
  #held: Held<T> | undefined;
  #running: Promise<T> | undefined;
  #lastFailure: { readonly error: unknown; readonly untilMs: number } | undefined;
  /** The number of failures in a row. */
  #inARow = 0;
  #failures = 0;

  constructor(machine: Pick<Machine, "clock" | "random">, obtain: () => Promise<Lent<T>>) {
    this.#machine = machine;
    this.#obtain = obtain;
  }

  /** The number of failed renewals. */
  get failures(): number {
    return this.#failures;
  }

  /** Returns a valid value. @throws the error of the last attempt to obtain one */
  async current(): Promise<T> {
    const nowMs = this.#machine.clock.now();
    const held = this.#held;
    if (held === undefined) return await this.#renewed();
    const { value, expiresMs, renewMs } = held;
    if (expiresMs === undefined || renewMs === undefined || nowMs < renewMs) return value;
    const renewal = this.#renewed();
    if (nowMs >= expiresMs - UNSURE_MS) return await renewal;
    // The failure is counted, and repeated once there is no valid value.
    renewal.catch(() => undefined);
    return value;
  }

  /** Takes the value back after a service has refused it. Returns whether `current` obtains another one now. */
  refused(value: T): boolean {
    if (this.#held?.value !== value) return true;
    if (this.#machine.clock.now() < this.#held.sinceMs + FRESH_MS) return false;
    this.#held = undefined;
    return true;
  }

  async #renewed(): Promise<T> {
    if (this.#lastFailure !== undefined && this.#machine.clock.monotonicNow() < this.#lastFailure.untilMs)
      throw this.#lastFailure.error;
    this.#running ??= this.#renew().finally(() => {
      this.#running = undefined;
    });
    return await this.#running;
  }

  async #renew(): Promise<T> {
    const { clock, random } = this.#machine;
    try {
      const lent = await this.#obtain();
      const sinceMs = clock.now();
      this.#held = { ...lent, sinceMs, renewMs: this.#renewalMs(lent.expiresMs, sinceMs) };
      this.#inARow = 0;
      this.#lastFailure = undefined;
      return lent.value;
    } catch (error) {
      this.#failures++;
      const pauseMs = jittered(pauseAfter(++this.#inARow, PAUSES), random.fraction());
      this.#lastFailure = { error, untilMs: clock.monotonicNow() + pauseMs };
      throw error;
    }
  }

  #renewalMs(expiresMs: number | undefined, sinceMs: number): number | undefined {
    if (expiresMs === undefined) return undefined;
    const earlyMs = Math.min(EARLY_MS, (expiresMs - sinceMs) / 2);
    return expiresMs - earlyMs * (1 / 3 + (2 / 3) * this.#machine.random.fraction());
  }
}
