import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RepeatedLog } from "./repeated-log.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("the first event of a kind is a line at once, further ones are one line a minute with their number", () => {
  const lines: unknown[] = [];
  const log = new RepeatedLog((fields) => lines.push(fields));
  log.add("a", { layer: "a" });
  log.add("b", { layer: "b" }, 4);
  for (let n = 0; n < 9; n++) log.add("a", { layer: "a", message: `failure ${n}` });
  expect(lines).toEqual([
    { layer: "a", count: 1 },
    { layer: "b", count: 4 },
  ]);
  vi.advanceTimersByTime(60_000);
  expect(lines.splice(0)).toHaveLength(3);
  vi.advanceTimersByTime(60_000);
  expect(lines, "a minute without an event").toEqual([]);
  log.add("a", { layer: "a" });
  expect(lines.splice(0), "the next event is a first one again").toEqual([{ layer: "a", count: 1 }]);
  log.add("a", { layer: "a" }, 2);
  log.close();
  expect(lines).toEqual([{ layer: "a", count: 2 }]);
});
