import { expect, test } from "vitest";
import { LayerEpochs } from "./layer-epochs.ts";

test("a layer that is raised differs from before, and the others do not", () => {
  const epochs = new LayerEpochs();
  epochs.keep(["a", "b"]);
  const before = { a: epochs.of("a"), b: epochs.of("b"), unknown: epochs.of("c") };
  expect(epochs.raise("a")).toBe(epochs.of("a"));
  expect(epochs.of("a")).toBeGreaterThan(before.a);
  expect([epochs.of("b"), epochs.of("c")]).toEqual([before.b, before.unknown]);
  epochs.raiseAll();
  expect(epochs.of("b")).toBeGreaterThan(before.b);
  expect(epochs.of("c")).toBeGreaterThan(before.unknown);
});

test("layers that stay keep their number, and a layer that is removed and added again gets a new number", () => {
  const epochs = new LayerEpochs();
  epochs.keep(["stays", "goes"]);
  epochs.raise("stays");
  epochs.raise("goes");
  const stays = epochs.of("stays");
  const had = [epochs.of("goes")];
  for (let reload = 0; reload < 10; reload++) {
    epochs.keep(["stays"]);
    had.push(epochs.of("goes"));
    epochs.keep(["stays", "goes"]);
    had.push(epochs.of("goes"));
  }
  expect(epochs.of("stays")).toBe(stays);
  // Renderers compare numbers by order, so each number must be greater than the previous one.
  expect(had).toEqual([...new Set(had)].sort((a, b) => a - b));
});

test("one layer that is removed and added again gets a new number each time, and the others keep theirs", () => {
  const epochs = new LayerEpochs();
  epochs.keep(["stays"]);
  epochs.add("goes");
  const stays = epochs.of("stays");
  const had = [epochs.of("goes")];
  epochs.add("goes");
  expect(epochs.of("goes")).toBe(had[0]);
  for (let change = 0; change < 10; change++) {
    epochs.remove("goes");
    had.push(epochs.of("goes"));
    epochs.add("goes");
    had.push(epochs.of("goes"));
  }
  expect(epochs.of("stays")).toBe(stays);
  expect(had).toEqual([...new Set(had)].sort((a, b) => a - b));
  expect(epochs.size).toBe(2);
});

test("no more numbers are held than there are layers, however many were named", () => {
  const epochs = new LayerEpochs();
  for (let n = 0; n < 1000; n++) epochs.raise(`gone-${n}`);
  expect(epochs.size).toBe(1000);
  epochs.keep(["a"]);
  expect(epochs.size).toBe(1);
});
