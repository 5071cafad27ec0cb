import type { RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { formatNamed, gridSetNamed } from "../../test/support/layer.ts";
import { startOrigin } from "../../test/support/origin.ts";
import { tileExtent } from "../grid/grid-set.ts";
import { encodePng } from "../image/png-encode.ts";
import { type RenderRequest, type Source, SourceError } from "./source.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** An upstream of this test; the origin. */
async function serve(handler: RequestListener): Promise<string> {
  const { origin, close } = await startOrigin(handler);
  open.push(close);
  return origin;
}

const PICTURE = Buffer.from(
  encodePng(
    { width: 4, height: 4, channels: 3, data: new Uint8Array(48).map((_, i) => i * 5) },
    { left: 0, top: 0, width: 4, height: 4 },
  ),
);

/** A tile of one layer without features (Mapbox Vector Tile 2.1, 4.1): name "a", version 2. */
const VECTOR = Buffer.from([0x1a, 0x05, 0x0a, 0x01, 0x61, 0x78, 0x02]);

/** The request for one tile, y from the bottom. */
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

const never = (): AbortSignal => new AbortController().signal;

/** What every source of single tiles over HTTP does. `create` gets addresses of servers, without a path. */
export function describeTileSource(
  kind: string,
  parts: {
    readonly create: (origins: readonly string[]) => Source;
    /** Path and query under which the tile x 2, y 1 (from the bottom), z 2 of EPSG:900913 is asked for. */
    readonly path: string;
  },
): void {
  const tile = tileRequest("EPSG:900913", [2, 1, 2]);
  const sourceAt = (...origins: string[]): Source => {
    const source = parts.create(origins);
    open.push(async () => source[Symbol.asyncDispose]());
    return source;
  };
  const failureOf = async (source: Source, request = tile): Promise<SourceError> => {
    const failure: unknown = await source.render(request, never()).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure instanceof SourceError) return failure;
    throw new Error("it was rendered, or failed with something else", { cause: failure });
  };

  describe(`a source of type ${kind}`, () => {
    test("asks for one tile and hands its bytes on", async () => {
      const asked: (string | undefined)[] = [];
      const origin = await serve((request, response) => {
        asked.push(request.url);
        response.end(PICTURE);
      });
      const drawing = await sourceAt(origin).render(tile, never());
      if (drawing.kind !== "encoded") throw new Error(drawing.kind);
      expect(PICTURE.equals(drawing.bytes)).toBe(true);
      expect(asked).toEqual([parts.path]);
    });

    test("asks for a vector tile by its type, and hands it on as it is, gzip taken off", async () => {
      const asked: (string | undefined)[] = [];
      const origin = await serve((request, response) => {
        asked.push(request.headers.accept);
        response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(VECTOR));
      });
      const request = { ...tile, format: formatNamed("application/vnd.mapbox-vector-tile") };
      const drawing = await sourceAt(origin).render(request, never());
      if (drawing.kind !== "data") throw new Error(drawing.kind);
      expect(VECTOR.equals(drawing.bytes)).toBe(true);
      expect(asked).toEqual(["application/vnd.mapbox-vector-tile, */*;q=0.1"]);
    });

    test("takes no document for a vector tile", async () => {
      const origin = await serve((_, response) => void response.end("<Exception>no</Exception>"));
      const request = { ...tile, format: formatNamed("application/vnd.mapbox-vector-tile") };
      expect((await failureOf(sourceAt(origin), request)).failure).toBe("exception");
    });

    test.each([
      [404, "http_status"],
      [204, "empty"],
      [500, "server_error"],
    ])("status %i is %s", async (status, failure) => {
      const origin = await serve((_, response) => void response.writeHead(status).end());
      expect((await failureOf(sourceAt(origin))).failure).toBe(failure);
    });

    test("does not render what is more than one tile", async () => {
      let asked = 0;
      const origin = await serve((_, response) => {
        asked++;
        response.end(PICTURE);
      });
      const { tile: _, ...metatile } = tile;
      expect((await failureOf(sourceAt(origin), metatile)).message).toBe("this upstream has single tiles only");
      expect(asked).toBe(0);
    });

    test("asks the next server when the first is broken", async () => {
      const broken = await serve((request) => request.socket.destroy());
      const good = await serve((_, response) => void response.end(PICTURE));
      expect((await sourceAt(broken, good).render(tile, never())).kind).toBe("encoded");
    });

    test("names no server in what it says", async () => {
      const origin = await serve(
        (request, response) => void response.writeHead(400).end(`bad ${request.headers.host ?? ""}`),
      );
      expect((await failureOf(sourceAt(origin))).message).toBe("status 400: bad …");
    });
  });
}
