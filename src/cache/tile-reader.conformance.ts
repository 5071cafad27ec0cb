import { expect, test } from "vitest";
import { formatNamed, layerNamed } from "../../test/support/layer.ts";
import { createMemoryStore, unconditionally } from "../../test/support/stores/memory-store.ts";
import { atEveryZoom } from "../layer/by-zoom.ts";
import type { RenderOutcome } from "../render/render-order.ts";
import type { RenderedForUser } from "../render/user-renders.ts";
import { StoreError } from "../store/tile-store.ts";
import { MemoryTier } from "./tiers/memory-tier.ts";
import { TileCache } from "./tile-cache.ts";
import { type Requester, type TileReader, type TileRequest, tileSetOf } from "./tile-reader.ts";
import { UseRecorder } from "./use-recorder.ts";

const index = { x: 0, y: 0, z: 1 };
const NOW_MS = 1_700_000_000_000;
const EXPIRY_SECONDS = 60;
const picture = new Uint8Array(7).fill(7);
const rendered: RenderOutcome<RenderedForUser> = { kind: "rendered", tiles: [{ x: 0, y: 0, bytes: picture }] };
const failed = { kind: "failed", failure: "exception", message: "no such layer", retryAfterMs: undefined } as const;
const remembered = { kind: "remembered", failure: failed, retryAfterSeconds: 5, failed: "just now" } as const;

/**
 * Reads a tile of a cache, whose upstream answers `answer`, through an implementation.
 * @param make returns the implementation in front of a cache
 * @param staleWhileRevalidateSeconds the time for which an expired tile is served while it is rendered again
 */
function scene(
  make: (cache: TileReader) => TileReader,
  answer: () => RenderOutcome<RenderedForUser> | Promise<never>,
  staleWhileRevalidateSeconds = 0,
) {
  const expireCacheSeconds = atEveryZoom(EXPIRY_SECONDS);
  const layer = layerNamed("a", { expireCacheSeconds, staleWhileRevalidateSeconds });
  const [subset] = layer.gridSubsets;
  if (subset === undefined) throw new Error("the layer has no grid set");
  const format = formatNamed("image/png");
  const request: TileRequest = { layer, subset, format, parameters: { id: "", values: {} }, index };
  const store = createMemoryStore();
  const seen = { renders: 0, requesters: 0, away: false };
  const cache = new TileCache({
    store: {
      ...store,
      get(at) {
        if (seen.away) throw new StoreError("unavailable", "the store is away", undefined);
        return store.get(at);
      },
    },
    memory: new MemoryTier(2 ** 20),
    diskTier: () => undefined,
    renders: {
      async renderForUser() {
        seen.renders++;
        return await answer();
      },
      queryUpstream: () => Promise.reject(new Error("not asked for")),
      renderStatus: async () => ({ drawing: false, failing: undefined, truncatedMs: undefined }),
    },
    uses: new UseRecorder(),
    shared: () => false,
    refusesWithoutStore: () => seen.away,
    notRenewed: () => undefined,
    now: () => NOW_MS,
  });
  const reader = make(cache);
  return {
    seen,
    keep: (ageSeconds: number) => {
      const [{ guard }, signal] = unconditionally;
      const modifiedMs = NOW_MS - ageSeconds * 1000;
      return store.put({ tileSet: tileSetOf(request), ...index }, picture, { guard, modifiedMs }, signal);
    },
    read: (more: Partial<Requester> = {}) =>
      reader.read(request, () => {
        seen.requesters++;
        return { client: "c", gone: new AbortController().signal, ...more };
      }),
  };
}

/**
 * Tests the behaviour of every tile reader.
 * @param make returns the implementation in front of a cache; for the cache itself, the cache
 */
export function tileReaderConformance(make: (cache: TileReader) => TileReader): void {
  test("a fresh stored tile is answered without a promise, a requester or a render", async () => {
    const { keep, read, seen } = scene(make, () => rendered);
    await keep(1);
    for (let reads = 0; reads < 2; reads++) {
      const outcome = read();
      expect(outcome).not.toBeInstanceOf(Promise);
      expect(outcome).toMatchObject({ kind: "tile", tile: { bytes: picture, cacheResult: "HIT" } });
    }
    expect(seen).toMatchObject({ renders: 0, requesters: 0 });
  });

  test("a tile that is not stored is rendered for the requester", async () => {
    const { read, seen } = scene(make, () => rendered);
    expect(await read()).toMatchObject({ kind: "tile", tile: { bytes: picture, cacheResult: "MISS" } });
    expect(seen).toMatchObject({ renders: 1, requesters: 1 });
  });

  test("nothing is rendered for a requester who wants a stored tile only", async () => {
    const { keep, read, seen } = scene(make, () => rendered);
    expect(await read({ onlyIfCached: true })).toMatchObject({ kind: "failure", failure: { code: "not_cached" } });
    await keep(EXPIRY_SECONDS + 1);
    expect(await read({ onlyIfCached: true })).toMatchObject({ kind: "failure", failure: { code: "not_cached" } });
    expect(seen.renders).toBe(0);
  });

  test("a failed render is an outcome, and an expired tile is served instead", async () => {
    const { keep, read } = scene(make, () => remembered);
    expect(await read()).toMatchObject({ kind: "failure", failure: { code: "upstream_failed" } });
    await keep(EXPIRY_SECONDS + 1);
    expect(await read()).toMatchObject({ kind: "tile", tile: { bytes: picture, isStale: true } });
  });

  test("a stale tile is served to all its readers while it is rendered once", async () => {
    const { keep, read, seen } = scene(make, () => new Promise<never>(() => undefined), 30);
    await keep(EXPIRY_SECONDS + 1);
    for (let reads = 0; reads < 3; reads++)
      expect(await read()).toMatchObject({ kind: "tile", tile: { bytes: picture, isStale: true } });
    expect(seen.renders).toBe(1);
  });

  test("an unavailable store is an outcome for layers that refuse renders without it", async () => {
    const { read, seen } = scene(make, () => rendered);
    seen.away = true;
    expect(await read()).toMatchObject({ kind: "failure", failure: { code: "store_unavailable" } });
    expect(seen.renders).toBe(0);
  });

  test("a fault of the server is thrown", async () => {
    const { read } = scene(make, () => Promise.reject(new Error("the coordinator has ended")));
    await expect(read()).rejects.toThrow("the coordinator has ended");
  });
}
