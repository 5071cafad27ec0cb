import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { MapRenderer, MapRequest } from "../../cache/map-renderer.ts";
import type { Requester, TileOutcome, TileReader, TileRequest } from "../../cache/tile-reader.ts";
import type { UpstreamOutcome, UpstreamQuestion } from "../../cache/upstream-question.ts";
import type { TagHeader } from "../../layer/cache-tags.ts";
import { type Catalogue, workspaceCatalogue } from "../../layer/catalogue.ts";
import type { Layer } from "../../layer/layer.ts";
import { badField, type Refusal, refusalMessage, shown } from "../../lib/refusal.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { refusedAccept } from "../configuration/document-form.ts";
import { goneSignal } from "../connection/gone.ts";
import { failureError, type ProtocolError, refusalError, STATUS } from "../errors.ts";
import { parseQuery } from "../request/query.ts";
import { prefersHtml } from "../request/request.ts";
import { CatalogueMemo } from "./catalogue-memo.ts";
import { type Explanation, explainOutside } from "./explanation.ts";
import { withForm } from "./form-query.ts";
import { wantsStoredOnly } from "./reply/conditional.ts";
import { PackedBodies } from "./reply/content-coding.ts";
import { isLong, longDocumentTag, sendLongDocument } from "./reply/long-document.ts";
import { TagHeaders } from "./reply/tag-headers.ts";
import {
  type ErrorForm,
  type PreparedTile,
  prepareTile,
  sendData,
  sendDocument,
  sendError,
  sendErrorPicture,
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
import { joinedInfo } from "./wms/joined-info.ts";

/** An address without its mount. Method and headers are in the response's request. */
export interface TileAddress {
  /** Raw path, such as `/service/wmts`. */
  readonly path: string;
  /** Raw query, without `?`. */
  readonly query: string;
  /** The workspace that the request's mount names. Undefined below other mounts. */
  readonly workspace?: string | undefined;
  /** Returns the absolute URL of the request's mount, without trailing slash: `http://host:8080/geowebcache`. */
  readonly baseUrl: () => string;
}

export interface TileProtocolOptions {
  readonly catalogue: () => Catalogue;
  readonly reader: TileReader;
  readonly maps: Pick<MapRenderer, "render" | "renderPlain">;
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

/** Returns the key of an address in the memo. */
const keyOf = ({ path, query, workspace }: TileAddress): string =>
  workspace === undefined ? `${path}?${query}` : `${workspace}\n${path}?${query}`;

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
    const key = keyOf(address);
    const isRead = response.req.method === "GET" || response.req.method === "HEAD";
    const prepared = isRead ? this.#memo.tile(key) : undefined;
    return prepared === undefined ? this.#resolve(address, response) : this.#serve(prepared, response);
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
      return this.#fail(response, failureError(failure), prepared.errors);
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

  /** Serves a resource of layers to clients that may see all of them. At once if the layers are public. */
  #guarded(
    layers: readonly Layer[],
    response: ServerResponse,
    serve: () => Promise<void> | void,
  ): Promise<void> | void {
    if (!layers.some(({ secured }) => secured)) return serve();
    return this.#options.authorised(response.req, goneSignal(response)).then((allowed) => {
      if (response.destroyed) return;
      return allowed ? serve() : sendUnauthorized(response);
    });
  }

  #serve(prepared: PreparedTile, response: ServerResponse): Promise<void> | void {
    const beganMs = this.#options.clock.monotonicNow();
    const { layer } = prepared.request;
    // A hit of a public layer allocates nothing here.
    if (!layer.secured) return this.#read(prepared, response, beganMs);
    return this.#guarded([layer], response, () => this.#read(prepared, response, beganMs));
  }

  #read(prepared: PreparedTile, response: ServerResponse, beganMs: number): Promise<void> | void {
    const outcome = this.#options.reader.read(prepared.request, () => this.#requesterOf(response));
    return outcome instanceof Promise
      ? this.#waitFor(outcome, prepared, response, beganMs)
      : this.#answer(prepared, outcome, response, beganMs);
  }

  async #servePacked(
    { request, contentType, pack }: PackedTile,
    baseUrl: string,
    errors: ErrorForm,
    response: ServerResponse,
  ): Promise<void> {
    const outcome = await this.#options.reader.read(request, () => this.#requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "failure" && outcome.failure.code !== "no_tile")
      return this.#fail(response, failureError(outcome.failure), errors);
    const tile = outcome.kind === "tile" ? outcome.tile : undefined;
    const tags = this.#tags.ofTile(request, this.#memo.catalogue);
    sendPacked(response, request, contentType, pack(tile?.bytes, baseUrl), tile, tags, this.#options.clock.now());
  }

  async #serveMap(map: MapRequest, errors: ErrorForm, response: ServerResponse): Promise<void> {
    this.#maps++;
    const outcome = await this.#options.maps.render(map, this.#requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "map") {
      const layers = map.layers.map(({ layer }) => layer);
      const tags = this.#tags.ofMap(layers, this.#memo.catalogue);
      sendMap(response, map, outcome, tags, this.#options.clock.now());
    } else await this.#fail(response, failureError(outcome.failure), errors);
  }

  async #serveInfo(query: UpstreamQuestion, errors: ErrorForm, response: ServerResponse): Promise<void> {
    const outcome = await this.#options.query(query, this.#requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "info")
      sendInfo(response, outcome.info, query, this.#tags.ofLayer(query.layer, this.#memo.catalogue));
    else await this.#fail(response, failureError(outcome.failure), errors);
  }

  /** Asks the upstreams of several layers at once, and joins their answers. If one fails, the request fails. */
  async #serveInfos(
    queries: readonly [UpstreamQuestion, ...UpstreamQuestion[]],
    errors: ErrorForm,
    response: ServerResponse,
  ): Promise<void> {
    const requester = this.#requesterOf(response);
    setMaxListeners(0, requester.gone);
    const [query, ...others] = queries;
    const ask = (one: UpstreamQuestion) => this.#options.query(one, requester);
    const outcomes = await Promise.all([ask(query), ...others.map(ask)]);
    if (response.destroyed) return;
    const [first, ...documents] = outcomes.flatMap((outcome) => (outcome.kind === "info" ? [outcome.info] : []));
    const failed = outcomes.find((outcome) => outcome.kind === "failure");
    if (failed !== undefined || first === undefined)
      return failed && (await this.#fail(response, failureError(failed.failure), errors));
    const joined = joinedInfo([first, ...documents]);
    if (joined.ok) return sendInfo(response, joined.value, query, []);
    const refusal = { code: "malformed", message: joined.error, exception: { code: "InvalidFormat" } } as const;
    await this.#fail(response, refusalError(refusal, errors.dialect), errors);
  }

  /** Sends an error as a document, or as the picture that the request wants. */
  #fail(response: ServerResponse, error: ProtocolError, { dialect, picture }: ErrorForm): Promise<void> | void {
    if (picture === undefined) return sendError(response, error, dialect);
    const text = picture.hasText ? error.text : undefined;
    return this.#options.maps.renderPlain(picture, text, goneSignal(response)).then((bytes) => {
      if (response.destroyed) return;
      if (bytes === undefined) sendError(response, error, dialect);
      else sendErrorPicture(response, picture, bytes);
    });
  }

  /** Answers `?explain` with the state of a tile. The client needs the right to read the management interface. */
  async #serveExplanation(
    catalogue: Catalogue,
    route: TileRoute,
    { path, query }: TileAddress,
    response: ServerResponse,
  ): Promise<void> {
    if (!(await this.#options.authorised(response.req, goneSignal(response))))
      return sendUnauthorized(response, "An explanation");
    const { requested } = parseRequested(catalogue, route, query);
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
  #resolve(address: TileAddress, response: ServerResponse): Promise<void> | void {
    const { method = "" } = response.req;
    const route = routeOf(address.path);
    if (!route.ok) return sendError(response, refusalError(route.error, "plain"), "plain");
    const reads = takesForm(route.value) ? "form" : "read";
    if (method === "OPTIONS") return sendPreflight(response, reads);
    if (method === "POST" && reads === "form") return this.#readForm(route.value, address, response);
    if (method !== "GET" && method !== "HEAD") return sendMethodNotAllowed(response, method, reads);
    return this.#answerQuery(route.value, address, response);
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
    await this.#answerQuery(route, { ...address, query: query.value }, response);
  }

  /** Returns the layers below the mount of a request. Undefined if the mount names no workspace of a layer. */
  #catalogueOf({ workspace }: TileAddress): Catalogue | undefined {
    const { catalogue } = this.#memo;
    return workspace === undefined ? catalogue : workspaceCatalogue(catalogue, workspace);
  }

  #answerQuery(route: TileRoute, address: TileAddress, response: ServerResponse): Promise<void> | void {
    const catalogue = this.#catalogueOf(address);
    if (catalogue === undefined) {
      const message = `No layer is in the workspace ${shown(address.workspace)}.`;
      return sendError(response, refusalError({ code: "not_found", message }, "plain"), "plain");
    }
    if (wantsExplanation(address.query)) return this.#serveExplanation(catalogue, route, address, response);
    const { errors, requested } = parseRequested(catalogue, route, address.query);
    if (!requested.ok) return this.#fail(response, refusalError(requested.error, errors.dialect), errors);
    const selected = requested.value;
    for (const [name, value] of Object.entries(selected.headers ?? {})) response.setHeader(name, value);
    switch (selected.kind) {
      case "document": {
        const refused = acceptRefusal(route, selected, response.req.headers.accept);
        if (refused !== undefined) return sendError(response, refusalError(refused, "plain"), "plain");
        const baseUrl = address.baseUrl();
        if (!("parts" in selected)) {
          const { page } = selected;
          const sent = page !== undefined && prefersHtml(response.req.headers.accept) ? page : selected;
          const varies = page === undefined ? "by coding" : "by type and coding";
          return sendDocument(response, this.#memo.document(sent, catalogue, baseUrl), this.#packed, varies);
        }
        if (!isLong(catalogue))
          return sendDocument(response, this.#memo.document(selected, catalogue, baseUrl), this.#packed);
        const etag = longDocumentTag(catalogue, selected, baseUrl);
        return sendLongDocument(response, selected, { etag, baseUrl, clock: this.#options.clock });
      }
      case "map":
        return this.#guarded(
          selected.request.layers.map(({ layer }) => layer),
          response,
          () => this.#serveMap(selected.request, errors, response),
        );
      case "info":
        return this.#guarded([selected.query.layer], response, () => this.#serveInfo(selected.query, errors, response));
      case "infos":
        return this.#guarded(
          selected.queries.map(({ layer }) => layer),
          response,
          () => this.#serveInfos(selected.queries, errors, response),
        );
      case "packed":
        return this.#guarded([selected.request.layer], response, () =>
          this.#servePacked(selected, address.baseUrl(), errors, response),
        );
      case "uncached": {
        const prepared = prepareTile(
          selected.request,
          errors,
          this.#tags.ofTile(selected.request, this.#memo.catalogue),
        );
        const { layer } = selected.request;
        return this.#guarded([layer], response, () =>
          this.#waitFor(
            this.#options.renderUncached(selected.request, goneSignal(response)),
            prepared,
            response,
            this.#options.clock.monotonicNow(),
          ),
        );
      }
      case "tile": {
        const prepared = prepareTile(
          selected.request,
          errors,
          this.#tags.ofTile(selected.request, this.#memo.catalogue),
        );
        this.#memo.put(keyOf(address), prepared);
        return this.#serve(prepared, response);
      }
    }
  }
}
