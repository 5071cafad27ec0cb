import { expect, test } from "vitest";
import { MemoryTier } from "./memory-tier.ts";
import type { ServedTile } from "./tile-reader.ts";

const tile: ServedTile = {
  bytes: new Uint8Array(10),
  etag: '"a"',
  modifiedMs: 0,
  writtenMs: 0,
  cacheResult: "HIT",
  forwarded: undefined,
};

test("layers that stay over a reload keep their tiles, and a layer that comes back finds none of its old ones", () => {
  const memory = new MemoryTier(1_000_000);
  memory.keepLayers(["stays", "goes"]);
  memory.set("s", tile, memory.epoch("stays"));
  memory.set("g", tile, memory.epoch("goes"));
  const whenReadBegan = memory.epoch("goes");
  memory.keepLayers(["stays"]);
  expect(memory.get("stays", "s")).toBe(tile);
  expect(memory.holds("goes", "g")).toBe(false);
  memory.keepLayers(["stays", "goes"]);
  memory.set("late", tile, whenReadBegan);
  expect([memory.get("goes", "g"), memory.get("goes", "late")]).toEqual([undefined, undefined]);
  expect(memory.get("stays", "s")).toBe(tile);
});
