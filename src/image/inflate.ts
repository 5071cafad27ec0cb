import { inflateSync } from "node:zlib";
import { codeOf } from "../lib/error-code.ts";
import { PictureError } from "./picture-error.ts";

/**
 * The most bytes that may follow the expected pixels. More bytes mean that the picture is larger than its header says.
 */
const SLACK_BYTES = 1024;

/**
 * Inflates data and returns at least `size` bytes.
 * @throws PictureError for data that is broken, too short, or far too long
 */
export function inflate(deflated: Uint8Array, size: number): Uint8Array {
  const maxOutputLength = size + SLACK_BYTES;
  let inflated: Uint8Array;
  try {
    // One chunk for the whole output: zlib's default chunks of 16 KiB take twice as long for a tile.
    inflated = inflateSync(deflated, { maxOutputLength, chunkSize: maxOutputLength });
  } catch (error) {
    if (codeOf(error) === "ERR_BUFFER_TOO_LARGE")
      throw new PictureError("too_large", "the PNG holds more than its size says", { cause: error });
    throw new PictureError("truncated", "the PNG's data cannot be inflated", { cause: error });
  }
  if (inflated.byteLength < size) throw new PictureError("truncated", "the PNG's data is too short");
  return inflated;
}
