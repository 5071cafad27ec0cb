import type { Duplex } from "node:stream";
import { deserialize, serialize } from "node:v8";
import { errorMessage } from "../../../lib/error-code.ts";
import { isMessage, type Message, type Port } from "../../../lib/process/message.ts";

/** The longest message: a configuration of 10,000 layers has some 30 MB. */
const MOST_BYTES = 256 * 2 ** 20;
/** A peer counts as hung if this many bytes wait to be sent to it. */
const MOST_WAITING = 512 * 2 ** 20;
const LENGTH_BYTES = 4;

/** A port for messages over a connection. A message is its length in four bytes, then V8's structured clone. */
export class FramedPort implements Port {
  readonly #stream: Duplex;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #receive: ((message: Message) => void) | undefined;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  postMessage(message: Message): void {
    const stream = this.#stream;
    if (stream.destroyed || !stream.writable) return;
    if (stream.writableLength > MOST_WAITING) {
      stream.destroy(new Error("the other side does not read"));
      return;
    }
    const body = serialize(message);
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32BE(body.byteLength);
    stream.cork();
    stream.write(length);
    stream.write(body);
    stream.uncork();
  }

  on(_: "message", listener: (message: Message) => void): void {
    this.#receive = listener;
  }

  #read(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    for (;;) {
      const length = this.#length();
      if (length === undefined) return;
      if (length > MOST_BYTES) {
        this.#stream.destroy(new Error(`a message of ${length} bytes is too long`));
        return;
      }
      if (this.#bytes < LENGTH_BYTES + length) return;
      const all =
        this.#chunks.length === 1 && this.#chunks[0] !== undefined ? this.#chunks[0] : Buffer.concat(this.#chunks);
      const rest = all.subarray(LENGTH_BYTES + length);
      this.#chunks = rest.byteLength === 0 ? [] : [rest];
      this.#bytes = rest.byteLength;
      if (!this.#deliver(all.subarray(LENGTH_BYTES, LENGTH_BYTES + length))) return;
    }
  }

  /**
   * Delivers a message. A malformed message only ends its own connection: the peer may be newer than the version that
   * it has claimed, or not be a node.
   * @returns false if the connection has ended
   */
  #deliver(bytes: Uint8Array): boolean {
    try {
      const message: unknown = deserialize(bytes);
      if (!isMessage(message)) throw new TypeError("it is no message of a channel");
      this.#receive?.(message);
    } catch (error) {
      this.#stream.destroy(new Error(`a message cannot be read: ${errorMessage(error)}`, { cause: error }));
    }
    return !this.#stream.destroyed;
  }

  /** Returns the length of the next message. Undefined if the length has not arrived. */
  #length(): number | undefined {
    const [first] = this.#chunks;
    if (first === undefined || this.#bytes < LENGTH_BYTES) return undefined;
    if (first.byteLength >= LENGTH_BYTES) return first.readUInt32BE();
    this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]?.readUInt32BE();
  }
}
