import { expect, test } from "vitest";
import { formatNamed, layerNamed } from "../../../test/support/layer.ts";
import { createMemoryStore } from "../../../test/support/stores/memory-store.ts";
import { StoreError, type TileStore } from "../../store/tile-store.ts";
import type { RenderOrder } from "../render-order.ts";
import { keepTiles } from "./store-tiles.ts";

const layer = layerNamed("a");
const order: RenderOrder = {
  tileSet: { layer: "a", gridSet: "EPSG:4326", format: formatNamed("image/png").mimeType, parametersId: "" },
  parameters: {},
  rect: { z: 4, minX: 0, minY: 0, maxX: 7, maxY: 0 },
  wanted: null,
};
const tiles = Array.from({ length: 8 }, (_, x) => ({ x, y: 0, keep: true, bytes: new Uint8Array(x + 1) }));

/**
 * Stores the tiles, two at once, and aborts the render while tile 2 is put.
 * @param last the outcome of the put of tile 2
 */
async function abortedWhileStoring(last: "stored" | StoreError) {
  const memory = createMemoryStore();
  const ending = new AbortController();
  const store: TileStore = {
    ...memory,
    putsAtOnce: () => 2,
    async put(...call) {
      const [{ x }] = call;
      if (x !== 2) return await memory.put(...call);
      const put = last === "stored" ? await memory.put(...call) : last;
      ending.abort(new Error("killed"));
      if (put instanceof StoreError) throw put;
      return put;
    },
  };
  const stored = await keepTiles(order, tiles, { layer, store, isCurrent: () => true }, ending.signal);
  const there = tiles.filter(({ x }) => memory.stat({ tileSet: order.tileSet, x, y: 0, z: 4 }) !== undefined);
  return { stored, there: there.map(({ x }) => x) };
}

test("a render that is aborted reports each tile that it has stored, and stores no more", async () => {
  const { stored, there } = await abortedWhileStoring("stored");
  expect(stored.written.map(({ x }) => x)).toEqual(there);
  expect(there).toContain(2);
  expect(there.length).toBeLessThan(tiles.length);
  expect(stored).toMatchObject({ stale: true, storeFailure: undefined });
  expect(stored.isUncertain).toBeUndefined();
});

test("a put without an answer makes an aborted render uncertain, and is no fault of the store", async () => {
  const { stored, there } = await abortedWhileStoring(new StoreError("unavailable", "no answer in time", undefined));
  expect(stored.written.map(({ x }) => x)).toEqual(there);
  expect(stored).toMatchObject({ stale: true, storeFailure: undefined, isUncertain: true });
});

test("a render that was aborted before it stores throws nothing and stores nothing", async () => {
  const store = createMemoryStore();
  const parts = { layer, store, isCurrent: () => true };
  expect(await keepTiles(order, tiles, parts, AbortSignal.abort())).toEqual({
    written: [],
    stale: true,
    storeFailure: undefined,
  });
  expect(store.stat({ tileSet: order.tileSet, x: 0, y: 0, z: 4 })).toBeUndefined();
});
