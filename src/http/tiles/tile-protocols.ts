import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { MapRenderer, MapRequest } from "../../cache/map-renderer.ts";
import type { Requester, TileOutcome, TileReader, TileRequest } from "../../cache/tile-reader.ts";
import type { UpstreamOutcome, UpstreamQuestion } from "../../cache/upstream-question.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import type { Layer } from "../../layer/layer.ts";
import { badField } from "../../lib/refusal.ts";
import { goneSignal } from "../gone.ts";
import { parseQuery } from "../query.ts";
import { PackedBodies } from "./content-coding.ts";
import { type Explanation, explainOutside } from "./explanation.ts";
import type { Dialect } from "./ogc-exception.ts";
import type { RequestedDocument } from "./tile-parts.ts";
import {
  type PreparedTile,
  prepareTile,
  type StoredDocument,
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
import { parseAsked, routeOf, type TileRoute } from "./tile-route.ts";

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
  readonly ask: (question: UpstreamQuestion, requester: Requester) => Promise<UpstreamOutcome>;
  /** Explains the state of a tile. Renders nothing. */
  readonly explain: (request: TileRequest) => Promise<Explanation>;
  /** Returns the name of the client of a request. Waiting requests are served in turns by client. */
  readonly clientOf: (request: IncomingMessage) => string;
  /** Returns whether the credentials of a request permit secured layers and `?explain`. */
  readonly authorised: (request: IncomingMessage, gone: AbortSignal) => Promise<boolean>;
  /** Returns milliseconds since 1970, for Expires. */
  readonly now?: () => number;
}

/**
 * The memo stores two generations of this many parsed addresses. Long addresses (filters by regex) are parsed for each
 * request.
 */
const MEMO_ENTRIES = 4096;
const MEMO_ADDRESS_LENGTH = 512;
/** The limit of stored documents. The base URL comes from the client, so their number is unbounded otherwise. */
const KEPT_DOCUMENTS = 16;
/** The limit in bytes of compressed bodies: data tiles and documents. */
const PACKED_BYTES = 32 * 1024 * 1024;

/** The prepared tiles and documents of one catalogue. A new catalogue gets a new memo. */
class CatalogueMemo {
  readonly catalogue: Catalogue;
  #young = new Map<string, PreparedTile>();
  #old = new Map<string, PreparedTile>();
  readonly #documents = new Map<string, StoredDocument>();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  tile(address: string): PreparedTile | undefined {
    const young = this.#young.get(address);
    if (young !== undefined) return young;
    const old = this.#old.get(address);
    if (old !== undefined) this.keep(address, old);
    return old;
  }

  keep(address: string, tile: PreparedTile): void {
    if (address.length > MEMO_ADDRESS_LENGTH) return;
    if (this.#young.size >= MEMO_ENTRIES) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(address, tile);
  }

  document(asked: RequestedDocument, baseUrl: string): StoredDocument {
    const key = `${asked.name}\n${baseUrl}`;
    const kept = asked.isStored === false ? undefined : this.#documents.get(key);
    if (kept !== undefined) return kept;
    const bytes = Buffer.from(asked.write(baseUrl), "utf8");
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    const made: StoredDocument = { contentType: asked.contentType, fileName: asked.fileName, etag, bytes };
    if (asked.isStored === false) return made;
    if (this.#documents.size >= KEPT_DOCUMENTS) this.#documents.clear();
    this.#documents.set(key, made);
    return made;
  }
}

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
  const now = options.now ?? Date.now;
  let memo = new CatalogueMemo(options.catalogue());

  const packed = new PackedBodies(PACKED_BYTES);

  const requesterOf = (response: ServerResponse): Requester => ({
    client: options.clientOf(response.req),
    gone: goneSignal(response),
  });

  const answer = (
    prepared: PreparedTile,
    outcome: TileOutcome,
    { headers }: TileProtocolRequest,
    response: ServerResponse,
  ): Promise<void> | void => {
    if (outcome.kind !== "tile") return sendFailure(response, outcome.failure, prepared.dialect);
    if (prepared.request.format.kind === "image") return sendTile(prepared, outcome.tile, headers, response, now());
    return sendData(prepared, outcome.tile, headers, response, now(), packed);
  };

  const waitFor = async (
    coming: Promise<TileOutcome>,
    prepared: PreparedTile,
    request: TileProtocolRequest,
    response: ServerResponse,
  ): Promise<void> => {
    let outcome: TileOutcome;
    try {
      outcome = await coming;
    } catch (error) {
      // The client has disconnected: its signal made the reader give up, and there is no answer to send.
      if (response.destroyed) return;
      throw error;
    }
    if (!response.destroyed) await answer(prepared, outcome, request, response);
  };

  const serveTile = (
    prepared: PreparedTile,
    request: TileProtocolRequest,
    response: ServerResponse,
  ): Promise<void> | void => {
    const outcome = options.reader.read(prepared.request, () => requesterOf(response));
    if (outcome instanceof Promise) return waitFor(outcome, prepared, request, response);
    return answer(prepared, outcome, request, response);
  };

  /** Serves a resource of a layer to clients with the right to see it; at once if the layer is public. */
  const guarded = (layer: Layer, response: ServerResponse, serve: () => Promise<void> | void): Promise<void> | void => {
    if (!layer.secured) return serve();
    return options.authorised(response.req, goneSignal(response)).then((allowed) => {
      if (response.destroyed) return;
      return allowed ? serve() : sendUnauthorized(response);
    });
  };

  const serve = (
    prepared: PreparedTile,
    request: TileProtocolRequest,
    response: ServerResponse,
  ): Promise<void> | void => guarded(prepared.request.layer, response, () => serveTile(prepared, request, response));

  const serveMap = async (
    map: MapRequest,
    dialect: Dialect,
    request: TileProtocolRequest,
    response: ServerResponse,
  ): Promise<void> => {
    const outcome = await options.maps.render(map, requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "map") sendMap(response, request.headers, map, outcome);
    else sendFailure(response, outcome.failure, dialect);
  };

  const serveInfo = async (query: UpstreamQuestion, dialect: Dialect, response: ServerResponse): Promise<void> => {
    const outcome = await options.ask(query, requesterOf(response));
    if (response.destroyed) return;
    if (outcome.kind === "info") sendInfo(response, outcome.info, query);
    else sendFailure(response, outcome.failure, dialect);
  };

  /** Answers `?explain` with the state of a tile. The client needs the right to read the management interface. */
  const serveExplanation = async (
    route: TileRoute,
    request: TileProtocolRequest,
    response: ServerResponse,
  ): Promise<void> => {
    if (!(await options.authorised(response.req, goneSignal(response))))
      return sendUnauthorized(response, "An explanation");
    const { asked } = parseAsked(memo.catalogue, route, request.query);
    if (!asked.ok) {
      const { outside, message } = asked.error;
      return outside === undefined
        ? sendRefusal(response, asked.error, "plain")
        : sendExplanation(response, explainOutside(outside, message));
    }
    if (asked.value.kind !== "tile")
      return sendRefusal(response, badField("explain", "the address of a tile", request.path), "plain");
    const explanation = await options.explain(asked.value.request);
    if (!response.destroyed) sendExplanation(response, explanation);
  };

  /** Handles every request that the memo cannot answer: a new or invalid address, a document, or another method. */
  const resolve = (request: TileProtocolRequest, response: ServerResponse, address: string): Promise<void> | void => {
    const route = routeOf(request.path);
    if (!route.ok) return sendRefusal(response, route.error, "plain");
    if (request.method === "OPTIONS") return sendPreflight(response);
    if (request.method !== "GET" && request.method !== "HEAD") return sendMethodNotAllowed(response, request.method);
    if (wantsExplanation(request.query)) return serveExplanation(route.value, request, response);
    const { dialect, asked } = parseAsked(memo.catalogue, route.value, request.query);
    if (!asked.ok) return sendRefusal(response, asked.error, dialect);
    const selected = asked.value;
    switch (selected.kind) {
      case "document":
        return sendDocument(response, request.headers, memo.document(selected, request.baseUrl()), packed);
      case "map":
        return guarded(selected.request.layer, response, () => serveMap(selected.request, dialect, request, response));
      case "info":
        return guarded(selected.query.layer, response, () => serveInfo(selected.query, dialect, response));
      case "tile": {
        const prepared = prepareTile(selected.request, dialect);
        memo.keep(address, prepared);
        return serve(prepared, request, response);
      }
    }
  };

  const handle = (request: TileProtocolRequest, response: ServerResponse): Promise<void> | void => {
    const catalogue = options.catalogue();
    if (memo.catalogue !== catalogue) memo = new CatalogueMemo(catalogue);
    const address = `${request.path}?${request.query}`;
    if (request.method === "GET" || request.method === "HEAD") {
      const prepared = memo.tile(address);
      if (prepared !== undefined) return serve(prepared, request, response);
    }
    return resolve(request, response, address);
  };

  return {
    handle(request, response) {
      try {
        return handle(request, response);
      } catch (error) {
        return Promise.reject(error);
      }
    },
  };
}
