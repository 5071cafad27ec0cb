import { errorMessage } from "../lib/error-code.ts";
import { loadSharp } from "./load-sharp.ts";
import { PictureError } from "./picture-error.ts";
import { pictureKind } from "./picture-kind.ts";
import { decodePlainPng, isPng, pngParts, provePixels } from "./png-decode.ts";
import type { Raster } from "./raster.ts";

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Checks that a picture is complete and of the expected size, and decodes it. Compares the declared size before
 * inflating, so that a small file cannot become a huge picture.
 * @throws PictureError
 */
export async function decodePicture(bytes: Uint8Array, expected: Size): Promise<Raster> {
  if (isPng(bytes)) {
    const parts = pngParts(bytes);
    checkSize(parts, expected);
    return decodePlainPng(parts) ?? bySharp(bytes, expected);
  }
  switch (pictureKind(bytes)) {
    case "jpeg": {
      // Fill bytes may follow the end marker.
      const end = bytes.lastIndexOf(0xd9);
      if (end < 1 || bytes[end - 1] !== 0xff || bytes.byteLength - end > 64)
        throw new PictureError("truncated", "the JPEG ends before its end");
      return bySharp(bytes, expected);
    }
    case "gif":
    case "webp":
    case "avif":
    case "tiff":
      return bySharp(bytes, expected);
    // The complete signature of a PNG was checked above; the first half alone is not enough.
    case "png":
    case undefined:
      throw new PictureError("not_a_picture", "the bytes are neither PNG, JPEG, GIF, WebP, AVIF nor TIFF");
  }
}

/**
 * Runs the checks of `decodePicture` without returning pixels. Checks a usual PNG synchronously, and then returns
 * undefined.
 * @throws PictureError
 */
export function provePicture(bytes: Uint8Array, expected: Size): Promise<void> | undefined {
  if (isPng(bytes)) {
    const parts = pngParts(bytes);
    checkSize(parts, expected);
    if (provePixels(parts)) return undefined;
  }
  return decodePicture(bytes, expected).then(() => undefined);
}

function checkSize(found: Size, expected: Size): void {
  if (found.width === expected.width && found.height === expected.height) return;
  throw new PictureError(
    "wrong_size",
    `the picture is ${found.width} x ${found.height}, requested was ${expected.width} x ${expected.height}`,
  );
}

async function bySharp(bytes: Uint8Array, expected: Size): Promise<Raster> {
  const sharp = await loadSharp();
  try {
    const options = { failOn: "warning", limitInputPixels: expected.width * expected.height * 4 + 65_536 } as const;
    const { width = 0, height = 0 } = await sharp(bytes, options).metadata();
    checkSize({ width, height }, expected);
    const { data, info } = await sharp(bytes, options)
      .toColourspace("srgb")
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    return fromChannels(data, info.width, info.height, info.channels);
  } catch (error) {
    if (error instanceof PictureError) throw error;
    const words = errorMessage(error);
    if (/pixel limit/i.test(words))
      throw new PictureError("wrong_size", "the picture is far larger than requested", { cause: error });
    throw new PictureError("truncated", `the picture cannot be decoded: ${words.split("\n")[0] ?? ""}`, {
      cause: error,
    });
  }
}

/** Converts grey to RGB, and grey with alpha to RGBA. */
function fromChannels(data: Uint8Array, width: number, height: number, channels: number): Raster {
  if (channels === 3 || channels === 4) return { width, height, channels, data };
  const wide = channels === 2 ? 4 : 3;
  const out = new Uint8Array(width * height * wide);
  for (let i = 0, from = 0, to = 0; i < width * height; i++, from += channels, to += wide) {
    out.fill(data[from] ?? 0, to, to + 3);
    if (wide === 4) out[to + 3] = data[from + 1] ?? 255;
  }
  return { width, height, channels: wide, data: out };
}
