import type { Clock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import type { Sender, Throttle, WrongAttempts } from "./throttle.ts";

/**
 * The longest wait for the lead, which delays an answer by at most a second. Afterwards this node delays the answer
 * itself.
 */
const LEAD_MS = 2_000;

/**
 * Delays the answers to wrong attempts by the failures at all nodes, which the lead counts. So guesses do not profit
 * from several nodes. While there is no lead, each node counts its own failures.
 */
export class SharedThrottle implements WrongAttempts {
  readonly #own: Throttle;
  readonly #lead: WrongAttempts;
  readonly #clock: Clock;

  constructor(own: Throttle, lead: WrongAttempts, clock: Clock) {
    this.#own = own;
    this.#lead = lead;
    this.#clock = clock;
  }

  async wrong(sender: Sender): Promise<void> {
    // The queue of this node is also ordered by these failures.
    if ((await this.#ofLead(this.#lead.wrong(sender).then(() => true))) === true) this.#own.note(sender);
    else await this.#own.wrong(sender);
  }

  async wrongUnhashed(address: string): Promise<"waited" | "full"> {
    return (await this.#ofLead(this.#lead.wrongUnhashed(address))) ?? this.#own.wrongUnhashed(address);
  }

  /**
   * Returns the answer of the lead to a call. Undefined if there is no lead, or if it does not answer within `LEAD_MS`.
   */
  #ofLead<T>(answer: Promise<T>): Promise<T | undefined> {
    return Promise.race([answer.catch(() => undefined), sleep(this.#clock, LEAD_MS).then(() => undefined)]);
  }
}
