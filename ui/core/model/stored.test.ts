import { expect, test } from "vitest";
import { countedOf, isComplete } from "./stored.ts";

const layer = (complete: boolean) => ({
  layer: "a",
  tiles: 1,
  bytes: 300,
  bytesOnDisk: 4096,
  quota: null,
  complete,
});

test("a quota counts the blocks on the disk, or the content", () => {
  expect(countedOf("allocated", layer(true))).toBe(4096);
  expect(countedOf("content", layer(true))).toBe(300);
});

test("a usage is complete when all of its layers are counted", () => {
  expect(isComplete({ layers: [layer(true), layer(true)] })).toBe(true);
  expect(isComplete({ layers: [layer(true), layer(false)] })).toBe(false);
});
