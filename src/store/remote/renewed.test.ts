import { expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { seededRandom } from "../../../test/support/random.ts";
import { type Lent, Renewed } from "./renewed.ts";

const HOUR_MS = 3_600_000;

/** Values that count up, each for an hour, from a source that can fail and can be held back. */
function source(clock: ManualClock) {
  let given = 0;
  const state = { asked: 0, fails: false, held: Promise.resolve() };
  const obtain = async (): Promise<Lent<number>> => {
    state.asked++;
    await state.held;
    if (state.fails) throw new Error("the source is away");
    return { value: ++given, expiresMs: clock.now() + HOUR_MS };
  };
  return { state, obtain };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("callers at the same time cause one request, also when the value is renewed", async () => {
  const clock = new ManualClock();
  const { state, obtain } = source(clock);
  const value = new Renewed({ clock, random: seededRandom(1) }, obtain);
  expect(await Promise.all([value.current(), value.current(), value.current()])).toEqual([1, 1, 1]);
  clock.pass(HOUR_MS - 5 * 60_000);
  expect(await Promise.all([value.current(), value.current()]), "the old value is valid").toEqual([1, 1]);
  await settled();
  expect(await value.current()).toBe(2);
  expect(state.asked).toBe(2);
});

test("processes that began together renew at different times, 5 to 15 minutes before the end", async () => {
  const moments = await Promise.all(
    Array.from({ length: 20 }, async (_, seed) => {
      const clock = new ManualClock();
      const { state, obtain } = source(clock);
      const value = new Renewed({ clock, random: seededRandom(seed * 200_000_000) }, obtain);
      await value.current();
      let minutes = 0;
      for (; state.asked === 1; minutes++) {
        clock.pass(60_000);
        await value.current();
      }
      return minutes;
    }),
  );
  expect(Math.min(...moments)).toBeGreaterThanOrEqual(45);
  expect(Math.max(...moments)).toBeLessThanOrEqual(56);
  expect(new Set(moments).size).toBeGreaterThan(4);
});

test("while the source is away the old value is used until its end, and the failures are counted", async () => {
  const clock = new ManualClock();
  const { state, obtain } = source(clock);
  const value = new Renewed({ clock, random: seededRandom(1) }, obtain);
  await value.current();
  state.fails = true;
  clock.pass(HOUR_MS - 60_000);
  expect(await value.current()).toBe(1);
  await settled();
  expect(await value.current(), "the source is not asked again at once").toBe(1);
  expect(state.asked).toBe(2);
  clock.pass(60_000);
  await expect(value.current()).rejects.toThrow("the source is away");
  await expect(value.current(), "a failure is repeated without another request").rejects.toThrow("away");
  expect(state.asked).toBe(3);
  expect(value.failures).toBe(2);
  state.fails = false;
  clock.pass(30_000);
  expect(await value.current()).toBe(2);
});

test("a refused value is replaced, but not a value that has just been obtained", async () => {
  const clock = new ManualClock();
  const { state, obtain } = source(clock);
  const value = new Renewed({ clock, random: seededRandom(1) }, obtain);
  const first = await value.current();
  expect(value.refused(first)).toBe(false);
  clock.pass(60_000);
  expect(value.refused(first)).toBe(true);
  expect(await value.current()).toBe(2);
  expect(value.refused(first), "another caller has replaced it").toBe(true);
  expect(await value.current()).toBe(2);
  expect(state.asked).toBe(2);
});
