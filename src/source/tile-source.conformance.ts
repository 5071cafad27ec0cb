import { describe, expect, test } from "vitest";
import {
  closedAtEnd,
  describeHttpSource,
  describeVectorTiles,
  failureOf,
  never,
  PICTURE,
  serve,
  TILE,
} from "./source.conformance.ts";
import type { Source } from "./source.ts";

/** Tests the behaviour of every source of single tiles over HTTP. */
export function describeTileSource(
  kind: string,
  parts: {
    /** Takes the addresses of servers, without a path. */
    readonly create: (origins: readonly string[]) => Source;
    /** The path and query of the request for `TILE`. */
    readonly path: string;
  },
): void {
  describeHttpSource(kind, parts.create);
  describeVectorTiles(kind, parts.create);

  describe(`a source of type ${kind}`, () => {
    test("requests a tile by its address", async () => {
      const requests: (string | undefined)[] = [];
      const origin = await serve((request, response) => {
        requests.push(request.url);
        response.end(PICTURE);
      });
      await closedAtEnd(parts.create([origin])).render(TILE, never());
      expect(requests).toEqual([parts.path]);
    });

    test("does not render more than one tile", async () => {
      let requests = 0;
      const origin = await serve((_, response) => {
        requests++;
        response.end(PICTURE);
      });
      const { tile: _, ...metatile } = TILE;
      const { message } = await failureOf(closedAtEnd(parts.create([origin])), metatile);
      expect([message, requests]).toEqual(["this upstream only has single tiles", 0]);
    });
  });
}
