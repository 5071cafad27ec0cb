import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";

/** The `workerData` of a thread that is called. */
export interface CalledThread<Options> {
  readonly options: Options;
  readonly port: MessagePort;
  /** Its only value counts the answers: the caller's thread sleeps on it. */
  readonly answered: Int32Array;
}

/** A request or its answer, which has the same id. */
interface Numbered<T> {
  readonly id: number;
  readonly content: T;
}

/**
 * Calls a thread and sleeps until the answer is there, so that an operation which the coordinator runs in one turn of the
 * event loop stays in one turn. A call costs some 40 µs by itself.
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
    // Neither of them must keep a process alive.
    this.#worker.unref();
    port1.unref();
  }

  /** Returns the answer; undefined: there was none in `limitMs`. The caller knows what its thread answers. */
  call<Answer>(request: Request, limitMs = Number.POSITIVE_INFINITY): Answer | undefined {
    const id = ++this.#lastId;
    const untilMs = performance.now() + limitMs;
    let seen = Atomics.load(this.#answered, 0);
    this.#port.postMessage({ id, content: request } satisfies Numbered<Request>);
    for (let leftMs = limitMs; leftMs > 0; leftMs = untilMs - performance.now()) {
      Atomics.wait(this.#answered, 0, seen, leftMs);
      seen = Atomics.load(this.#answered, 0);
      let received: { readonly message: Numbered<Answer> } | undefined;
      do {
        received = receiveMessageOnPort(this.#port);
        // An answer of another id: its call was given up, or the thread has failed between two calls.
        if (received?.message.id === id) return received.message.content;
      } while (received !== undefined);
    }
    return undefined;
  }

  /** Sends a request whose answer nobody waits for: the next call passes over it. */
  note(request: Request): void {
    this.#port.postMessage({ id: ++this.#lastId, content: request } satisfies Numbered<Request>);
  }

  async close(): Promise<void> {
    this.#port.close();
    await this.#worker.terminate();
  }
}

/**
 * Answers the calls of another thread in this one.
 * @param answer never rejects, because the other thread sleeps until the answer comes
 * @returns the function that answers the last call by itself
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
