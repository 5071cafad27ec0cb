import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { SaxesParser } from "saxes";
import { MapRenderer } from "../../src/cache/map-renderer.ts";
import type { ServedTile, TileOutcome, TileReader, TileRequest } from "../../src/cache/tile-reader.ts";
import type { TileState } from "../../src/cache/tile-state.ts";
import type { Extent, GridSet } from "../../src/grid/grid-set.ts";
import { explainTile } from "../../src/http/tiles/explanation.ts";
import { type TileProtocolOptions, TileProtocols } from "../../src/http/tiles/tile-protocols.ts";
import { atEveryZoom } from "../../src/layer/by-zoom.ts";
import { type Catalogue, catalogueOf } from "../../src/layer/catalogue.ts";
import type { TileFormat } from "../../src/layer/format.ts";
import { gridSubset } from "../../src/layer/grid-subset.ts";
import type { Layer } from "../../src/layer/layer.ts";
import { machineClock } from "../../src/lib/time/machine-clock.ts";
import { formatNamed, layerNamed } from "./layer.ts";

/** Returns a grid set for tests of the tile protocols. The resolutions halve from `resolution`. */
function grid(
  id: string,
  srs: number,
  extent: Extent,
  resolution: number,
  levels: number,
  more: Partial<GridSet> & { readonly names?: "bare" } = {},
): GridSet {
  const { names, ...rest } = more;
  const tile = { tileWidth: 256, tileHeight: 256, ...rest };
  const metersPerUnit = srs === 4326 ? 111319.49079327358 : 1;
  const matrices = Array.from({ length: levels }, (_, z) => {
    const r = resolution / 2 ** z;
    return {
      name: names === "bare" ? String(z) : `${id}:${z}`,
      resolution: r,
      scaleDenominator: (r * metersPerUnit) / 0.00028,
      matrixWidth: Math.ceil((extent.maxX - extent.minX) / (r * tile.tileWidth) - 0.01),
      matrixHeight: Math.ceil((extent.maxY - extent.minY) / (r * tile.tileHeight) - 0.01),
    };
  });
  return { id, srs, extent, alignTopLeft: false, yCoordinateFirst: false, metersPerUnit, matrices, ...tile };
}

const HALF = 20037508.34;
const WORLD_3857 = { minX: -HALF, minY: -HALF, maxX: HALF, maxY: HALF };
const WORLD_4326 = { minX: -180, minY: -90, maxX: 180, maxY: 90 };

export const mercator = grid("EPSG:900913", 900913, WORLD_3857, 156543.03390625, 24);
export const geodetic = grid("EPSG:4326", 4326, WORLD_4326, 0.703125, 20, { yCoordinateFirst: true });
export const quad = grid("WebMercatorQuad", 3857, WORLD_3857, 156543.03390625, 20, {
  alignTopLeft: true,
  yCoordinateFirst: true,
  names: "bare",
});
/** A grid set with tiles of 200 x 100, anchored at the top. Its height is not a multiple of the tiles' height. */
const odd = grid("my:grid", 2163, { minX: -2e6, minY: -1e6, maxX: 3e6, maxY: 1.9e6 }, 10000, 8, {
  tileWidth: 200,
  tileHeight: 100,
  alignTopLeft: true,
});

const formats = (...names: string[]): TileFormat[] => names.map(formatNamed);

const layer = (name: string, more: Partial<Layer>): Layer =>
  layerNamed(name, { gridSubsets: [gridSubset(mercator, {})], ...more });

export const states = layer("topp:states", {
  title: "States & <provinces>",
  description: "Größe “x”",
  gridSubsets: [
    gridSubset(geodetic, { extent: { minX: -124, minY: 24, maxX: -66, maxY: 49 }, zoomStart: 1, zoomStop: 15 }),
    gridSubset(mercator, {}),
    gridSubset(quad, {}),
    gridSubset(odd, {}),
  ],
  formats: formats("image/png", "image/jpeg", "image/png8"),
  parameterFilters: [
    { type: "string", key: "STYLES", default: "", values: ["pop", "größe"] },
    { type: "string", key: "TIME", default: "2020", values: ["2021"] },
    { type: "regex", key: "CQL_FILTER", default: "", regex: "[A-Z_]+ ?= ?.*" },
  ],
  expireClientSeconds: atEveryZoom(3600),
});
const images = layer("img states", { gridSubsets: [gridSubset(geodetic, {})], formats: formats("image/jpeg") });
/** A layer with a part of the mercator grid set and the whole geodetic one. */
const limited = layer("limited", {
  gridSubsets: [gridSubset(mercator, { extent: { minX: 0, minY: 0, maxX: 1e5, maxY: 1e5 } }), gridSubset(geodetic, {})],
});
const slashed = layer("a/b@c%é", {});
const secured = layer("secret", { secured: true, expireClientSeconds: atEveryZoom(60) });
/** A layer whose client expiry depends on the zoom. */
const aging = layer("aging", {
  expireClientSeconds: [
    { minZoom: 0, value: 31_536_000 },
    { minZoom: 2, value: 0 },
    { minZoom: 3, value: "no-cache" },
  ],
});
const broken = layer("broken", {});
const full = layer("full", {
  source: {
    type: "wms",
    url: "http://127.0.0.1:9/wms",
    version: "1.1.1",
    layers: ["full"],
    styles: [],
    transparent: true,
    timeoutMs: 1000,
    connections: 1,
    vendorParameters: {},
  },
  queryable: true,
  fullWms: true,
  gridSubsets: [gridSubset(geodetic, { zoomStart: 0, zoomStop: 10 })],
  formats: formats("image/png"),
});

export const catalogue: Catalogue = catalogueOf([states, images, slashed, secured, aging, broken, full, limited]);

const ETAG = '"abc"';
export const served: ServedTile = {
  bytes: Buffer.from("a tile"),
  etag: ETAG,
  modifiedMs: Date.UTC(2024, 1, 3, 4, 5, 6),
  writtenMs: 0,
  cacheResult: "HIT",
  forwarded: undefined,
};

/** Answers every read with one tile and records the requests. Layer `broken` fails. */
class FakeReader implements TileReader {
  readonly requests: TileRequest[] = [];
  outcome: (request: TileRequest) => TileOutcome | Promise<TileOutcome> = (request) =>
    request.layer.name === "broken"
      ? { kind: "failure", failure: { code: "upstream_busy", message: "The upstream is down", retryAfterSeconds: 7 } }
      : { kind: "tile", tile: served };

  read(request: TileRequest): TileOutcome | Promise<TileOutcome> {
    this.requests.push(request);
    return this.outcome(request);
  }
}

const MISSING: TileState = {
  inMemory: false,
  stored: undefined,
  key: "a/b.png",
  drawing: false,
  metatile: undefined,
  truncatedMs: undefined,
  failing: undefined,
};

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ProtocolServer extends AsyncDisposable {
  readonly reader: FakeReader;
  /** Resolves when `handle` has finished a request, with the error that it threw. */
  readonly faults: unknown[];
  readonly baseUrl: string;
  request(
    target: string,
    options?: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string },
  ): Promise<Reply>;
}

/**
 * Starts the tile protocols behind a bare `node:http` server on a separate port. With a workspace it is the server below
 * the mount of the workspace.
 */
export async function startProtocols(
  more: Partial<TileProtocolOptions> = {},
  workspace?: string,
): Promise<ProtocolServer> {
  const reader = new FakeReader();
  const faults: unknown[] = [];
  const protocols = new TileProtocols({
    catalogue: () => catalogue,
    reader,
    maps: new MapRenderer({
      tiles: reader,
      most: 32,
      compose: async ({ layers, width, height, background, text }) => {
        const drawn = layers.map(
          ({ tiles, windowWidth, windowHeight }) => `${tiles.length} tiles in ${windowWidth} x ${windowHeight}`,
        );
        const plain = `${width} x ${height} of ${background ?? "nothing"}: ${text}`;
        return { kind: "picture", bytes: Buffer.from(layers.length === 0 ? plain : drawn.join(", ")) };
      },
    }),
    query: async ({ layer: { name }, request }) => ({
      kind: "info",
      info:
        request.kind !== "feature_info"
          ? { contentType: "image/png", bytes: Buffer.from(JSON.stringify({ name, ...request })) }
          : {
              contentType: request.infoFormat,
              bytes: Buffer.from(`${name} ${request.i},${request.j} of ${request.width} x ${request.height}`),
            },
    }),
    clientOf: () => "client",
    tagHeader: () => undefined,
    renderUncached: async () => {
      throw new Error("no tile is rendered past the cache");
    },
    explain: (request) =>
      explainTile(
        {
          inspect: async () => MISSING,
          jobs: async () => [],
          evictedAt: async () => undefined,
          now: () => Date.UTC(2026, 0, 1),
        },
        request,
      ),
    authorised: async ({ headers }) => headers.authorization === "Basic bWU6bWU=",
    clock: { ...machineClock, now: () => Date.UTC(2026, 0, 1) },
    ...more,
  });
  let baseUrl = "";
  const server = createServer((incoming, response) => {
    const [path = "", ...query] = (incoming.url ?? "").split("?");
    const done = protocols.handle(
      {
        path,
        query: query.join("?"),
        workspace,
        baseUrl: () => baseUrl,
      },
      response,
    );
    Promise.resolve(done).catch((error: unknown) => {
      faults.push(error);
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  baseUrl = `http://127.0.0.1:${port}`;
  return {
    reader,
    faults,
    baseUrl,
    request: (target, options = {}) =>
      new Promise((resolve, reject) => {
        const call = httpRequest(
          { port, path: target, method: options.method ?? "GET", headers: options.headers ?? {}, agent: false },
          (reply) => {
            const parts: Buffer[] = [];
            reply.on("data", (part: Buffer) => parts.push(part));
            reply.on("end", () =>
              resolve({
                status: reply.statusCode ?? 0,
                headers: reply.headers,
                body: Buffer.concat(parts).toString("utf8"),
              }),
            );
            reply.on("error", reject);
          },
        );
        call.on("error", reject);
        call.end(options.body);
      }),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Returns the texts of an element, in order.
 * @throws if the document is not well-formed
 */
export function textsOf(document: string, element: string): string[] {
  const found: string[] = [];
  let text = "";
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", () => {
    text = "";
  });
  parser.on("text", (part) => {
    text += part;
  });
  parser.on("closetag", ({ name }) => {
    if (name === element) found.push(text);
    text = "";
  });
  parser.write(document).close();
  return found;
}
