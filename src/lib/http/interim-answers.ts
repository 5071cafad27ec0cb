import type { Socket } from "node:net";
import type { buildConnector, Pool } from "undici";

/** The longest head of an interim answer, in bytes. */
const LONGEST = 64 * 1024;
/** The beginning of an interim answer. 101 is not interim, because it changes the protocol. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d/;
const SHORTEST = "HTTP/1.1 100".length;
/** The index of the first digit of the status, and this digit in an interim answer. */
const CLASS_AT = "HTTP/1.1 ".length;
const INTERIM_CLASS = 0x31;
const END = "\r\n\r\n";

/**
 * Removes the interim answers (1xx) in front of an answer. A client must read them although it did not ask for them
 * (RFC 9110, 15.2), but undici ends the connection at a 100. Each connection has one request at a time, so the first
 * bytes after a request are the beginning of its answer.
 */
export class InterimAnswers {
  #isAtStart = false;
  #held: Buffer = Buffer.alloc(0);

  /** Expects an answer: the caller is about to send a request. */
  expect(): void {
    this.#isAtStart = true;
  }

  /** Returns a connector whose sockets yield no interim answers. */
  around(connect: Pool.Options["connect"]): buildConnector.connector {
    if (typeof connect !== "function") throw new TypeError("the pool has not made a connector");
    return (options, callback) =>
      connect(options, (...outcome) => {
        const [error, socket] = outcome;
        // undici passes no socket together with an error.
        if (error === null) this.#filter(socket);
        callback(...outcome);
      });
  }

  #filter(socket: Socket): void {
    this.#held = Buffer.alloc(0);
    const read = socket.read.bind(socket);
    socket.read = (size?: number): unknown => {
      for (;;) {
        const chunk: unknown = read(size);
        if (!this.#isAtStart) return chunk;
        if (!Buffer.isBuffer(chunk)) return chunk;
        const rest = this.#withoutInterim(this.#held.byteLength === 0 ? chunk : Buffer.concat([this.#held, chunk]));
        if (rest !== undefined) return rest;
      }
    };
  }

  /** Returns the bytes after the interim answers. Undefined if the end of an interim answer has not arrived. */
  #withoutInterim(bytes: Buffer): Buffer | undefined {
    let left = bytes;
    for (;;) {
      // Nearly all answers are final ones.
      if (left.byteLength >= SHORTEST && left[CLASS_AT] !== INTERIM_CLASS) return this.#pass(left);
      const head = left.subarray(0, SHORTEST).toString("latin1");
      if (head.length < SHORTEST && INTERIM.test(head + "HTTP/1.1 100".slice(head.length))) return this.#hold(left);
      if (!INTERIM.test(head)) return this.#pass(left);
      const end = left.indexOf(END);
      if (end < 0) return left.byteLength > LONGEST ? this.#pass(left) : this.#hold(left);
      left = left.subarray(end + END.length);
    }
  }

  #hold(bytes: Buffer): undefined {
    this.#held = bytes;
  }

  #pass(bytes: Buffer): Buffer {
    this.#isAtStart = false;
    this.#held = Buffer.alloc(0);
    return bytes;
  }
}
