import { expect, test } from "vitest";
import { RendererLoad, type WorkedTimes } from "./renderer-load.ts";

/** Returns a function that lets time pass in which a renderer works for a share of it. */
function passing(answer: (times: WorkedTimes) => Promise<WorkedTimes | undefined>) {
  let [nowMs, activeMs] = [0, 0];
  const load = new RendererLoad(
    () => answer({ activeMs, processorMs: 0 }),
    () => nowMs,
  );
  return async (ms: number, share: number): Promise<boolean> => {
    for (let step = 0; step < ms; step += 100) {
      nowMs += 100;
      activeMs += 100 * share;
      void load.isFull;
      await Promise.resolve();
      await Promise.resolve();
    }
    return load.isFull;
  };
}

test("the load is full after some seconds of work without a pause", async () => {
  const pass = passing(async (times) => times);
  expect(await pass(2_800, 1)).toBe(false);
  expect(await pass(400, 1)).toBe(true);
});

test("a renderer that mostly waits never fills it, and a pause empties it", async () => {
  const pass = passing(async (times) => times);
  expect(await pass(60_000, 0.4)).toBe(false);
  expect(await pass(4_000, 1)).toBe(true);
  expect(await pass(1_500, 0)).toBe(false);
});

test("threads that compress pictures fill it, too", async () => {
  const pass = passing(async ({ activeMs }) => ({ activeMs: 0, processorMs: activeMs }));
  expect(await pass(3_200, 1)).toBe(true);
});

test("a renderer that does not answer works, and one that does not tell counts as full", async () => {
  const silent = passing(() => new Promise(() => undefined));
  expect(await silent(2_800, 0)).toBe(false);
  expect(await silent(600, 0)).toBe(true);
  const older = passing(async () => undefined);
  expect(await older(200, 0)).toBe(true);
});
