import type { TileFormat } from "./format.ts";

/*
 * A store contains a mark in place of a tile if the upstream has answered that it has no tile. A mark is
 * stored, expires, is truncated and is counted like a tile, so that every process and node knows the answer for as long
 * as a tile would be fresh. A program that reads the store without Nuthatch finds a tile without content.
 */

/** A PNG of one transparent pixel with a comment. It is the mark of all picture formats. */
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAGXRFWHRDb21tZW50AE51dGhhdGNoOiBubyB0aWxltpEG2wAAAAtJREFUeJxjYAACAAAFAAF6Xqs/AAAAAElFTkSuQmCC",
  "base64",
);

/** A vector tile without layers. Its only field is an extension, 8191 (Mapbox Vector Tile 2.1, 4.1). */
const VECTOR = Buffer.from("\xfa\xff\x03\x11Nuthatch: no tile", "latin1");

const JSON_OBJECT = Buffer.from('{"comment":"Nuthatch: no tile"}');

/** Returns the mark of a format. */
export function noTileMark(format: TileFormat): Uint8Array {
  if (format.kind === "image") return PICTURE;
  return format.content === "protobuf" ? VECTOR : JSON_OBJECT;
}

const MARKS = [PICTURE, VECTOR, JSON_OBJECT];

/** Returns whether stored bytes are a mark. */
export const isNoTileMark = (bytes: Uint8Array): boolean =>
  MARKS.some((mark) => mark.byteLength === bytes.byteLength && mark.equals(bytes));

/** Returns whether a tile of this size in bytes may be a mark. */
export const mayBeNoTileMark = (bytes: number): boolean => MARKS.some((mark) => mark.byteLength === bytes);
