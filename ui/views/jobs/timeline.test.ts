import { expect, test } from "vitest";
import { hiddenOf, lasting, standstillSince } from "./timeline.ts";

type Event = Parameters<typeof standstillSince>[1][number]["event"];

const moments = (...events: readonly Event[]) =>
  events.map((event, n) => ({ at: `2026-11-24T10:00:0${n}.000Z`, event, by: null, reason: null }));

test("a moment lasts until the next one, and the last one has no end", () => {
  expect(lasting(moments("made", "running", "ended")).map(({ seconds }) => seconds)).toEqual([1, 1, undefined]);
});

test("a job stands still since its first wait, whatever reasons it had since", () => {
  const live = { outcome: null };
  expect(standstillSince(live, moments("made", "running", "waiting", "waiting"))).toBe("2026-11-24T10:00:02.000Z");
  expect(standstillSince(live, moments("made", "paused"))).toBe("2026-11-24T10:00:01.000Z");
  expect(standstillSince(live, moments("made", "waiting", "running"))).toBeUndefined();
  expect(standstillSince({ outcome: "aborted" }, moments("made", "paused"))).toBeUndefined();
  expect(standstillSince(live, [])).toBeUndefined();
});

test("a long timeline first shows its beginning and its end", () => {
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  expect(hiddenOf(numbers)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(hiddenOf(numbers.slice(0, 14))).toEqual([]);
});
