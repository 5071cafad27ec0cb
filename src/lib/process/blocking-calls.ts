import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { machineClock } from "../time/machine-clock.ts";

/** The `workerData` of the called thread. */
export interface CalledThread<Options> {
  readonly options: Options;
  readonly port: MessagePort;
  /** The array has one value, the number of answers. The calling thread sleeps on it. */
  readonly answered: Int32Array;
}

/** A request or its answer, which has the same id. */
interface Numbered<T> {
  readonly id: number;
  readonly content: T;
}

/**
 * Calls a thread and blocks until its answer has arrived, so that the coordinator can finish an operation in one turn
 * of the event loop. The overhead of a call is some 40 µs.
 */
export class BlockingCalls<Request> {
  readonly #answered = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #port: MessagePort;
  readonly #worker: Worker;
  #lastId = 0;

  constructor(thread: URL, options: unknown) {
    const { port1, port2 } = new MessageChannel();
    const workerData: CalledThread<unknown> = { options, port: port2, answered: this.#answered };
    this.#worker = new Worker(thread, { workerData, transferList: [port2] });
    this.#port = port1;
    // Neither the worker nor the port may keep the process alive.
    this.#worker.unref();
    port1.unref();
  }

  /**
   * Returns the answer. Undefined if no answer arrived within `limitMs`. The caller states the type of the answer,
   * which is not checked.
   */
  call<Answer>(request: Request, limitMs = Number.POSITIVE_INFINITY): Answer | undefined {
    const id = ++this.#lastId;
    const untilMs = machineClock.monotonicNow() + limitMs;
    let seen = Atomics.load(this.#answered, 0);
    this.#port.postMessage({ id, content: request } satisfies Numbered<Request>);
    for (let leftMs = limitMs; leftMs > 0; leftMs = untilMs - machineClock.monotonicNow()) {
      Atomics.wait(this.#answered, 0, seen, leftMs);
      seen = Atomics.load(this.#answered, 0);
      let received: { readonly message: Numbered<Answer> } | undefined;
      do {
        received = receiveMessageOnPort(this.#port);
        // The answer has another id if its call timed out, or if the thread failed between two calls.
        if (received?.message.id === id) return received.message.content;
      } while (received !== undefined);
    }
    return undefined;
  }

  /** Sends a request without waiting for its answer. The next call skips that answer. */
  note(request: Request): void {
    this.#port.postMessage({ id: ++this.#lastId, content: request } satisfies Numbered<Request>);
  }

  async close(): Promise<void> {
    this.#port.close();
    await this.#worker.terminate();
  }
}

/**
 * Answers the calls of another thread in this thread.
 * @param answer never rejects, because the other thread sleeps until the answer arrives
 * @returns the function that answers the latest call from outside of `answer`
 */
export function answerCalls<Request, Answer>(
  { port, answered }: CalledThread<unknown>,
  answer: (request: Request) => Promise<Answer>,
): (answer: Answer) => void {
  let lastId = 0;
  const send = (id: number, content: Answer): void => {
    port.postMessage({ id, content } satisfies Numbered<Answer>);
    Atomics.add(answered, 0, 1);
    Atomics.notify(answered, 0);
  };
  port.on("message", ({ id, content }: Numbered<Request>) => {
    lastId = id;
    void answer(content).then((answer) => send(id, answer));
  });
  return (content) => send(lastId, content);
}
