import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CellPosition } from "../../ledger/cells/cells.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { TileChanges } from "./tile-changes.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const tileSet = { layer: "a", gridSet: "EPSG:4326", format: "image/png", parametersId: "" };
const cell = (bx: number, by: number, number: number, more: Partial<CellPosition> = {}): CellPosition => ({
  tileSet,
  z: 9,
  bx,
  by,
  cell: number,
  ...more,
});

function start() {
  const observed: { by?: ((cells: readonly CellPosition[]) => void) | undefined } = {};
  const changes = new TileChanges({
    writers: {
      observe: (by) => {
        observed.by = by;
      },
    },
    store: { parametersOf: (_, id) => (id === "known" ? { STYLES: "night" } : undefined) },
    clock: machineClock,
  });
  return { changes, observed };
}
const NEVER = new AbortController().signal;

test("the cells of half a second are answered together, once each, to all that wait", async () => {
  const { changes, observed } = start();
  const answers = [changes.tileChanges(NEVER), changes.tileChanges(NEVER)];
  observed.by?.([cell(0, 0, 0), cell(1, 2, 9)]);
  await vi.advanceTimersByTimeAsync(400);
  observed.by?.([cell(1, 2, 9), cell(0, 0, 0, { z: 10, tileSet: { ...tileSet, parametersId: "known" } })]);
  await vi.advanceTimersByTimeAsync(100);
  const about = { layer: "a", gridSet: "EPSG:4326", format: "image/png" };
  const expected = [
    {
      ...about,
      parameters: {},
      z: 9,
      cells: [
        [0, 0],
        [9, 17],
      ],
    },
    { ...about, parameters: { STYLES: "night" }, z: 10, cells: [[0, 0]] },
  ];
  for (const answer of answers) expect(await answer).toEqual(expected);
});

test("a change between two calls is in the second answer, and no answer comes sooner than half a second", async () => {
  const { changes, observed } = start();
  const first = changes.tileChanges(NEVER);
  observed.by?.([cell(0, 0, 0)]);
  await vi.advanceTimersByTimeAsync(500);
  await first;
  observed.by?.([cell(0, 0, 1)]);
  const second = changes.tileChanges(NEVER);
  let answered = false;
  void second.then(() => {
    answered = true;
  });
  await vi.advanceTimersByTimeAsync(499);
  expect(answered).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect((await second).map(({ cells }) => cells)).toEqual([[[1, 0]]]);
});

test("more than 2,000 cells of a level are answered as the whole level", async () => {
  const { changes, observed } = start();
  const answer = changes.tileChanges(NEVER);
  for (let n = 0; n <= 2_000; n++) observed.by?.([cell(n, 0, 0)]);
  observed.by?.([cell(0, 0, 0, { z: 1 })]);
  await vi.advanceTimersByTimeAsync(500);
  expect((await answer).map(({ z, cells }) => [z, cells])).toEqual([
    [9, null],
    [1, [[0, 0]]],
  ]);
});

test("nothing is observed before the first listener, nor when the last one has gone for three seconds", async () => {
  const { changes, observed } = start();
  expect(observed.by).toBeUndefined();
  const abort = new AbortController();
  const answer = changes.tileChanges(abort.signal);
  expect(observed.by).toBeDefined();
  abort.abort();
  expect(await answer).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_999);
  expect(observed.by).toBeDefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(observed.by).toBeUndefined();
});
