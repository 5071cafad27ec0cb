import { expect, test } from "vitest";
import type { ServedTile } from "../tile-reader.ts";
import { MemoryTier } from "./memory-tier.ts";

const tile: ServedTile = {
  bytes: new Uint8Array(10),
  etag: '"a"',
  modifiedMs: 0,
  writtenMs: 0,
  cacheResult: "HIT",
  forwarded: undefined,
};

test("a tile that is removed while a remote store reads it is not taken, but by reads that begin later", async () => {
  const memory = new MemoryTier(1_000_000);
  const held: ((found: ServedTile | undefined) => void)[] = [];
  const read = (): Promise<ServedTile | undefined> => new Promise((resolve) => held.push(resolve));
  memory.setRead("a", "k", read());
  memory.setRead("a", "k", read());
  held[0]?.(undefined);
  memory.remove(["k"]);
  memory.setRead("a", "k", read());
  held[1]?.(tile);
  await Promise.resolve();
  expect(memory.holds("a", "k")).toBe(false);
  const later = { ...tile, etag: '"b"' };
  held[2]?.(later);
  await Promise.resolve();
  expect(memory.get("a", "k")).toBe(later);
  memory.clear("a");
  const failed = Promise.reject(new Error("away"));
  memory.setRead("a", "k", failed);
  await expect(failed).rejects.toThrow("away");
  memory.setRead("a", "k", tile);
  expect(memory.get("a", "k")).toBe(tile);
});

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
