import { expect, test } from "vitest";
import type { TileChange } from "../../../coordinator/coverage/tile-changes.ts";
import { TileChangeFeed } from "./tile-change-feed.ts";

const level = { gridSet: "g", format: "image/png", parameters: {}, z: 9 };
const cellsFrom = (from: number, count: number) =>
  Array.from({ length: count }, (_, n): readonly [number, number] => [from + n, 0]);

/** Sends changes to a listener that does not take them, and returns the changes that it takes at the end. */
async function takenOf(answers: readonly (readonly TileChange[])[]): Promise<readonly TileChange[]> {
  const left = [...answers];
  let asked = (): void => undefined;
  const isOver = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const feed = new TileChangeFeed(
    (signal) => {
      const answer = left.shift();
      if (answer !== undefined) return Promise.resolve(answer);
      asked();
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve([]), { once: true }));
    },
    () => undefined,
  );
  const listener = feed.listen(undefined);
  await isOver;
  const taken = listener.take();
  expect(listener.take()).toEqual([]);
  listener.end();
  return taken;
}

test("a listener that does not read keeps at most 20,000 cells, and any cell of the levels beyond", async () => {
  const answers = Array.from({ length: 30 }, (_, n): readonly TileChange[] => [
    { ...level, layer: `a${n}`, cells: cellsFrom(0, 500) },
    { ...level, layer: `a${n}`, cells: cellsFrom(500, 500) },
  ]);
  const taken = await takenOf(answers);
  expect(taken.map(({ layer }) => layer)).toEqual(Array.from({ length: 30 }, (_, n) => `a${n}`));
  expect(taken.slice(0, 20).map(({ cells }) => cells?.length)).toEqual(Array(20).fill(1_000));
  expect(taken.slice(20).map(({ cells }) => cells)).toEqual(Array(10).fill(null));
});

test("a listener that does not read keeps the first 500 levels", async () => {
  const answers = Array.from({ length: 12 }, (_, n) =>
    Array.from({ length: 50 }, (_, m): TileChange => ({ ...level, layer: `${n} ${m}`, cells: [[n, m]] })),
  );
  expect(await takenOf(answers)).toEqual(answers.flat().slice(0, 500));
});
