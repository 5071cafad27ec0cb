import { constants, crc32, inflateSync } from "node:zlib";
import { inflate } from "./inflate.ts";
import { PictureError } from "./picture-error.ts";
import { holdsAt } from "./picture-kind.ts";
import type { Raster } from "./raster.ts";

const SIGNATURE = "\x89PNG\r\n\x1a\n";
export const isPng = (bytes: Uint8Array): boolean => holdsAt(bytes, 0, SIGNATURE);

interface Parts {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly colour: number;
  readonly interlaced: boolean;
  /** Whether the PNG has only features that every reader accepts. Any other PNG must be decoded to be checked. */
  readonly isUsual: boolean;
  readonly palette: Uint8Array | undefined;
  readonly transparency: Uint8Array | undefined;
  readonly data: readonly Uint8Array[];
}

/** Chunk types as numbers of four letters (PNG 1.2, 4). */
const ANCILLARY = 0x20000000;
const [IHDR, PLTE, TRNS, IDAT, IEND] = [0x49484452, 0x504c5445, 0x74524e53, 0x49444154, 0x49454e44];

/**
 * The most chunks of a PNG. An encoder writes thousands of bytes, or a row, into one chunk. Even an empty chunk costs
 * objects and a checksum.
 */
const MOST_CHUNKS = 100_000;

/**
 * The most bytes after the end of the PNG. Readers ignore a line end or padding. More bytes mean that the answer is
 * wrong.
 */
const MOST_BEHIND = 64;

/**
 * Returns the chunks of a complete PNG (PNG 1.2, 3.2). Skips an ancillary chunk with a wrong checksum if the pixels do
 * not depend on it.
 * @throws PictureError when the PNG ends before IEND, or when the checksum of another chunk is wrong
 */
export function pngParts(bytes: Uint8Array): Parts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: Uint8Array | undefined;
  let isUsual = true;
  let before = 0;
  let palette: Uint8Array | undefined;
  let transparency: Uint8Array | undefined;
  const data: Uint8Array[] = [];
  let chunks = 0;
  for (let at = 8; at + 12 <= bytes.byteLength; ) {
    if (++chunks > MOST_CHUNKS) throw new PictureError("too_large", `the PNG has more than ${MOST_CHUNKS} chunks`);
    const length = view.getUint32(at);
    if (at + 12 + length > bytes.byteLength) break;
    const type = view.getUint32(at + 4);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (view.getUint32(at + 8 + length) !== crc32(bytes.subarray(at + 4, at + 8 + length))) {
      // Pixels depend on tRNS. Any other ancillary chunk can be skipped, as libpng does.
      if ((type & ANCILLARY) === 0 || type === TRNS)
        throw new PictureError("truncated", "a checksum of the PNG is wrong");
      before = type;
      at += 12 + length;
      continue;
    }
    // The order and repetition of chunks (PNG 1.2, 4.3).
    if (type === IHDR && length === 13) {
      isUsual &&= at === 8;
      header = body;
    } else if (type === PLTE) {
      isUsual &&= palette === undefined && data.length === 0 && length % 3 === 0 && length <= 768;
      palette = body;
    } else if (type === TRNS) transparency = body;
    else if (type === IDAT) {
      isUsual &&= data.length === 0 || before === IDAT;
      data.push(body);
    } else if (type === IEND && header !== undefined) {
      if (bytes.byteLength - at - 12 > MOST_BEHIND)
        throw new PictureError("not_a_picture", "further bytes follow the end of the PNG");
      const size = new DataView(header.buffer, header.byteOffset);
      return {
        width: size.getUint32(0),
        height: size.getUint32(4),
        depth: header[8] ?? 0,
        colour: header[9] ?? 0,
        interlaced: header[12] !== 0,
        isUsual: isUsual && header[10] === 0 && header[11] === 0,
        palette,
        transparency,
        data,
      };
    }
    // An unknown critical chunk (PNG 1.2, 3.3).
    else if ((type & ANCILLARY) === 0) isUsual = false;
    before = type;
    at += 12 + length;
  }
  throw new PictureError("truncated", "the PNG ends before its end");
}

const deflatedOf = ({ data: [first = new Uint8Array(0), ...others] }: Parts): Uint8Array =>
  others.length === 0 ? first : Buffer.concat([first, ...others]);

/** The colour type whose samples are indices into a palette. */
const INDEXED = 3;
/** The samples of a pixel by colour type, and the allowed bits of each sample (PNG 1.2, 4.1.1). */
const COLOURS: ReadonlyMap<number, readonly [samples: number, depths: readonly number[]]> = new Map([
  [0, [1, [1, 2, 4, 8, 16]]],
  [2, [3, [8, 16]]],
  [3, [1, [1, 2, 4, 8]]],
  [4, [2, [8, 16]]],
  [6, [4, [8, 16]]],
]);
/** The highest row filter. Filters are numbered from 0 (PNG 1.2, 6.1). */
const LAST_FILTER = 4;

/**
 * Checks the pixels of a PNG without making a raster: they must inflate to the expected length with the right checksum,
 * and each must have a colour. Returns false if this kind of PNG can be checked only by decoding it.
 * @throws PictureError
 */
export function provePixels(parts: Parts): boolean {
  const { width, height, depth, colour, interlaced, isUsual, palette } = parts;
  const [samples, depths] = COLOURS.get(colour) ?? [0, []];
  if (interlaced || !isUsual || !depths.includes(depth)) return false;
  const stride = Math.ceil((width * samples * depth) / 8) + 1;
  const rows = inflate(deflatedOf(parts), stride * height);
  let filters = 0;
  for (let at = 0; at < stride * height; at += stride) {
    const filter = rows[at] ?? 0;
    if (filter > LAST_FILTER) throw new PictureError("truncated", "a row of the PNG has no known filter");
    filters |= filter;
  }
  if (colour === INDEXED) {
    const colours = (palette?.byteLength ?? 0) / 3;
    // A filtered byte is not yet an index, and decoders differ on an index without a colour. Both need decoding.
    return colours >= 2 ** depth || (filters === 0 && haveColours(rows, { width, height, depth, stride }, colours));
  }
  return true;
}

function haveColours(
  rows: Uint8Array,
  { width, height, depth, stride }: { width: number; height: number; depth: number; stride: number },
  colours: number,
): boolean {
  const mask = 2 ** depth - 1;
  for (let y = 0; y < height; y++) {
    const row = y * stride + 1;
    for (let bit = 0; bit < width * depth; bit += 8) {
      const byte = rows[row + bit / 8] ?? 0;
      // Most pixels of a map have the colour of index 0.
      if (byte === 0) continue;
      // The last byte of a row may have bits after the last pixel.
      const end = Math.min(8, width * depth - bit);
      for (let at = depth; at <= end; at += depth) if (((byte >> (8 - at)) & mask) >= colours) return false;
    }
  }
  return colours >= 1;
}

/**
 * Decodes the kind of PNG that MapServer's AGG writes (8 bit, not interlaced, no row filters) in plain JavaScript,
 * faster than sharp. Undefined if sharp must decode the PNG.
 * @throws PictureError
 */
export function decodePlainPng(parts: Parts): Raster | undefined {
  const { width, height, depth, colour, interlaced, isUsual, palette, transparency } = parts;
  if (depth !== 8 || interlaced || !isUsual || (colour !== 2 && colour !== 6 && colour !== INDEXED)) return undefined;
  if (colour === 2 && transparency !== undefined) return undefined;
  const channels = colour === 2 ? 3 : colour === 6 ? 4 : 1;
  const stride = width * channels + 1;
  const deflated = deflatedOf(parts);
  if (beginsFiltered(deflated, stride, height)) return undefined;
  const raw = inflate(deflated, stride * height);
  for (let y = 0; y < height; y++) if (raw[y * stride] !== 0) return undefined;
  if (colour === INDEXED) return fromPalette(raw, width, height, palette ?? new Uint8Array(0), transparency);
  return { width, height, channels: channels === 3 ? 3 : 4, data: raw, rowPrefix: 1 };
}

const PEEK_BYTES = 2048;

/**
 * Returns whether the first rows have filters. Then sharp decodes the PNG, and inflating all of it here first would
 * take a third of the total time. Returns false if the beginning of the data is not enough to decide.
 */
function beginsFiltered(deflated: Uint8Array, stride: number, height: number): boolean {
  if (deflated.byteLength < 8 * PEEK_BYTES) return false;
  let rows: Uint8Array;
  try {
    rows = inflateSync(deflated.subarray(0, PEEK_BYTES), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: stride * height + 1024,
    });
  } catch {
    return false;
  }
  for (let at = 0; at < rows.byteLength; at += stride) if (rows[at] !== 0) return true;
  return false;
}

function fromPalette(
  raw: Uint8Array,
  width: number,
  height: number,
  palette: Uint8Array,
  transparency: Uint8Array | undefined,
): Raster {
  const channels = transparency === undefined ? 3 : 4;
  const data = new Uint8Array(width * height * channels);
  const colours = palette.byteLength / 3;
  for (let y = 0, out = 0; y < height; y++) {
    for (let x = 0; x < width; x++, out += channels) {
      const index = raw[y * (width + 1) + 1 + x] ?? 0;
      if (index >= colours) throw new PictureError("truncated", "the PNG's palette is too short");
      data[out] = palette[index * 3] ?? 0;
      data[out + 1] = palette[index * 3 + 1] ?? 0;
      data[out + 2] = palette[index * 3 + 2] ?? 0;
      if (channels === 4) data[out + 3] = transparency?.[index] ?? 255;
    }
  }
  return { width, height, channels, data };
}
