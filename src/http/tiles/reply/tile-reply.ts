import type { ServerResponse } from "node:http";
import type { MapRequest } from "../../../cache/map-renderer.ts";
import type { ServedTile, TileRequest } from "../../../cache/tile-reader.ts";
import type { UpstreamQuestion } from "../../../cache/upstream-question.ts";
import { asZoom, extentText, tileExtent, type Zoom } from "../../../grid/grid-set.ts";
import { contentTypeOf } from "../../../layer/format.ts";
import type { Layer } from "../../../layer/layer.ts";
import { jsonText } from "../../../lib/text/json-text.ts";
import type { UpstreamDocument } from "../../../source/source.ts";
import { challengeOf } from "../../auth/rights.ts";
import { endInParts } from "../../connection/slow-readers.ts";
import { type ProtocolError, plainError } from "../../errors.ts";
import { HTML_TYPE, POLICY_HEADER } from "../../reply.ts";
import type { Explanation } from "../explanation.ts";
import type { ErrorPicture } from "../wms/map-exceptions.ts";
import { hasResult } from "./conditional.ts";
import { type Coding, codingFor, type PackedBodies, packedTag } from "./content-coding.ts";
import { filteredTile } from "./filtered-tile.ts";
import { type Aging, cacheHeaders, cdnLifetime, clientLifetime, type Lifetime, shortest } from "./lifetimes.ts";
import { type Dialect, errorDocument } from "./ogc-exception.ts";

/** The methods of an address. With `form` its query may also be the body of a POST. */
export type AllowedReads = "read" | "form";
const ALLOWED: Readonly<Record<AllowedReads, string>> = {
  read: "GET, HEAD, OPTIONS",
  form: "GET, HEAD, POST, OPTIONS",
};

const EXPOSED =
  "ETag, Last-Modified, Expires, Retry-After, Cache-Status, geowebcache-cache-result, geowebcache-tile-index, geowebcache-tile-bounds, geowebcache-gridset, geowebcache-crs, geowebcache-layer";

/** Returns the value of Cache-Status (RFC 9211, 2). */
const cacheStatus = ({ forwarded, detail }: ServedTile): string =>
  `Nuthatch; ${forwarded === undefined ? "hit" : `fwd=${forwarded}`}${detail === undefined ? "" : `; detail=${detail}`}`;

/** Headers of every answer of the tile protocols, because maps are on other origins than their tiles. */
export const OPEN: readonly string[] = [
  "Access-Control-Allow-Origin",
  "*",
  "Access-Control-Expose-Headers",
  EXPOSED,
  "X-Content-Type-Options",
  "nosniff",
];

/** Headers of every answer whose body depends on the codings that the client accepts. */
export const VARYING: readonly string[] = ["Vary", "Accept-Encoding"];

/** A body in a content coding, with the tag for this coding. */
interface CodedBody {
  readonly etag: string;
  readonly bytes: Uint8Array;
  readonly coding: Coding;
}

const NOTHING = new Uint8Array(0);

/**
 * Sends a body in the coding that the client prefers. Returns a promise only if the body must be compressed first. If
 * the client already has the body it gets a 304, and nothing is compressed.
 */
function sendCoded(
  response: ServerResponse,
  { bytes, etag }: Pick<ServedTile, "bytes" | "etag">,
  modifiedMs: number | undefined,
  packed: PackedBodies,
  send: (body: CodedBody) => void,
): Promise<void> | void {
  const { headers } = response.req;
  const coding = codingFor(headers["accept-encoding"], bytes.byteLength);
  if (coding === "identity") return send({ etag, bytes, coding });
  const own = packedTag(etag, coding);
  if (hasResult(response.req, own, modifiedMs)) return send({ etag: own, bytes: NOTHING, coding });
  const body = packed.get(bytes, etag, coding);
  if (!(body instanceof Promise)) return send({ etag: own, bytes: body, coding });
  return body.then((ready) => {
    if (!response.destroyed) send({ etag: own, bytes: ready, coding });
  });
}

/** How a client gets the errors of a request. */
export interface ErrorForm {
  readonly dialect: Dialect;
  /** The picture in place of a document. Undefined: a document. */
  readonly picture: ErrorPicture | undefined;
}

/** The data that is prepared once for each address and stored in the memo. */
export interface PreparedTile {
  readonly request: TileRequest;
  readonly errors: ErrorForm;
  /** The header with the tags of the tile. Empty for none. */
  readonly tags: readonly string[];
  readonly fixed: readonly string[];
  /** The header blocks of the tile that was sent last. They do not reference its bytes. */
  built: BuiltHeaders | undefined;
}

interface BuiltHeaders {
  readonly etag: string;
  readonly modifiedMs: number;
  readonly bytes: number;
  readonly cacheResult: ServedTile["cacheResult"];
  readonly forwarded: ServedTile["forwarded"];
  readonly detail: ServedTile["detail"] | undefined;
  readonly client: Lifetime;
  readonly cdn: Lifetime;
  /** The headers of a 200. With a max-age, both lists end in the value of Expires, which each answer sets. */
  readonly whole: string[];
  readonly notModified: string[];
}

/** Returns the value of a header. Percent-encodes a text that is not printable ASCII. */
const headerText = (text: string): string => (/^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text));

/**
 * Returns the headers of the lifetimes for tiles of a zoom. An undefined `tile` means that no stored tile sets a limit.
 */
function lifetimesOf(layer: Layer, z: Zoom, tile: Aging | undefined, nowMs: number): readonly string[] {
  return cacheHeaders(clientLifetime(layer, z, tile, nowMs), cdnLifetime(layer, z, tile, nowMs), layer.secured);
}

/** @param tags the header with the tags of the tile; empty for none */
export function prepareTile(request: TileRequest, errors: ErrorForm, tags: readonly string[]): PreparedTile {
  const { layer, index } = request;
  const grid = request.subset.gridSet;
  const fixed = [
    ...OPEN,
    "geowebcache-layer",
    headerText(layer.name),
    "geowebcache-gridset",
    headerText(grid.id),
    "geowebcache-crs",
    `EPSG:${grid.srs}`,
    "geowebcache-tile-index",
    `[${index.x}, ${index.y}, ${index.z}]`,
    "geowebcache-tile-bounds",
    extentText(tileExtent(grid, index)),
    ...tags,
    ...(request.format.kind === "data" ? VARYING : []),
  ];
  return { request, errors, tags, fixed, built: undefined };
}

function headersOf(prepared: PreparedTile, tile: ServedTile, coding: Coding, nowMs: number): BuiltHeaders {
  const before = prepared.built;
  const { layer, index } = prepared.request;
  const client = clientLifetime(layer, index.z, tile, nowMs);
  const cdn = cdnLifetime(layer, index.z, tile, nowMs);
  const bytes = tile.bytes.byteLength;
  if (
    before !== undefined &&
    before.etag === tile.etag &&
    before.modifiedMs === tile.modifiedMs &&
    before.bytes === bytes &&
    before.cacheResult === tile.cacheResult &&
    before.forwarded === tile.forwarded &&
    before.detail === tile.detail &&
    before.client === client &&
    before.cdn === cdn
  ) {
    return before;
  }
  const lasting = [
    ...prepared.fixed,
    ...cacheHeaders(client, cdn, layer.secured),
    "geowebcache-cache-result",
    tile.cacheResult,
    "Cache-Status",
    cacheStatus(tile),
    "ETag",
    tile.etag,
    "Last-Modified",
    new Date(tile.modifiedMs).toUTCString(),
  ];
  const body = [
    ...describe(contentTypeOf(prepared.request.format, tile.bytes), tile.bytes),
    ...(coding === "identity" ? [] : ["Content-Encoding", coding]),
  ];
  const expires = typeof client === "number" ? ["Expires", ""] : [];
  const built = {
    etag: tile.etag,
    modifiedMs: tile.modifiedMs,
    bytes,
    cacheResult: tile.cacheResult,
    forwarded: tile.forwarded,
    detail: tile.detail,
    client,
    cdn,
    whole: [...lasting, ...body, ...expires],
    notModified: [...lasting, ...expires],
  };
  prepared.built = built;
  return built;
}

let expiresOf = { seconds: -1, text: "" };
/** Returns an HTTP date. Stores the last one, because all answers of one second need the same date. */
function httpDate(seconds: number): string {
  if (expiresOf.seconds !== seconds) expiresOf = { seconds, text: new Date(seconds * 1000).toUTCString() };
  return expiresOf.text;
}

/** Sends a picture tile as 200 or 304. Writes prepared header blocks and allocates almost nothing. */
export function sendTile(
  prepared: PreparedTile,
  tile: ServedTile,
  response: ServerResponse,
  nowMs: number,
  coding: Coding = "identity",
): void {
  const built = headersOf(prepared, tile, coding, nowMs);
  const unchanged = hasResult(response.req, tile.etag, tile.modifiedMs);
  const block = unchanged ? built.notModified : built.whole;
  if (typeof built.client === "number") {
    block[block.length - 1] = httpDate(Math.floor(nowMs / 1000) + built.client);
  }
  response.writeHead(unchanged ? 304 : 200, block);
  if (unchanged) response.end();
  else endInParts(response, tile.bytes);
}

/**
 * Sends that there is no tile. Caches may store the answer like a tile if the store has a mark.
 * @param mark the stored mark; undefined if the answer is not stored
 */
export function sendNoContent({ fixed }: PreparedTile, mark: ServedTile | undefined, response: ServerResponse): void {
  const headers =
    mark === undefined
      ? [...OPEN, "Cache-Control", "no-store"]
      : [...fixed, "geowebcache-cache-result", mark.cacheResult, "Cache-Status", cacheStatus(mark)];
  response.writeHead(204, headers).end();
}

/** Sends a data tile as 200 or 304, in the coding that the client prefers. */
export const sendData = (
  prepared: PreparedTile,
  tile: ServedTile,
  response: ServerResponse,
  nowMs: number,
  packed: PackedBodies,
): Promise<void> | void =>
  sendCoded(response, tile, tile.modifiedMs, packed, ({ etag, bytes, coding }) =>
    sendTile(prepared, { ...tile, etag, bytes }, response, nowMs, coding),
  );

/** Sends a document that contains a tile. It has the age of its tile, and is made for each request. */
export const sendPacked = (
  response: ServerResponse,
  { layer, index }: PreparedTile["request"],
  contentType: string,
  bytes: Uint8Array,
  tile: ServedTile | undefined,
  tags: readonly string[],
  nowMs: number,
): void => send(response, 200, contentType, bytes, [...tags, ...lifetimesOf(layer, index.z, tile, nowMs)]);

/** Sends GeoWebCache's answer to a request that a request filter refuses. The filter may permit the tile later. */
export function sendFiltered(
  { request, tags }: Pick<PreparedTile, "request" | "tags">,
  { filter, debug }: { readonly filter: string; readonly debug: boolean },
  response: ServerResponse,
): void {
  send(response, 200, "image/png", filteredTile(request.subset.gridSet, debug), [
    "gwc-request-filter",
    headerText(filter),
    ...tags,
  ]);
}

/** Sends a body without a date as 200 or 304. `describing` are headers of the body, which a 304 lacks. */
function sendTagged(
  response: ServerResponse,
  { etag, bytes }: Pick<ServedTile, "bytes" | "etag">,
  describing: readonly string[],
  lasting: readonly string[],
): void {
  if (hasResult(response.req, etag, undefined)) {
    response.writeHead(304, [...OPEN, ...lasting]).end();
    return;
  }
  response.writeHead(200, [...describing, ...OPEN, ...lasting]);
  endInParts(response, bytes);
}

const describe = (contentType: string, { byteLength }: Uint8Array): readonly string[] => [
  "Content-Type",
  contentType,
  "Content-Length",
  String(byteLength),
];

/**
 * Sends a map composed for this request. As in GWC, its cache result is WMS. It lasts as long as the layer whose tiles
 * last shortest.
 * @param map `oldest` has the oldest tile of each layer
 */
export function sendMap(
  response: ServerResponse,
  { layers, format }: MapRequest,
  map: Pick<ServedTile, "bytes" | "etag"> & { readonly oldest: readonly (Aging | undefined)[] },
  tags: readonly string[],
  nowMs: number,
): void {
  const lifetimes = (of: typeof clientLifetime): Lifetime =>
    shortest(layers.map(({ layer, z }, position) => of(layer, z, map.oldest[position], nowMs)));
  const isSecured = layers.some(({ layer }) => layer.secured);
  const headers = cacheHeaders(lifetimes(clientLifetime), lifetimes(cdnLifetime), isSecured);
  const lasting = ["geowebcache-cache-result", "WMS", "ETag", map.etag, ...tags, ...headers];
  sendTagged(response, map, describe(contentTypeOf(format, map.bytes), map.bytes), lasting);
}

/**
 * Sends a document of the upstream. The browser sees it in this server's origin, so headers keep it from running
 * scripts of the document.
 * @param tags the header with the tags of a legend; empty for none
 */
export function sendInfo(
  response: ServerResponse,
  { contentType, bytes }: UpstreamDocument,
  { layer, request }: Pick<UpstreamQuestion, "layer"> & { readonly request: Pick<UpstreamQuestion["request"], "kind"> },
  tags: readonly string[],
): void {
  // A legend changes as rarely as the layer's tiles. Feature information may change at any time, so caches must not
  // store it.
  const lasting =
    request.kind === "legend"
      ? cacheHeaders(clientLifetime(layer, asZoom(0), undefined, 0), undefined, layer.secured)
      : [];
  const caching = lasting.length === 0 ? ["Cache-Control", "no-store"] : [...tags, ...lasting];
  send(response, 200, contentType, bytes, [...caching, "Content-Security-Policy", "sandbox"]);
}

function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  bytes: Uint8Array,
  more: readonly string[],
): void {
  response.writeHead(status, [...describe(contentType, bytes), ...OPEN, ...more]);
  endInParts(response, bytes);
}

/** Sends an error in the format of the protocol. */
export function sendError(response: ServerResponse, error: ProtocolError, dialect: Dialect): void {
  const { contentType, body } = errorDocument(dialect, error.exception, error.text);
  send(response, error.status, contentType, Buffer.from(body, "utf8"), error.headers);
}

/** Sends the picture of an error. Like other WMS, with the status of a map: programs show no picture with another status. */
export const sendErrorPicture = (response: ServerResponse, { format }: ErrorPicture, bytes: Uint8Array): void =>
  send(response, 200, contentTypeOf(format, bytes), bytes, ["Cache-Control", "no-store"]);

/** Sends an explanation. It is valid only now, so caches must not store it. */
export const sendExplanation = (response: ServerResponse, explanation: Explanation): void =>
  send(response, 200, "application/json", Buffer.from(`${jsonText(explanation)}\n`, "utf8"), [
    "Cache-Control",
    "no-store",
  ]);

export function sendUnauthorized(response: ServerResponse, what = "This layer"): void {
  const challenge = Object.entries(challengeOf(response.req.headers)).flat();
  const text = `${what} needs a user name and a password`;
  sendError(response, plainError("unauthorized", text, [...challenge, "Cache-Control", "no-store"]), "plain");
}

export function sendMethodNotAllowed(response: ServerResponse, method: string, reads: AllowedReads): void {
  const allowed = ALLOWED[reads];
  const text = `Method ${method} is not allowed here; allowed are ${allowed}`;
  sendError(response, plainError("method_not_allowed", text, ["Allow", allowed]), "plain");
}

/** Answers OPTIONS, the CORS preflight, without credentials, because browsers send none with it. */
export function sendPreflight(response: ServerResponse, reads: AllowedReads): void {
  response.writeHead(200, [
    ...OPEN,
    "Allow",
    ALLOWED[reads],
    "Access-Control-Allow-Methods",
    ALLOWED[reads],
    "Access-Control-Allow-Headers",
    "Authorization, Cache-Control, If-Modified-Since, If-None-Match, X-Requested-With",
    "Access-Control-Max-Age",
    "86400",
    "Content-Length",
    "0",
  ]);
  response.end();
}

/** A document of the catalogue, written once. */
export interface StoredDocument {
  readonly contentType: string;
  readonly fileName: string | undefined;
  readonly etag: string;
  readonly bytes: Uint8Array;
}

const VARYING_BY = { "by coding": VARYING, "by type and coding": ["Vary", "Accept, Accept-Encoding"] } as const;
const PAGE_HEADERS: readonly string[] = [...Object.entries(POLICY_HEADER).flat(), "Referrer-Policy", "same-origin"];

export function sendDocument(
  response: ServerResponse,
  document: StoredDocument,
  packed: PackedBodies,
  varies: keyof typeof VARYING_BY = "by coding",
): Promise<void> | void {
  const { contentType } = document;
  const more = [...disposition(document), ...(contentType === HTML_TYPE ? PAGE_HEADERS : [])];
  return sendCoded(response, document, undefined, packed, (body) => {
    const packing = body.coding === "identity" ? [] : ["Content-Encoding", body.coding];
    const describing = [...describe(contentType, body.bytes), ...packing, ...more];
    sendTagged(response, body, describing, ["ETag", body.etag, "Cache-Control", "no-cache", ...VARYING_BY[varies]]);
  });
}

export const disposition = ({ fileName }: { readonly fileName?: string | undefined }): readonly string[] =>
  fileName === undefined ? [] : ["Content-Disposition", `inline;filename=${fileName}`];
