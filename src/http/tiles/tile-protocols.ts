import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { MapRenderer, MapRequest } from "../../cache/map-renderer.ts";
import type { Requester, TileOutcome, TileReader, TileRequest } from "../../cache/tile-reader.ts";
import type { UpstreamOutcome, UpstreamQuestion } from "../../cache/upstream-question.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import type { Layer } from "../../layer/layer.ts";
import { badField, refusalMessage } from "../../lib/refusal.ts";
import { goneSignal } from "../gone.ts";
import { parseQuery } from "../query.ts";
import { CatalogueMemo } from "./catalogue-memo.ts";
import { PackedBodies } from "./content-coding.ts";
import { type Explanation, explainOutside } from "./explanation.ts";
import type { Dialect } from "./ogc-exception.ts";
import {
  type PreparedTile,
  prepareTile,
  sendData,
  sendDocument,
  sendExplanation,
  sendFailure,
  sendInfo,
  sendMap,
  sendMethodNotAllowed,
  sendPreflight,
  sendRefusal,
  sendTile,
  sendUnauthorized,
} from "./tile-reply.ts";
import { parseRequested, routeOf, type TileRoute } from "./tile-route.ts";

export interface TileProtocolRequest {
  readonly method: string;
  /** Raw path after the mount, such as `/service/wmts`. */
  readonly path: string;
  /** Raw, without `?`. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** Returns the absolute URL with the mount of the request, without trailing slash: `http://host:8080/geowebcache`. */
  readonly baseUrl: () => string;
}

export interface TileProtocols {
  /**
   * Answers every path of the tile protocols, errors included. A hit is answered before the call returns. Rejects, with
   * nothing sent, only for a fault of the server: an error that the reader throws while the client is still connected.
   */
  handle(request: TileProtocolRequest, response: ServerResponse): Promise<void> | void;
}

export interface TileProtocolOptions {
  readonly catalogue: () => Catalogue;
  readonly reader: TileReader;
  readonly maps: Pick<MapRenderer, "render">;
  readonly query: (question: UpstreamQuestion, requester: Requester) => Promise<UpstreamOutcome>;
  /** Explains the state of a tile. Renders nothing. */
  readonly explain: (request: TileRequest) => Promise<Explanation>;
  /** Returns the name of the client of a request. Waiting requests are served in turns by client. */
  readonly clientOf: (request: IncomingMessage) => string;
  /** Returns whether the credentials of a request permit secured layers and `?explain`. */
  readonly authorised: (request: IncomingMessage, gone: AbortSignal) => Promise<boolean>;
  /** Returns milliseconds since 1970, for Expires. */
  readonly now?: () => number;
}

/** The limit in bytes of compressed bodies: data tiles and documents. */
const PACKED_BYTES = 32 * 1024 * 1024;

/**
 * Returns whether a query has the key `explain`. Called only for addresses that the memo does not contain: an address
 * with this key is never stored there.
 */
function wantsExplanation(query: string): boolean {
  if (query === "" || !/explain/i.test(query)) return false;
  const parsed = parseQuery(query);
  return parsed.ok && parsed.value.has("EXPLAIN");
}

export function createTileProtocols(options: TileProtocolOptions): TileProtocols {
  return new MemoizedTileProtocols(options);
}

/** The tile protocols with the prepared tiles and documents of the present catalogue. */
class MemoizedTileProtocols implements TileProtocols {
  readonly #options: TileProtocolOptions;
  readonly #now: () => number;
  #memo: CatalogueMemo;
  readonly #packed = new PackedBodies(PACKED_BYTES);

  constructor(options: TileProtocolOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#memo = new CatalogueMemo(options.catalogue());
  }

  handle(request: TileProtocolRequest, response: ServerResponse): Promise<void> | void {
    try {
      return this.#handle(request, response);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #handle(request: TileProtocolRequest, response: ServerResponse): Promise<void> | void {
    const catalogue = this.#options.catalogue();
    if (this.#memo.catalogue !== catalogue) this.#memo = new CatalogueMemo(catalogue);
    const address = `${request.path}?${request.query}`;
    if (request.method === "GET" || request.method === "HEAD") {
      const prepared = this.#memo.tile(address);
      if (prepared !== undefined) return this.#serve(prepared, request, response);
    }
    return this.#resolve(request, response, address);
  }

  #requesterOf(response: ServerResponse): Requester {
    return { client: this.#options.clientOf(response.req), gone: goneSignal(response) };
  }

  #answer(
    prepared: PreparedTile,
    outcome: TileOutcome,
    { headers }: TileProtocolRequest,
    response: ServerResponse,
  ): Promise<void> | void {
    if (outcome.kind !== "tile") return sendFailure(response, outcome.failure, prepared.dialect);
    if (prepared.request.format.kind === "image")
      return sendTile(prepared, outcome.tile, headers, response, this.#now());
    return sendData(prepared, outcome.tile, headers, response, this.#now(), this.#packed);
  }

  async #waitFor(
    coming: Promise<TileOutcome>,
    prepared: PreparedTile,
    request: TileProtocolRequest,
    response: ServerResponse,
  ): Promise<void> {
    let outcome: TileOutcome;
    try {
      outcome = await coming;
    } catch (error) {
      // The client has disconnected: its signal made the reader give up, and there is no answer to send.
      if (response.destroyed) return;
      throw error;
    }
    if (!response.destroyed) await this.#answer(prepared, outcome, request, response);
  }

  #serveTile(prepared: PreparedTile, request: TileProtocolRequest, response: ServerResponse): Promise<void> | void {
    const outcome = this.#options.reader.read(prepared.request, () => this.#requesterOf(response));
    if (outcome instanceof Promise) return this.#waitFor(outcome, prepared, request, response);
    return this.#answer(prepared, outcome, request, response);
  }

  /** Serves a resource of a layer to clients with the right to see it; at once if the layer is public. */
  #guarded(layer: Layer, response: ServerResponse, serve: () => Promise<void> | void): Promise<void> | void {
    if (!layer.secured) return serve();
    return this.#options.authorised(response.req, goneSignal(response)).then((allowed) => {
      if (response.destroyed) return;
      return allowed ? serve() : sendUnauthorized(response);
    });
  }

  #serve(prepared: PreparedTile, request: TileProtocolRequest, response: ServerResponse): Promise<void> | void {
    return this.#guarded(prepared.request.layer, response, () => this.#serveTile(prepared, request, response));
  }

  async #serveMap(
    map: MapRequest,
    dialect: Dialect,
    request: TileProtocolRequest,
    response: ServerResponse,
  ): Promise<void> {
    const outcome = await this.#options.maps.render(map, this.#requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "map") sendMap(response, request.headers, map, outcome);
    else sendFailure(response, outcome.failure, dialect);
  }

  async #serveInfo(query: UpstreamQuestion, dialect: Dialect, response: ServerResponse): Promise<void> {
    const outcome = await this.#options.query(query, this.#requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "info") sendInfo(response, outcome.info, query);
    else sendFailure(response, outcome.failure, dialect);
  }

  /** Answers `?explain` with the state of a tile. The client needs the right to read the management interface. */
  async #serveExplanation(route: TileRoute, request: TileProtocolRequest, response: ServerResponse): Promise<void> {
    if (!(await this.#options.authorised(response.req, goneSignal(response))))
      return sendUnauthorized(response, "An explanation");
    const { requested } = parseRequested(this.#memo.catalogue, route, request.query);
    if (!requested.ok) {
      const { outside } = requested.error;
      return outside === undefined
        ? sendRefusal(response, requested.error, "plain")
        : sendExplanation(response, explainOutside(outside, refusalMessage(requested.error)));
    }
    if (requested.value.kind !== "tile")
      return sendRefusal(response, badField("explain", "the address of a tile", request.path), "plain");
    const explanation = await this.#options.explain(requested.value.request);
    if (!response.destroyed) sendExplanation(response, explanation);
  }

  /** Handles every request that the memo cannot answer: a new or invalid address, a document, or another method. */
  #resolve(request: TileProtocolRequest, response: ServerResponse, address: string): Promise<void> | void {
    const route = routeOf(request.path);
    if (!route.ok) return sendRefusal(response, route.error, "plain");
    if (request.method === "OPTIONS") return sendPreflight(response);
    if (request.method !== "GET" && request.method !== "HEAD") return sendMethodNotAllowed(response, request.method);
    if (wantsExplanation(request.query)) return this.#serveExplanation(route.value, request, response);
    const { dialect, requested } = parseRequested(this.#memo.catalogue, route.value, request.query);
    if (!requested.ok) return sendRefusal(response, requested.error, dialect);
    const selected = requested.value;
    switch (selected.kind) {
      case "document":
        return sendDocument(response, request.headers, this.#memo.document(selected, request.baseUrl()), this.#packed);
      case "map":
        return this.#guarded(selected.request.layer, response, () =>
          this.#serveMap(selected.request, dialect, request, response),
        );
      case "info":
        return this.#guarded(selected.query.layer, response, () => this.#serveInfo(selected.query, dialect, response));
      case "tile": {
        const prepared = prepareTile(selected.request, dialect);
        this.#memo.keep(address, prepared);
        return this.#serve(prepared, request, response);
      }
    }
  }
}
