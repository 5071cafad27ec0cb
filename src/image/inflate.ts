import { constants, createInflate, inflateSync } from "node:zlib";
import { codeOf } from "../lib/error-code.ts";
import { PictureError } from "./picture-error.ts";

/** The most bytes that may follow the expected pixels. With more, the picture is larger than its header says. */
const SLACK_BYTES = 1024;
/** The largest buffer that is reused: enough for the largest tile, of 1024 x 1024 pixels with an alpha channel. */
const LARGEST_KEPT = 4 * 1024 * 1025 + SLACK_BYTES;

const tooLarge = (cause?: unknown): PictureError =>
  new PictureError("too_large", "the PNG holds more than its size says", { cause });
const broken = (cause: unknown): PictureError =>
  new PictureError("truncated", "the PNG's data cannot be inflated", { cause });

function checkLength({ byteLength }: Uint8Array, size: number): void {
  if (byteLength < size) throw new PictureError("truncated", "the PNG's data is too short");
}

/**
 * Inflates data, and returns at least `size` bytes.
 * @throws PictureError for data that is broken, shorter, or far longer
 */
export function inflate(deflated: Uint8Array, size: number): Uint8Array {
  const maxOutputLength = size + SLACK_BYTES;
  let inflated: Uint8Array;
  try {
    // One chunk for the whole output: zlib's default chunks of 16 KiB make it take half as long again.
    inflated = inflateSync(deflated, { maxOutputLength, chunkSize: maxOutputLength });
  } catch (error) {
    throw codeOf(error) === "ERR_BUFFER_TOO_LARGE" ? tooLarge(error) : broken(error);
  }
  checkLength(inflated, size);
  return inflated;
}

/**
 * The internal object of Node's zlib streams. It is not documented: where it is not found, streams and memory are not
 * reused.
 */
interface Machine {
  reset(): void;
  writeSync(
    flush: number,
    from: Uint8Array,
    fromAt: number,
    fromLength: number,
    to: Uint8Array,
    toAt: number,
    toLength: number,
  ): void;
  onerror: (message: string, errno: number, code: string) => void;
}

const isMachine = (found: unknown): found is Machine =>
  typeof found === "object" && found !== null && "writeSync" in found && "reset" in found && "onerror" in found;

/**
 * Inflates pictures one after the other into the same memory. That is enough for pixels that are only checked. New
 * memory and a new stream for each picture would take as long as inflating a tile.
 */
class Scratch {
  readonly #stream = createInflate();
  readonly #machine: Machine | undefined;
  /** The bytes of the output, and of the input, that the latest write left unused. */
  readonly #left: Uint32Array;
  #memory = new Uint8Array(0);
  #error: Error | undefined;

  constructor() {
    const machine: unknown = Reflect.get(this.#stream, "_handle");
    const left: unknown = Reflect.get(this.#stream, "_writeState");
    this.#left = left instanceof Uint32Array ? left : new Uint32Array(0);
    this.#machine = this.#left.length === 2 && isMachine(machine) ? machine : undefined;
    if (this.#machine !== undefined) this.#machine.onerror = (message) => (this.#error = new Error(message));
  }

  inflate(deflated: Uint8Array, size: number): Uint8Array {
    const room = size + SLACK_BYTES;
    if (this.#machine === undefined || room > LARGEST_KEPT) return inflate(deflated, size);
    if (this.#memory.byteLength < room) this.#memory = new Uint8Array(room);
    this.#error = undefined;
    this.#machine.reset();
    this.#machine.writeSync(constants.Z_FINISH, deflated, 0, deflated.byteLength, this.#memory, 0, room);
    if (this.#error !== undefined) throw broken(this.#error);
    const [left = 0] = this.#left;
    if (left === 0) throw tooLarge();
    const inflated = this.#memory.subarray(0, room - left);
    checkLength(inflated, size);
    return inflated;
  }
}

let scratch: Scratch | undefined;

/** Inflates data like `inflate`. The result is valid until the next call. */
export function inflateToLook(deflated: Uint8Array, size: number): Uint8Array {
  scratch ??= new Scratch();
  return scratch.inflate(deflated, size);
}
