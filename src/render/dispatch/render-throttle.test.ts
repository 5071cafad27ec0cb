import { expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { RenderThrottle } from "./render-throttle.ts";

type Throttled = ReturnType<typeof throttleOf>;

const turns = () => new Promise(setImmediate);
const never = (): AbortSignal => new AbortController().signal;

function throttleOf(share: number) {
  const clock = new ManualClock();
  const users = { active: true };
  const rate = new RenderThrottle({ share: () => share, usersActive: () => users.active, clock });
  return { throttle: rate, users, clock };
}

/** Returns how many of the renders, all requested at once, have begun after the given ms. */
async function begunAfter({ throttle, clock }: Throttled, renders: number, ms: number): Promise<number> {
  let begun = 0;
  for (let i = 0; i < renders; i++) void throttle.turn(never()).then(() => begun++);
  await clock.passSlowly(ms, 1);
  await turns();
  return begun;
}

test("renders are spaced by what they take of a processor, divided by the share", async () => {
  for (const [share, processorMs] of [
    [1 / 3, 20],
    [2, 20],
    [1, 1.6],
  ] as const) {
    const throttled = throttleOf(share);
    for (let i = 0; i < 100; i++) throttled.throttle.took(processorMs);
    const begun = await begunAfter(throttled, 1_000, 1_000);
    const expected = (1_000 * share) / processorMs;
    expect(begun / expected, `share ${share}, ${processorMs} ms`).toBeGreaterThan(0.95);
    expect(begun / expected, `share ${share}, ${processorMs} ms`).toBeLessThan(1.05);
  }
});

test("no render waits while no user reads, and waiting renders begin soon after the last read", async () => {
  const throttled = throttleOf(0.001);
  throttled.users.active = false;
  expect(await begunAfter(throttled, 100, 0)).toBe(100);
  throttled.users.active = true;
  expect(await begunAfter(throttled, 100, 0)).toBe(1);
  throttled.users.active = false;
  await throttled.clock.passSlowly(250, 1);
  expect(throttled.clock.timers).toBe(0);
});

test("renders that come seldom enough never wait", async () => {
  const throttled = throttleOf(1 / 3);
  for (let i = 0; i < 20; i++) {
    expect(await begunAfter(throttled, 1, 0)).toBe(1);
    await throttled.clock.passSlowly(40, 1);
  }
});

test("one render that took a thousand times as long hardly delays those that follow", async () => {
  const throttled = throttleOf(1);
  for (let i = 0; i < 100; i++) throttled.throttle.took(20);
  throttled.throttle.took(20_000);
  expect(await begunAfter(throttled, 100, 1_000)).toBeGreaterThan(35);
});

test("a render that is aborted while it waits ends at once, and the others begin in their order", async () => {
  const throttled = throttleOf(0.1);
  const begun: string[] = [];
  const abort = new AbortController();
  void throttled.throttle.turn(never()).then(() => begun.push("first"));
  const second = throttled.throttle.turn(abort.signal);
  void throttled.throttle.turn(never()).then(() => begun.push("third"));
  void throttled.throttle.turn(never()).then(() => begun.push("fourth"));
  await turns();
  abort.abort(new Error("killed"));
  await expect(second).rejects.toThrow("killed");
  await expect(throttled.throttle.turn(abort.signal)).rejects.toThrow("killed");
  await throttled.clock.passSlowly(150, 1);
  expect(begun).toEqual(["first", "third"]);
  await throttled.clock.passSlowly(100, 1);
  expect(begun).toEqual(["first", "third", "fourth"]);
});
