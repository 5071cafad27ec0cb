import type { Socket } from "node:net";
import { codeOf } from "../../../lib/error-code.ts";
import { Channel } from "../../../lib/process/channel.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import { type Calls, remoteMethods } from "../../../lib/process/method-table.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { USER_RENDERS } from "../../../render/user-renders.ts";
import { CALLED_BY_MEMBERS, type CalledByMembers } from "../../process/process-methods.ts";
import { FramedPort } from "../link/framed-port.ts";
import { LEAD, LEAD_CLOSING, type LeadMethods, type NodeMethods } from "../link/node-methods.ts";

/** How long a request waits for the next lead. A takeover after a kill takes about a second. */
const WAIT_MS = 5_000;

type LeadChannel = Channel<LeadMethods>;

/** The error of a call if the node has no lead, or lost the lead during the call. */
const unavailable = (message: string): Error => Object.assign(new Error(message), { code: "unavailable" });

/**
 * Calls the lead over a connection that may end and be replaced. A call waits for the next lead. If the connection is
 * lost during a call, a render for a user is repeated. A change may have been carried out, so its caller gets an error
 * and has to check.
 */
export class LeadLink {
  readonly #clock: Clock;
  readonly #log: Logger;
  #channel: LeadChannel | undefined;
  #why = "no lead has been found yet";
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Starts to use a connection. Returns its channel. */
  open(socket: Socket, methods: NodeMethods): LeadChannel {
    return new Channel(new FramedPort(socket), methods, LEAD, (method, error) => {
      this.#log.error("a report of the lead failed", { method, error: String(error) });
      // A report that fails must not be missed: the node joins again, and gets the whole state.
      socket.destroy(new Error(`the lead's report ${method} failed`, { cause: error }));
    });
  }

  /** Sends calls through this channel from now on. */
  use(channel: LeadChannel): void {
    this.#channel = channel;
    for (const resume of [...this.#waiting]) resume();
  }

  /** Sends no further calls through the present channel. Calls wait for the next lead. */
  pause(): void {
    this.#channel = undefined;
    this.#why = "the lead is closing";
  }

  /** Closes a channel. Its pending calls fail. */
  lose(channel: LeadChannel, why: string): void {
    if (this.#channel === channel) this.#channel = undefined;
    this.#why = why;
    channel.close(unavailable(`the connection to the lead was lost: ${why}`));
  }

  async #connected(): Promise<LeadChannel> {
    const until = this.#clock.monotonicNow() + WAIT_MS;
    while (this.#channel === undefined) {
      const left = until - this.#clock.monotonicNow();
      if (left <= 0) throw unavailable(`this node has no lead: ${this.#why}`);
      await new Promise<void>((resolve) => {
        const resume = (): void => {
          timer.cancel();
          this.#waiting.delete(resume);
          resolve();
        };
        const timer = this.#clock.after(left, resume);
        this.#waiting.add(resume);
      });
    }
    return this.#channel;
  }

  /** Calls a lead. If a closing lead refuses the call before it begins, calls the next lead. */
  async #onLead<T>(call: (channel: LeadChannel) => Promise<T>): Promise<T> {
    for (;;) {
      const channel = await this.#connected();
      try {
        return await call(channel);
      } catch (error) {
        if (codeOf(error) !== LEAD_CLOSING) throw error;
        if (this.#channel === channel) this.#channel = undefined;
      }
    }
  }

  /** Calls that are not repeated. */
  readonly #once: Calls = {
    call: (...call) => this.#onLead((channel) => channel.call(...call)),
    callUntil: (...call) => this.#onLead((channel) => channel.callUntil(...call)),
    note: (...call) => this.#channel?.note(...call),
  };

  /** Calls that may be repeated, because a second one changes nothing. */
  readonly #repeated: Calls = {
    call: (...call) => this.#repeat(() => this.#once.call(...call)),
    callUntil: (...call) => this.#repeat(() => this.#once.callUntil(...call)),
    note: this.#once.note,
  };

  async #repeat<T>(call: () => Promise<T>): Promise<T> {
    const channel = this.#channel;
    try {
      return await call();
    } catch (error) {
      if (codeOf(error) !== "unavailable" || channel === undefined || channel === this.#channel) throw error;
      return call();
    }
  }

  /** Returns the lead's methods in the form that `Serving` uses. */
  core(): CalledByMembers {
    return { ...remoteMethods(this.#once, CALLED_BY_MEMBERS), ...remoteMethods(this.#repeated, USER_RENDERS) };
  }
}
