import type { RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { formatNamed, gridSetNamed } from "../../test/support/layer.ts";
import { startOrigin } from "../../test/support/upstream/origin.ts";
import { tileExtent } from "../grid/grid-set.ts";
import { decodePicture } from "../image/decode.ts";
import { encodePng } from "../image/png-encode.ts";
import type { Raster } from "../image/raster.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import type { SourceParts } from "./http/http-source.ts";
import { type RenderRequest, type Source, SourceError } from "./source.ts";

/** The parts of a source whose reports nobody reads. */
export const UNHEARD: SourceParts = { clock: machineClock, report: () => undefined };

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Starts an upstream for the running test and returns its origin. */
export async function serve(handler: RequestListener): Promise<string> {
  const { origin, close } = await startOrigin(handler);
  open.push(close);
  return origin;
}

/** Closes a source at the end of the running test. */
export function closedAtEnd(source: Source): Source {
  open.push(async () => source[Symbol.asyncDispose]());
  return source;
}

/** A picture of one tile. */
export const PICTURE = Buffer.from(
  encodePng(
    { width: 256, height: 256, channels: 3, data: new Uint8Array(256 * 256 * 3).map((_, i) => i * 5) },
    { left: 0, top: 0, width: 256, height: 256 },
  ),
);

/** A tile of one layer without features (Mapbox Vector Tile 2.1, 4.1): name "a", version 2. */
const VECTOR = Buffer.from([0x1a, 0x05, 0x0a, 0x01, 0x61, 0x78, 0x02]);

/** Returns the request for one tile, y from the bottom. */
export function tileRequest(
  gridSetId: string,
  [x, y, z]: readonly [number, number, number],
  more: Partial<RenderRequest> = {},
): RenderRequest {
  const gridSet = gridSetNamed(gridSetId);
  return {
    gridSet,
    extent: tileExtent(gridSet, { x, y, z }),
    width: gridSet.tileWidth,
    height: gridSet.tileHeight,
    tile: { x, y, z },
    format: formatNamed("image/png"),
    parameters: {},
    ...more,
  };
}

/** The tile x 2, y 1 (from the bottom), z 2 of EPSG:900913. */
export const TILE = tileRequest("EPSG:900913", [2, 1, 2]);

export const never = (): AbortSignal => new AbortController().signal;

/** Returns the failure of a render. @throws when the render succeeds, or fails with another error than a SourceError */
export async function failureOf(source: Source, request = TILE, signal = never()): Promise<SourceError> {
  const failure: unknown = await source.render(request, signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof SourceError) return failure;
  throw new Error("the render succeeded, or failed with something else", { cause: failure });
}

async function rasterOf(source: Source, request: RenderRequest): Promise<Raster> {
  const image = await source.render(request, never());
  if (image.kind === "data" || image.kind === "none") throw new Error(`the source rendered ${image.kind}, no picture`);
  return image.kind === "raster" ? image.raster : await decodePicture(image.bytes, request);
}

/** Tests the behaviour of every source of pictures. The tests call `create`. */
export function describeSource(kind: string, create: () => Promise<Source> | Source): void {
  const tiles = [TILE, tileRequest("EPSG:900913", [1, 1, 1]), tileRequest("EPSG:900913", [0, 0, 0])];

  describe(`a source of type ${kind}`, () => {
    test("renders a picture of the requested size, the same one every time", async () => {
      const source = closedAtEnd(await create());
      const first = await rasterOf(source, TILE);
      expect([first.width, first.height]).toEqual([256, 256]);
      expect(Buffer.compare(first.data, (await rasterOf(source, TILE)).data)).toBe(0);
    });

    test("renders several requests at once as it renders them one by one", async () => {
      const source = closedAtEnd(await create());
      const together = await Promise.all(tiles.map((tile) => rasterOf(source, tile)));
      for (const [i, tile] of tiles.entries())
        expect(Buffer.compare(together[i]?.data ?? Buffer.alloc(0), (await rasterOf(source, tile)).data)).toBe(0);
    });

    test("renders nothing for a signal that has fired", async () => {
      const source = closedAtEnd(await create());
      const { failure } = await failureOf(source, TILE, AbortSignal.abort(new Error("no longer wanted")));
      expect(failure).toBe("cancelled");
    });

    test("lets a render end that has begun when it is closed", async () => {
      const source = await create();
      const rendered = rasterOf(source, TILE);
      await Promise.all([rendered, source[Symbol.asyncDispose]()]);
      expect((await rendered).width).toBe(256);
    });
  });
}

/** Tests the behaviour of every source over HTTP. `create` takes the addresses of servers, without a path. */
export function describeHttpSource(kind: string, create: (origins: readonly string[]) => Source): void {
  const sourceAt = (...origins: string[]): Source => closedAtEnd(create(origins));

  describeSource(kind, async () => create([await serve((_, response) => void response.end(PICTURE))]));

  describe(`a source of type ${kind}`, () => {
    test("requests one picture for a tile and returns its bytes", async () => {
      let requests = 0;
      const origin = await serve((_, response) => {
        requests++;
        response.end(PICTURE);
      });
      const image = await sourceAt(origin).render(TILE, never());
      if (image.kind !== "encoded") throw new Error(image.kind);
      expect([PICTURE.equals(image.bytes), requests]).toEqual([true, 1]);
    });

    test.each([
      [403, "http_status"],
      [500, "server_error"],
      [429, "busy"],
    ])("status %i is %s", async (status, failure) => {
      const origin = await serve((_, response) => void response.writeHead(status).end());
      expect((await failureOf(sourceAt(origin))).failure).toBe(failure);
    });

    test.each([
      [204, "none"],
      [404, kind === "wms" ? "http_status" : "none"],
    ])("status %i says whether there is a tile", async (status, expected) => {
      const origin = await serve((_, response) => void response.writeHead(status).end());
      const rendered = await sourceAt(origin)
        .render(TILE, never())
        .then(
          ({ kind: image }) => image,
          (error: unknown) => (error instanceof SourceError ? error.failure : error),
        );
      expect(rendered).toBe(expected);
    });

    test.each([
      ["closes the connection", "reset", (socket: { destroy(): unknown }) => socket.destroy()],
      ["does not answer", "timeout", () => {}],
    ] as const)("a server that %s is a failure of the class %s", async (_, failure, act) => {
      const origin = await serve((request) => void act(request.socket));
      expect((await failureOf(sourceAt(origin))).failure).toBe(failure);
    });

    test("asks the next server when the first is broken", async () => {
      const broken = await serve((request) => request.socket.destroy());
      const good = await serve((_, response) => void response.end(PICTURE));
      expect((await sourceAt(broken, good).render(TILE, never())).kind).toBe("encoded");
    });

    test("reports each answer once, with the bytes that arrived, also if a secret is hidden in its message", async () => {
      const answers: number[] = [];
      const watch = { requested: () => {}, answered: (_: number, __: string, bytes: number) => answers.push(bytes) };
      let body = "";
      const origin = await serve((request, response) => {
        body = `bad ${request.headers.host ?? ""}`;
        response.writeHead(400).end(body);
      });
      await expect(sourceAt(origin).render(TILE, never(), watch)).rejects.toThrow("status 400");
      expect(answers).toEqual([Buffer.byteLength(body)]);
    });

    test("names no server in its messages", async () => {
      const origin = await serve(
        (request, response) => void response.writeHead(400).end(`bad ${request.headers.host ?? ""}`),
      );
      expect((await failureOf(sourceAt(origin))).message).toBe("status 400: bad …");
    });
  });
}

/** Tests the behaviour of every source over HTTP that has vector tiles. */
export function describeVectorTiles(kind: string, create: (origins: readonly string[]) => Source): void {
  const request = { ...TILE, format: formatNamed("application/vnd.mapbox-vector-tile") };

  describe(`a source of type ${kind}`, () => {
    test("requests a vector tile by its type, and returns it unchanged but for gzip", async () => {
      const accepted: (string | undefined)[] = [];
      const origin = await serve(({ headers }, response) => {
        accepted.push(headers.accept);
        response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(VECTOR));
      });
      const tile = await closedAtEnd(create([origin])).render(request, never());
      if (tile.kind !== "data") throw new Error(tile.kind);
      expect(VECTOR.equals(tile.bytes)).toBe(true);
      expect(accepted).toEqual(["application/vnd.mapbox-vector-tile, */*;q=0.1"]);
    });

    test("takes a vector tile without bytes for no tile, also behind gzip", async () => {
      for (const body of [Buffer.alloc(0), gzipSync("")]) {
        const origin = await serve((_, response) => void response.end(body));
        expect(await closedAtEnd(create([origin])).render(request, never())).toEqual({ kind: "none" });
      }
    });

    test("does not take a document for a vector tile", async () => {
      const origin = await serve((_, response) => void response.end("<Exception>no</Exception>"));
      expect((await failureOf(closedAtEnd(create([origin])), request)).failure).toBe("exception");
    });
  });
}
