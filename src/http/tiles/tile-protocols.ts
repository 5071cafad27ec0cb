import type { IncomingMessage, ServerResponse } from "node:http";
import type { MapRenderer, MapRequest } from "../../cache/map-renderer.ts";
import type { Requester, TileOutcome, TileReader, TileRequest } from "../../cache/tile-reader.ts";
import type { UpstreamOutcome, UpstreamQuestion } from "../../cache/upstream-question.ts";
import type { TagHeader } from "../../layer/cache-tags.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import type { Layer } from "../../layer/layer.ts";
import { badField, type Refusal, refusalMessage } from "../../lib/refusal.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { refusedAccept } from "../configuration/document-form.ts";
import { goneSignal } from "../connection/gone.ts";
import { failureError, refusalError, STATUS } from "../errors.ts";
import { parseQuery } from "../request/query.ts";
import { CatalogueMemo } from "./catalogue-memo.ts";
import { type Explanation, explainOutside } from "./explanation.ts";
import { withForm } from "./form-query.ts";
import { wantsStoredOnly } from "./reply/conditional.ts";
import { PackedBodies } from "./reply/content-coding.ts";
import { isLong, longDocumentTag, sendLongDocument } from "./reply/long-document.ts";
import type { Dialect } from "./reply/ogc-exception.ts";
import { TagHeaders } from "./reply/tag-headers.ts";
import {
  type PreparedTile,
  prepareTile,
  sendData,
  sendDocument,
  sendError,
  sendExplanation,
  sendFiltered,
  sendInfo,
  sendMap,
  sendMethodNotAllowed,
  sendNoContent,
  sendPacked,
  sendPreflight,
  sendTile,
  sendUnauthorized,
} from "./reply/tile-reply.ts";
import type { PackedTile, ProtocolRefusal, RequestedDocument } from "./tile-parts.ts";
import { dialectOfPath, parseRequested, routeOf, type TileRoute, takesForm } from "./tile-route.ts";
import { TileTimes } from "./tile-times.ts";
import { TileTraffic } from "./tile-traffic.ts";

/** An address without its mount. Method and headers are in the response's request. */
export interface TileAddress {
  /** Raw path, such as `/service/wmts`. */
  readonly path: string;
  /** Raw query, without `?`. */
  readonly query: string;
  /** Returns the absolute URL of the request's mount, without trailing slash: `http://host:8080/geowebcache`. */
  readonly baseUrl: () => string;
}

export interface TileProtocolOptions {
  readonly catalogue: () => Catalogue;
  readonly reader: TileReader;
  readonly maps: Pick<MapRenderer, "render">;
  readonly query: (question: UpstreamQuestion, requester: Requester) => Promise<UpstreamOutcome>;
  /** Renders a tile without using the cache. */
  readonly renderUncached: (request: TileRequest, gone: AbortSignal) => Promise<TileOutcome>;
  /** Explains the state of a tile. Renders nothing. */
  readonly explain: (request: TileRequest) => Promise<Explanation>;
  /** Returns the name of the client of a request. Waiting requests are served in turns by client. */
  readonly clientOf: (request: IncomingMessage) => string;
  /** Returns whether the credentials of a request permit secured layers and `?explain`. */
  readonly authorised: (request: IncomingMessage, gone: AbortSignal) => Promise<boolean>;
  /** Returns the header with the tags of tiles. Undefined for none. */
  readonly tagHeader: () => TagHeader | undefined;
  readonly clock: Clock;
}

/** The most bytes of compressed bodies in memory: of data tiles and documents. */
const PACKED_BYTES = 32 * 1024 * 1024;

/**
 * Returns whether a query has the key `explain`. Called only for addresses that are not in the memo, which never
 * contains an address with this key.
 */
function wantsExplanation(query: string): boolean {
  if (query === "" || !/explain/i.test(query)) return false;
  const parsed = parseQuery(query);
  return parsed.ok && parsed.value.has("EXPLAIN");
}

/**
 * Returns why the Accept header of a request permits no document of RESTful WMTS. Undefined if it does. GeoWebCache and
 * the conformance tests of WMTS require 406 there. Both types of XML are equal.
 */
function acceptRefusal(
  { protocol }: TileRoute,
  { contentType }: RequestedDocument,
  accept: string | undefined,
): Refusal | undefined {
  if (protocol !== "wmts-rest") return undefined;
  const type = contentType.split(";")[0] ?? "";
  return refusedAccept(accept, type === "text/xml" ? [type, "application/xml"] : [type]);
}

/**
 * Returns the result for counting. A tile that a filter refuses needs no upstream, so it is a hit. A missing tile is
 * not a failure.
 */
function resultOf(outcome: TileOutcome): "failed" | "hit" | "miss" {
  switch (outcome.kind) {
    case "failure":
      if (outcome.failure.code !== "no_tile") return "failed";
      return outcome.mark?.cacheResult === "HIT" ? "hit" : "miss";
    case "tile":
      return outcome.tile.cacheResult === "MISS" ? "miss" : "hit";
    case "filtered":
      return "hit";
  }
}

/** The tile protocols, with the prepared tiles and documents of the present catalogue. */
export class TileProtocols {
  readonly #options: TileProtocolOptions;
  #memo: CatalogueMemo;
  readonly #packed = new PackedBodies(PACKED_BYTES);
  readonly #tags: TagHeaders;
  /** How long clients waited for tiles. */
  readonly times = new TileTimes();
  /** The counts of answers by layer since the last `collectTraffic`. */
  readonly traffic = new TileTraffic();
  #maps = 0;

  constructor(options: TileProtocolOptions) {
    this.#options = options;
    this.#memo = new CatalogueMemo(options.catalogue());
    this.#tags = new TagHeaders(options.tagHeader);
  }

  /** The number of requests for maps composed of tiles. */
  get maps(): number {
    return this.#maps;
  }

  /**
   * Answers every path of the tile protocols, errors included. Answers a hit before the call returns. Rejects, with
   * nothing sent, only for a fault of the server: an error of the reader while the client is connected.
   */
  handle(address: TileAddress, response: ServerResponse): Promise<void> | void {
    try {
      return this.#handle(address, response);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #handle(address: TileAddress, response: ServerResponse): Promise<void> | void {
    const catalogue = this.#options.catalogue();
    if (this.#memo.catalogue !== catalogue) this.#memo = new CatalogueMemo(catalogue);
    const key = `${address.path}?${address.query}`;
    const isRead = response.req.method === "GET" || response.req.method === "HEAD";
    const prepared = isRead ? this.#memo.tile(key) : undefined;
    return prepared === undefined ? this.#resolve(address, response, key) : this.#serve(prepared, response);
  }

  #requesterOf(response: ServerResponse): Requester {
    const { req } = response;
    const onlyIfCached = wantsStoredOnly(req.headers["cache-control"]);
    return { client: this.#options.clientOf(req), gone: goneSignal(response), onlyIfCached };
  }

  /** @param beganMs the beginning of the request, by the monotonic clock */
  #answer(
    prepared: PreparedTile,
    outcome: TileOutcome,
    response: ServerResponse,
    beganMs: number,
  ): Promise<void> | void {
    const sent = this.#send(prepared, outcome, response);
    const { name } = prepared.request.layer;
    if (outcome.kind === "failure" && outcome.failure.code === "not_cached") {
      this.traffic.countNotCached(name);
      return sent;
    }
    const result = resultOf(outcome);
    const bucket = this.times.observe(result, this.#options.clock.monotonicNow() - beganMs);
    const hasBody = response.statusCode !== 304 && response.req.method !== "HEAD";
    const bytes = outcome.kind === "tile" && hasBody ? outcome.tile.bytes.byteLength : 0;
    this.traffic.count(name, result, bucket, bytes);
    return sent;
  }

  #send(prepared: PreparedTile, outcome: TileOutcome, response: ServerResponse): Promise<void> | void {
    if (outcome.kind === "failure") {
      const { failure, mark } = outcome;
      const { format } = prepared.request;
      // Clients expect a tile without bytes for a vector tile without features.
      if (failure.code === "no_tile" && format.kind === "data" && format.content === "protobuf")
        return sendNoContent(prepared, mark, response);
      return sendError(response, failureError(failure), prepared.dialect);
    }
    if (outcome.kind === "filtered") return sendFiltered(prepared, outcome, response);
    if (prepared.request.format.kind === "image")
      return sendTile(prepared, outcome.tile, response, this.#options.clock.now());
    return sendData(prepared, outcome.tile, response, this.#options.clock.now(), this.#packed);
  }

  async #waitFor(
    coming: Promise<TileOutcome>,
    prepared: PreparedTile,
    response: ServerResponse,
    beganMs: number,
  ): Promise<void> {
    let outcome: TileOutcome;
    try {
      outcome = await coming;
    } catch (error) {
      // The client has disconnected. Its signal has aborted the reader, and there is no response to send.
      if (response.destroyed) return;
      throw error;
    }
    if (!response.destroyed) await this.#answer(prepared, outcome, response, beganMs);
  }

  /** Serves a resource of a layer to clients that may see it. At once if the layer is public. */
  #guarded(layer: Layer, response: ServerResponse, serve: () => Promise<void> | void): Promise<void> | void {
    if (!layer.secured) return serve();
    return this.#options.authorised(response.req, goneSignal(response)).then((allowed) => {
      if (response.destroyed) return;
      return allowed ? serve() : sendUnauthorized(response);
    });
  }

  #serve(prepared: PreparedTile, response: ServerResponse): Promise<void> | void {
    const beganMs = this.#options.clock.monotonicNow();
    return this.#guarded(prepared.request.layer, response, () => {
      const outcome = this.#options.reader.read(prepared.request, () => this.#requesterOf(response));
      return outcome instanceof Promise
        ? this.#waitFor(outcome, prepared, response, beganMs)
        : this.#answer(prepared, outcome, response, beganMs);
    });
  }

  async #servePacked(
    { request, contentType, pack }: PackedTile,
    baseUrl: string,
    dialect: Dialect,
    response: ServerResponse,
  ): Promise<void> {
    const outcome = await this.#options.reader.read(request, () => this.#requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "failure" && outcome.failure.code !== "no_tile")
      return sendError(response, failureError(outcome.failure), dialect);
    const tile = outcome.kind === "tile" ? outcome.tile : undefined;
    const tags = this.#tags.ofTile(request);
    sendPacked(response, request, contentType, pack(tile?.bytes, baseUrl), tile, tags, this.#options.clock.now());
  }

  async #serveMap(map: MapRequest, dialect: Dialect, response: ServerResponse): Promise<void> {
    this.#maps++;
    const outcome = await this.#options.maps.render(map, this.#requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "map") sendMap(response, map, outcome, this.#tags.ofMap(map.layer), this.#options.clock.now());
    else sendError(response, failureError(outcome.failure), dialect);
  }

  async #serveInfo(query: UpstreamQuestion, dialect: Dialect, response: ServerResponse): Promise<void> {
    const outcome = await this.#options.query(query, this.#requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "info") sendInfo(response, outcome.info, query);
    else sendError(response, failureError(outcome.failure), dialect);
  }

  /** Answers `?explain` with the state of a tile. The client needs the right to read the management interface. */
  async #serveExplanation(route: TileRoute, { path, query }: TileAddress, response: ServerResponse): Promise<void> {
    if (!(await this.#options.authorised(response.req, goneSignal(response))))
      return sendUnauthorized(response, "An explanation");
    const { requested } = parseRequested(this.#memo.catalogue, route, query);
    const refuseWith = (refusal: ProtocolRefusal) => sendError(response, refusalError(refusal, "plain"), "plain");
    if (!requested.ok) {
      const { outside } = requested.error;
      return outside === undefined
        ? refuseWith(requested.error)
        : sendExplanation(response, explainOutside(outside, refusalMessage(requested.error)));
    }
    if (requested.value.kind !== "tile") return refuseWith(badField("explain", "the address of a tile", path));
    const explanation = await this.#options.explain(requested.value.request);
    if (!response.destroyed) sendExplanation(response, explanation);
  }

  /** Handles every request that is not in the memo: a new or invalid address, a document, or another method. */
  #resolve(address: TileAddress, response: ServerResponse, key: string): Promise<void> | void {
    const { method = "" } = response.req;
    const route = routeOf(address.path);
    if (!route.ok) return sendError(response, refusalError(route.error, "plain"), "plain");
    const reads = takesForm(route.value) ? "form" : "read";
    if (method === "OPTIONS") return sendPreflight(response, reads);
    if (method === "POST" && reads === "form") return this.#readForm(route.value, address, response);
    if (method !== "GET" && method !== "HEAD") return sendMethodNotAllowed(response, method, reads);
    return this.#answerQuery(route.value, address, response, key);
  }

  /** Answers a POST, whose form has the fields of the query. Like a GET it changes nothing, so any site may send it. */
  async #readForm(route: TileRoute, address: TileAddress, response: ServerResponse): Promise<void> {
    const query = await withForm(address.query, response.req);
    if (response.destroyed) return;
    if (!query.ok) {
      const dialect = dialectOfPath(route, address.query);
      // If the body is too large, its remaining bytes are not read.
      if (!response.req.complete) response.setHeader("Connection", "close");
      const error = refusalError(query.error, dialect);
      return sendError(response, { ...error, status: STATUS[query.error.code] }, dialect);
    }
    // A reload may have replaced the catalogue while the body was read.
    const catalogue = this.#options.catalogue();
    if (this.#memo.catalogue !== catalogue) this.#memo = new CatalogueMemo(catalogue);
    await this.#answerQuery(route, { ...address, query: query.value }, response, `${address.path}?${query.value}`);
  }

  #answerQuery(route: TileRoute, address: TileAddress, response: ServerResponse, key: string): Promise<void> | void {
    if (wantsExplanation(address.query)) return this.#serveExplanation(route, address, response);
    const { dialect, requested } = parseRequested(this.#memo.catalogue, route, address.query);
    if (!requested.ok) return sendError(response, refusalError(requested.error, dialect), dialect);
    const selected = requested.value;
    switch (selected.kind) {
      case "document": {
        const refused = acceptRefusal(route, selected, response.req.headers.accept);
        if (refused !== undefined) return sendError(response, refusalError(refused, "plain"), "plain");
        const { catalogue } = this.#memo;
        const baseUrl = address.baseUrl();
        if (!("parts" in selected) || !isLong(catalogue))
          return sendDocument(response, this.#memo.document(selected, baseUrl), this.#packed);
        const etag = longDocumentTag(catalogue, selected, baseUrl);
        return sendLongDocument(response, selected, { etag, baseUrl, clock: this.#options.clock });
      }
      case "map":
        return this.#guarded(selected.request.layer, response, () =>
          this.#serveMap(selected.request, dialect, response),
        );
      case "info":
        return this.#guarded(selected.query.layer, response, () => this.#serveInfo(selected.query, dialect, response));
      case "packed":
        return this.#guarded(selected.request.layer, response, () =>
          this.#servePacked(selected, address.baseUrl(), dialect, response),
        );
      case "uncached": {
        const prepared = prepareTile(selected.request, dialect, this.#tags.ofTile(selected.request));
        const { layer } = selected.request;
        return this.#guarded(layer, response, () =>
          this.#waitFor(
            this.#options.renderUncached(selected.request, goneSignal(response)),
            prepared,
            response,
            this.#options.clock.monotonicNow(),
          ),
        );
      }
      case "tile": {
        const prepared = prepareTile(selected.request, dialect, this.#tags.ofTile(selected.request));
        this.#memo.put(key, prepared);
        return this.#serve(prepared, response);
      }
    }
  }
}
