import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RenderThrottle } from "./render-throttle.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = (): AbortSignal => new AbortController().signal;

function throttleOf(share: number) {
  const users = { active: true };
  const rate = new RenderThrottle({ share: () => share, usersActive: () => users.active, now: () => Date.now() });
  return { throttle: rate, users };
}

/** Returns how many of the renders, all requested at once, have begun after the given ms. */
async function begunAfter(rate: RenderThrottle, renders: number, ms: number): Promise<number> {
  let begun = 0;
  for (let i = 0; i < renders; i++) void rate.turn(never()).then(() => begun++);
  await vi.advanceTimersByTimeAsync(ms);
  return begun;
}

test("renders are spaced by what they take of a processor, divided by the share", async () => {
  for (const [share, processorMs] of [
    [1 / 3, 20],
    [2, 20],
    [1, 1.6],
  ] as const) {
    const { throttle } = throttleOf(share);
    for (let i = 0; i < 100; i++) throttle.took(processorMs);
    const begun = await begunAfter(throttle, 1_000, 1_000);
    const expected = (1_000 * share) / processorMs;
    expect(begun / expected, `share ${share}, ${processorMs} ms`).toBeGreaterThan(0.95);
    expect(begun / expected, `share ${share}, ${processorMs} ms`).toBeLessThan(1.05);
  }
});

test("no render waits while no user reads, and waiting renders begin soon after the last read", async () => {
  const { throttle, users } = throttleOf(0.001);
  users.active = false;
  expect(await begunAfter(throttle, 100, 0)).toBe(100);
  users.active = true;
  expect(await begunAfter(throttle, 100, 0)).toBe(1);
  users.active = false;
  await vi.advanceTimersByTimeAsync(250);
  expect(vi.getTimerCount()).toBe(0);
});

test("renders that come seldom enough never wait", async () => {
  const { throttle } = throttleOf(1 / 3);
  for (let i = 0; i < 20; i++) {
    expect(await begunAfter(throttle, 1, 0)).toBe(1);
    await vi.advanceTimersByTimeAsync(40);
  }
});

test("one render that took a thousand times as long hardly delays those that follow", async () => {
  const { throttle } = throttleOf(1);
  for (let i = 0; i < 100; i++) throttle.took(20);
  throttle.took(20_000);
  expect(await begunAfter(throttle, 100, 1_000)).toBeGreaterThan(35);
});

test("a render that is aborted while it waits ends at once, and the others begin in their order", async () => {
  const { throttle } = throttleOf(0.1);
  const begun: string[] = [];
  const abort = new AbortController();
  void throttle.turn(never()).then(() => begun.push("first"));
  const second = throttle.turn(abort.signal);
  void throttle.turn(never()).then(() => begun.push("third"));
  void throttle.turn(never()).then(() => begun.push("fourth"));
  await vi.advanceTimersByTimeAsync(0);
  abort.abort(new Error("killed"));
  await expect(second).rejects.toThrow("killed");
  await expect(throttle.turn(abort.signal)).rejects.toThrow("killed");
  await vi.advanceTimersByTimeAsync(150);
  expect(begun).toEqual(["first", "third"]);
  await vi.advanceTimersByTimeAsync(100);
  expect(begun).toEqual(["first", "third", "fourth"]);
});
