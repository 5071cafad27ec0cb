import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";
import { pictureKind } from "../../image/picture-kind.ts";
import { codeOf } from "../../lib/error-code.ts";
import { SourceError } from "../source.ts";

const CODED = {
  gzip: [promisify(gunzip)],
  // The zlib format (RFC 9110, 8.4.1.2). Some servers send raw deflate data without the zlib frame.
  deflate: [promisify(inflate), promisify(inflateRaw)],
  br: [promisify(brotliDecompress)],
} as const;
type Coding = keyof typeof CODED;

const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
]);
/** Codings that cannot be decoded. Any other name, such as a charset in the wrong header, does not change the bytes. */
const UNSUPPORTED: ReadonlySet<string> = new Set(["zstd", "compress", "x-compress", "dcb", "dcz"]);
/** The most codings that are applied to one body. */
const MOST_CODINGS = 5;

/**
 * Decodes a body by its Content-Encoding, which an upstream may apply although the request accepted no coding. Returns
 * a body unchanged if it is plain in spite of the header.
 * @param limit the most bytes of the body after each step
 * @throws SourceError
 */
export async function decodedBody(body: Uint8Array, contentEncoding: string, limit: number): Promise<Uint8Array> {
  const codings = contentEncoding
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => CODINGS.has(name) || UNSUPPORTED.has(name));
  if (codings.length > MOST_CODINGS)
    throw new SourceError("wrong_type", `the answer has more than ${MOST_CODINGS} content codings`);
  let decoded = body;
  // The coding that is named last was applied last (RFC 9110, 8.4).
  for (const name of codings.reverse()) {
    if (decoded.byteLength === 0) return decoded;
    const coding = CODINGS.get(name);
    if (coding === undefined) throw new SourceError("wrong_type", `the answer is compressed with ${name}`);
    decoded = await without(coding, decoded, limit);
  }
  return decoded;
}

async function without(coding: Coding, body: Uint8Array, limit: number): Promise<Uint8Array> {
  if (isPlain(coding, body)) return body;
  let fault: unknown;
  for (const decode of CODED[coding]) {
    try {
      return await decode(body, { maxOutputLength: limit });
    } catch (error) {
      if (codeOf(error) === "ERR_BUFFER_TOO_LARGE")
        throw new SourceError("too_large", `the answer is larger than ${limit} bytes`, { cause: error });
      fault ??= error;
    }
  }
  const isCut = codeOf(fault) === "Z_BUF_ERROR" || codeOf(fault) === "ERR__ERROR_FORMAT_UNEXPECTED_END";
  throw isCut
    ? new SourceError("truncated", `the ${coding} data of the answer is cut off`, { cause: fault })
    : new SourceError("wrong_type", `the ${coding} data of the answer is damaged`, { cause: fault });
}

/**
 * Returns whether a body cannot have a coding, so that the header is wrong. Some proxies decode the body and leave the
 * header.
 */
function isPlain(coding: Coding, body: Uint8Array): boolean {
  if (coding === "gzip") return body[0] !== 0x1f || body[1] !== 0x8b;
  // A vector tile begins with its first layer.
  return pictureKind(body) !== undefined || body[0] === 0x1a || isText(body);
}

const SAMPLE_BYTES = 4096;

function isText(body: Uint8Array): boolean {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body.subarray(0, SAMPLE_BYTES), { stream: true });
    return !/[^\P{Cc}\t\n\r\f]/u.test(text);
  } catch {
    return false;
  }
}
