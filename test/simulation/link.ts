import type { Message, Port } from "../../src/lib/process/message.ts";
import type { Scheduler, SimulatedProcess } from "./scheduler.ts";

/** How long a message travels, ms. */
export type Delay = () => number;

/** One end of a link. */
class LinkEnd implements Port {
  readonly #owner: SimulatedProcess;
  readonly #send: (message: unknown) => void;
  readonly #listeners: ((message: Message) => void)[] = [];
  #early: Message[] = [];

  constructor(owner: SimulatedProcess, send: (message: unknown) => void) {
    this.#owner = owner;
    this.#send = send;
  }

  postMessage(message: unknown): void {
    if (this.#owner.isAlive) this.#send(structuredClone(message));
  }

  on(_: "message", listener: (message: Message) => void): void {
    this.#listeners.push(listener);
    const early = this.#early;
    this.#early = [];
    for (const message of early) listener(message);
  }

  arrived(message: Message): void {
    if (this.#listeners.length === 0) this.#early.push(message);
    for (const listener of this.#listeners) listener(message);
  }
}

/** Connects two processes. Messages of one direction keep their order, and are lost with the receiver. */
export function link(
  scheduler: Scheduler,
  [a, b]: readonly [SimulatedProcess, SimulatedProcess],
  delay: Delay,
): readonly [LinkEnd, LinkEnd] {
  const sender = (to: SimulatedProcess, end: () => LinkEnd) => {
    let lastMs = 0;
    return (message: unknown): void => {
      lastMs = Math.max(lastMs, scheduler.nowMs + delay());
      // The channel checks what it gets: a message is whatever was posted.
      scheduler.at(lastMs - scheduler.nowMs, to, () => end().arrived(message as Message));
    };
  };
  const ends: readonly [LinkEnd, LinkEnd] = [
    new LinkEnd(
      a,
      sender(b, () => ends[1]),
    ),
    new LinkEnd(
      b,
      sender(a, () => ends[0]),
    ),
  ];
  return ends;
}
