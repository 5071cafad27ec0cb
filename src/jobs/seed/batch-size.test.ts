import { expect, test } from "vitest";
import { BATCH_MS, type RenderOutcome } from "../../render/render-order.ts";
import { BatchSize } from "./batch-size.ts";

const stored = (upstreamMs: number, count: number): RenderOutcome[] =>
  Array.from({ length: count }, () => ({ kind: "stored", bytes: 1, upstreamMs, unchanged: [] }));

/** Returns the batch sizes after each batch, for an upstream that takes this long for a metatile. */
function grown(upstreamMs: number, times: number): number[] {
  const length = new BatchSize();
  return Array.from({ length: times }, () => {
    length.adapt(stored(upstreamMs, length.metatiles));
    return length.metatiles;
  });
}

test("runs of a quick upstream become longer, to a bound; those of a slow one take no longer than others can wait", () => {
  expect(grown(0.2, 7)).toEqual([2, 4, 8, 16, 32, 32, 32]);
  expect(grown(BATCH_MS / 5, 4)).toEqual([2, 4, 5, 5]);
  expect(grown(BATCH_MS * 0.9, 3)).toEqual([1, 1, 1]);
  expect(grown(BATCH_MS * 100, 3)).toEqual([1, 1, 1]);
});

test("whatever is not stored, or not come to, makes the next run short", () => {
  const length = new BatchSize();
  for (const outcomes of [stored(1, 1), stored(1, 2), stored(1, 4)]) length.adapt(outcomes);
  expect(length.metatiles).toBe(8);
  length.adapt(stored(1, 1));
  expect(length.metatiles).toBe(2);
  length.adapt([...stored(1, 1), { kind: "stale" }]);
  expect(length.metatiles).toBe(1);
  length.adapt(stored(1, 1));
  length.adapt([]);
  expect(length.metatiles).toBe(1);
});
