import { constants, createInflate, inflateSync } from "node:zlib";
import { codeOf } from "../lib/error-code.ts";
import { PictureError } from "./picture-error.ts";

/** What may follow the pixels that are asked for: what is longer is a picture larger than it says. */
const SLACK_BYTES = 1024;
/** A scratch memory larger than this is not kept: the largest tile, with an alpha channel, of 1024 x 1024 pixels. */
const LARGEST_KEPT = 4 * 1024 * 1025 + SLACK_BYTES;

const tooLarge = (cause?: unknown): PictureError =>
  new PictureError("too_large", "the PNG holds more than its size says", { cause });
const broken = (cause: unknown): PictureError =>
  new PictureError("truncated", "the PNG's data cannot be inflated", { cause });

function checkLength({ byteLength }: Uint8Array, size: number): void {
  if (byteLength < size) throw new PictureError("truncated", "the PNG's data is too short");
}

/** At least `size` bytes. @throws PictureError for what is broken, shorter, or far longer */
export function inflate(deflated: Uint8Array, size: number): Uint8Array {
  const maxOutputLength = size + SLACK_BYTES;
  let inflated: Uint8Array;
  try {
    // All in one piece: zlib's own pieces of 16 KiB take half as long again.
    inflated = inflateSync(deflated, { maxOutputLength, chunkSize: maxOutputLength });
  } catch (error) {
    throw codeOf(error) === "ERR_BUFFER_TOO_LARGE" ? tooLarge(error) : broken(error);
  }
  checkLength(inflated, size);
  return inflated;
}

/** What Node's zlib streams work by. It is not documented; where it is not found, nothing is used again. */
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
 * Inflates one after the other into the same memory, as is enough for what is only looked at: new memory and a new stream
 * for each take as long as the inflating of a tile itself.
 */
class Scratch {
  readonly #stream = createInflate();
  readonly #machine: Machine | undefined;
  /** Bytes of the output, and of the input, that the latest write has left. */
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

/** As `inflate`; what is answered holds until the next call. */
export function inflateToLook(deflated: Uint8Array, size: number): Uint8Array {
  scratch ??= new Scratch();
  return scratch.inflate(deflated, size);
}
