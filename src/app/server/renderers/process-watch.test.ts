import { expect, test, vi } from "vitest";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { ProcessWatch } from "./process-watch.ts";

function watched(request: () => Promise<unknown>) {
  const hung = vi.fn();
  const watch = new ProcessWatch({ ping: request, hung, clock: machineClock, pingMs: 1_000, deadlineMs: 3_000 });
  return { hung, watch };
}

test("a process that answers is pinged again and never reported", async () => {
  vi.useFakeTimers();
  try {
    const query = vi.fn(async () => undefined);
    const { hung, watch } = watched(query);
    watch.begin();
    watch.begin();
    await vi.advanceTimersByTimeAsync(10_500);
    expect(query).toHaveBeenCalledTimes(10);
    expect(hung).not.toHaveBeenCalled();
    watch.end();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(query).toHaveBeenCalledTimes(10);
  } finally {
    vi.useRealTimers();
  }
});

test("a process that does not answer is reported once, after the deadline", async () => {
  vi.useFakeTimers();
  try {
    const { hung, watch } = watched(() => new Promise(() => undefined));
    watch.begin();
    await vi.advanceTimersByTimeAsync(3_999);
    expect(hung).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hung.mock.calls).toEqual([[3_000]]);
  } finally {
    vi.useRealTimers();
  }
});

test("a process that has lost its work is not reported for a question of before", async () => {
  vi.useFakeTimers();
  try {
    const { hung, watch } = watched(() => new Promise(() => undefined));
    watch.begin();
    await vi.advanceTimersByTimeAsync(2_000);
    watch.end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hung).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});
