import type { TileFormat } from "./format.ts";

/*
 * A mark is what a store holds where the upstream has answered that there is no tile. It is stored, expires, is
 * truncated and is counted as any tile is, so that every process and node knows the answer for as long as a tile would
 * be fresh. A program that reads the store without Nuthatch finds a tile without content.
 */

/** A PNG of one transparent pixel with a comment. It is also the mark of the other formats of pictures. */
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

/** Returns whether a tile of so many bytes may be a mark. */
export const mayBeNoTileMark = (bytes: number): boolean => MARKS.some((mark) => mark.byteLength === bytes);
