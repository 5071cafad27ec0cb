import { gunzipSync, inflateSync } from "node:zlib";
import type { DataFormat } from "../../layer/format.ts";
import { codeOf } from "../../lib/error-code.ts";
import { isMap } from "../../lib/is-map.ts";
import { charsetOf } from "../../lib/text/answer-text.ts";
import { decodeText } from "../../lib/text/decode-text.ts";
import { checkStatus, isPicture, type UpstreamAnswer } from "../http/image-response.ts";
import { beginningOf, ownWords } from "../http/response-text.ts";
import { SourceError } from "../source.ts";

/**
 * The size limit in bytes of an uncompressed tile. Clients cannot use tiles of a hundredth of this size, so a larger
 * tile is treated as an attack.
 */
export const DATA_LIMIT = 32 * 1024 * 1024;

export const EMPTY = "the tile is empty";

/** Returns the tile in an answer. Undefined if the answer is a vector tile without layers. @throws SourceError */
export function dataOf(answer: UpstreamAnswer, format: DataFormat): Uint8Array | undefined {
  checkStatus(answer);
  if (/^text\/html\b/i.test(answer.contentType) && answer.body.byteLength > 0)
    throw new SourceError("exception", ownWords(answer.body, answer.contentType) || "a page without words");
  const bytes = tileData(answer.body, format, answer.contentType);
  return bytes === undefined || format.content !== "json" ? bytes : jsonTile(bytes, answer.contentType, format);
}

/** The values of `type` of a GeoJSON object (RFC 7946, 1.4). */
const GEOJSON = /^(?:Feature|FeatureCollection|GeometryCollection|(?:Multi)?(?:Point|LineString|Polygon))$/;

/** Returns a JSON tile in UTF-8. @throws SourceError for JSON that is not a tile of the format, such as an exception */
function jsonTile(bytes: Uint8Array, contentType: string, { mimeType }: DataFormat): Uint8Array {
  const charset = charsetOf(contentType)?.toLowerCase() ?? "utf-8";
  let text: string;
  let tile: unknown;
  try {
    text = decodeText(bytes, charset, true);
  } catch (error) {
    throw new SourceError("wrong_type", `the JSON is no text in ${charset}`, { cause: error });
  }
  try {
    tile = JSON.parse(text);
  } catch (error) {
    throw new SourceError("wrong_type", "the answer is no JSON", { cause: error });
  }
  if (!isTileOf(mimeType, tile)) throw new SourceError("exception", ownWords(Buffer.from(text)) || `no ${mimeType}`);
  return charset === "utf-8" || charset === "utf8" ? bytes : Buffer.from(text);
}

function isTileOf(mimeType: string, tile: unknown): boolean {
  if (!isMap(tile)) return false;
  const type = typeof tile["type"] === "string" ? tile["type"] : "";
  if (mimeType.endsWith("utfgrid")) return Array.isArray(tile["grid"]);
  return mimeType.endsWith("topojson") ? type === "Topology" : GEOJSON.test(type);
}

/**
 * Returns a tile that is not a picture in the form in which it is stored: decompressed if it was gzipped, otherwise
 * unchanged. Undefined if it is a vector tile of 0 bytes, which is a message without layers. Does not decode a vector
 * tile, but checks its first byte, so that no exception document and no HTML page is stored as a tile.
 * @throws SourceError
 */
export function tileData(packed: Uint8Array, format: DataFormat, contentType = ""): Uint8Array | undefined {
  // Upstreams send vector tiles as their archives contain them, even if the request did not accept gzip.
  const isGzip = packed[0] === 0x1f && packed[1] === 0x8b;
  const bytes = isGzip
    ? unzipped(packed, gunzipSync, "gzip")
    : isZlib(packed)
      ? unzipped(packed, inflateSync, "zlib")
      : packed;
  if (bytes.byteLength === 0) {
    if (format.content === "protobuf") return undefined;
    throw new SourceError("empty", EMPTY);
  }
  if (bytes.byteLength > DATA_LIMIT) throw tooLarge();
  if (isPicture(bytes)) throw new SourceError("wrong_type", `a picture, not ${format.mimeType}`);
  const first = beginningOf(bytes, contentType)[0];
  if (first === "<" || (first === "{" && format.content === "protobuf"))
    throw new SourceError("exception", ownWords(bytes, contentType) || "a document without words");
  switch (format.content) {
    case "protobuf":
      // The first byte is field 3, the layers, or an extension, 16 and above (Mapbox Vector Tile 2.1, 4.1). No text
      // begins with these bytes.
      if (bytes[0] !== 0x1a && (bytes[0] ?? 0) < 0x80)
        throw new SourceError("wrong_type", "the answer is no vector tile");
      return bytes;
    case "json": {
      if (first !== "{" && first !== "[") throw new SourceError("wrong_type", "the answer is no JSON");
      const end = Buffer.from(bytes.subarray(-256)).toString("utf8").trimEnd().at(-1);
      if (end !== "}" && end !== "]") throw new SourceError("truncated", "the JSON has no end");
      return bytes;
    }
  }
}

const tooLarge = (cause?: unknown): SourceError =>
  new SourceError("too_large", `the tile is larger than ${DATA_LIMIT} bytes`, { cause });

/** Returns whether data begins like zlib data with a window of 32 kB (RFC 1950, 2.2), which old archives contain. */
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean => first === 0x78 && (first * 256 + second) % 31 === 0;

function unzipped(packed: Uint8Array, unpack: typeof gunzipSync, name: string): Uint8Array {
  try {
    return unpack(packed, { maxOutputLength: DATA_LIMIT });
  } catch (error) {
    const code = codeOf(error);
    if (code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(error);
    if (code === "Z_BUF_ERROR") throw new SourceError("truncated", `the ${name} data is cut off`, { cause: error });
    throw new SourceError("wrong_type", `the ${name} data is damaged`, { cause: error });
  }
}
