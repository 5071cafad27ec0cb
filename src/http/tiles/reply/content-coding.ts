import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { LRUCache } from "lru-cache";

/** The content coding of a body (RFC 9110, 8.4.1). */
export type Coding = "br" | "gzip" | "identity";

/** A smaller body fits into one packet without compression. */
const SMALLEST_PACKED = 256;
/** Takes about as long as gzip and gives a tenth fewer bytes. The default 11 is for files that are compressed once. */
export const BROTLI_QUALITY = 5;
const OVERHEAD_BYTES = 256;

let last: { readonly header: string; readonly coding: Coding } = { header: "", coding: "identity" };

/**
 * Returns the coding that a client prefers (RFC 9110, 12.5.3): Brotli if it weights both codings equally, identity if
 * it names none.
 */
export function codingFor(header: string | undefined, bytes: number): Coding {
  if (header === undefined || bytes < SMALLEST_PACKED) return "identity";
  // Consecutive requests mostly have equal headers.
  if (last.header !== header) last = { header, coding: parse(header) };
  return last.coding;
}

function parse(header: string): Coding {
  const weights = weightsOf(header);
  const weightOf = (name: Coding): number => weights.get(name) ?? weights.get("*") ?? 0;
  const [br, gz, plain] = [weightOf("br"), weightOf("gzip"), weights.get("identity") ?? 0];
  if (br > 0 && br >= gz && br >= plain) return "br";
  return gz > 0 && gz >= plain ? "gzip" : "identity";
}

/** Returns whether a client accepts a coding explicitly (RFC 9110, 12.5.3). */
export const accepts = (header: string | undefined, coding: Coding): boolean =>
  header !== undefined && (weightsOf(header).get(coding) ?? 0) > 0;

/** Returns the weights of the codings in an Accept-Encoding header, by name in lower case. */
function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "");
    const weight = q === undefined ? 1 : Number(q);
    if (name !== "") weights.set(name === "x-gzip" ? "gzip" : name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}

/**
 * Returns the tag of a compressed body, which differs from the tag of the uncompressed bytes (RFC 9110, 8.8.3.3).
 * `etag` is quoted.
 */
export const packedTag = (etag: string, coding: Coding): string =>
  coding === "identity" ? etag : `${etag.slice(0, -1)}-${coding}"`;

const packers = {
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
      },
    }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
} as const;

/** A body and its compressed form, or the promise of that form. */
interface Packed<Form> {
  readonly bytes: Uint8Array;
  readonly packed: Form;
}

/**
 * Stores compressed bodies, up to a number of bytes. Compresses each body once, outside of the event loop. Finds a body
 * by its tag and compares the bytes: an attacker who chooses the bytes of a tile can give it the tag of another tile.
 */
export class PackedBodies {
  readonly #packed: LRUCache<string, Packed<Uint8Array>>;
  readonly #coming = new Map<string, Packed<Promise<Uint8Array>>>();

  constructor(maxBytes: number) {
    this.#packed = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes, packed }) => bytes.byteLength + packed.byteLength + OVERHEAD_BYTES,
    });
  }

  /** Returns a compressed body: at once if it is stored, else as a promise. `etag` must be derived from the bytes. */
  get(bytes: Uint8Array, etag: string, coding: "br" | "gzip"): Uint8Array | Promise<Uint8Array> {
    const key = packedTag(etag, coding);
    const stored = this.#packed.get(key);
    if (stored !== undefined && isSame(stored.bytes, bytes)) return stored.packed;
    const coming = this.#coming.get(key);
    if (coming !== undefined && isSame(coming.bytes, bytes)) return coming.packed;
    const packing = packers[coding](bytes)
      .then((packed) => {
        this.#packed.set(key, { bytes, packed });
        return packed;
      })
      .finally(() => {
        if (this.#coming.get(key)?.packed === packing) this.#coming.delete(key);
      });
    this.#coming.set(key, { bytes, packed: packing });
    return packing;
  }
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a === b || Buffer.compare(a, b) === 0;
