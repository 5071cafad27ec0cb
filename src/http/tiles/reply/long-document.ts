import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { contentEtag } from "../../../lib/http/etag.ts";
import { onceEach } from "../../../lib/once-each.ts";
import { Slices } from "../../../lib/process/slices.ts";
import { ownVersion } from "../../../lib/process/version.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { CatalogueDocument } from "../tile-parts.ts";
import { hasResult } from "./conditional.ts";
import { BROTLI_QUALITY, type Coding, codingFor, packedTag } from "./content-coding.ts";
import { disposition, OPEN, VARYING } from "./tile-reply.ts";

/**
 * Documents of more layers are sent while they are written, and not stored: capabilities of 10,000 layers have tens of
 * megabytes and take seconds.
 */
const MOST_LAYERS = 500;

export const isLong = ({ layers }: Catalogue): boolean => layers.size > MOST_LAYERS;

/** The digest of the layers and of all data in their descriptions. Undefined if a layer has no digest. */
const catalogueDigest = onceEach(({ layers, service }: Catalogue): { readonly digest: string | undefined } => {
  const hash = createHash("sha256").update(JSON.stringify([ownVersion(), service]));
  for (const { digest } of layers.values()) {
    if (digest === undefined) return { digest: undefined };
    hash.update(digest);
  }
  return { digest: hash.digest("base64url") };
});

/** Returns the tag of a long document before it is written. Undefined if a layer has no digest. */
export function longDocumentTag(
  catalogue: Catalogue,
  { name }: Pick<CatalogueDocument, "name">,
  baseUrl: string,
): string | undefined {
  const { digest } = catalogueDigest(catalogue);
  if (digest === undefined) return undefined;
  return contentEtag(JSON.stringify([digest, name, baseUrl]));
}

/** The bytes that are written at once: enough for few writes, and fewer than the slowest client reads in a minute. */
const PART_BYTES = 32_768;

/** Joins short parts, and yields to the event loop between them, so that a document does not block other work. */
async function* inSlices(parts: Iterable<string>, clock: Clock): AsyncGenerator<Buffer> {
  const slices = new Slices(clock);
  let text = "";
  for (const part of parts) {
    text += part;
    if (text.length >= PART_BYTES) {
      yield* inPieces(Buffer.from(text));
      text = "";
    }
    if (slices.isOver) await slices.next();
  }
  yield Buffer.from(text);
}

/** Splits a description, which is long if a layer has thousands of values. */
function* inPieces(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.byteLength; from += PART_BYTES) yield bytes.subarray(from, from + PART_BYTES);
}

/** Sends a document while it is written, without Content-Length. `etag` is undefined if the document has no tag. */
export async function sendLongDocument(
  response: ServerResponse,
  document: CatalogueDocument,
  { etag, baseUrl, clock }: { readonly etag: string | undefined; readonly baseUrl: string; readonly clock: Clock },
): Promise<void> {
  const { headers, method } = response.req;
  const coding = codingFor(headers["accept-encoding"], Number.POSITIVE_INFINITY);
  const own = etag === undefined ? undefined : packedTag(etag, coding);
  const lasting = [...(own === undefined ? [] : ["ETag", own]), "Cache-Control", "no-cache", ...VARYING];
  if (own !== undefined && hasResult(response.req, own, undefined)) {
    response.writeHead(304, [...OPEN, ...lasting]).end();
    return;
  }
  const packing = coding === "identity" ? [] : ["Content-Encoding", coding];
  const describing = ["Content-Type", document.contentType, ...packing, ...disposition(document)];
  response.writeHead(200, [...describing, ...OPEN, ...lasting]);
  if (method === "HEAD") response.end();
  else await streamParts(response, inSlices(document.parts(baseUrl), clock), coding);
}

/** Sends the parts of a document as the body. Waits while the client does not read. */
async function streamParts(response: ServerResponse, parts: AsyncIterable<Buffer>, coding: Coding): Promise<void> {
  const source = Readable.from(parts, { objectMode: false, highWaterMark: PART_BYTES });
  const packer = packerOf(coding);
  try {
    if (packer === undefined) await pipeline(source, response);
    else await pipeline(source, packer, response);
  } catch (error) {
    // If the client has disconnected, the stream ends.
    if (!response.destroyed) throw error;
  }
}

function packerOf(coding: Coding): Transform | undefined {
  switch (coding) {
    case "br":
      return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
    case "gzip":
      return createGzip();
    case "identity":
      return undefined;
  }
}
