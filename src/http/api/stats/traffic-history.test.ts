import { expect, test } from "vitest";
import { noTraffic, type TrafficCounts } from "../../tiles/tile-traffic.ts";
import { TrafficHistory } from "./traffic-history.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Noon of an arbitrary day. */
const NOON = Date.UTC(2026, 0, 1, 12);

const hits = (count: number): TrafficCounts => ({ ...noTraffic(), hits: count, bytes: count * 10 });
const all = { layer: undefined };

test("a window sums its minutes, the current one too, and no older ones", () => {
  const history = new TrafficHistory(NOON - HOUR);
  history.add(NOON - 5 * MINUTE, new Map([["a", hits(1)]]));
  history.add(NOON - 4 * MINUTE, new Map([["a", hits(2)]]));
  history.add(NOON, new Map([["b", hits(4)]]));
  const now = NOON + 59_999;
  const { total, layers, series, sinceMs } = history.view({ window: "PT5M", ...all }, now);
  expect([total.hits, total.bytes, sinceMs]).toEqual([6, 60, NOON - 4 * MINUTE]);
  expect([...layers].map(([name, counts]) => [name, counts.hits])).toEqual([
    ["a", 2],
    ["b", 4],
  ]);
  expect(series.map(({ traffic }) => traffic.hits)).toEqual([2, 0, 0, 0, 4]);
  expect(history.view({ window: "PT1H", ...all }, now).total.hits).toBe(7);
  expect(history.view({ window: "PT1H", layer: "a" }, now)).toMatchObject({ total: { hits: 3 } });
  expect(history.view({ window: "PT1H", layer: "c" }, now).total).toEqual(noTraffic());
});

test("a day is kept in quarters of an hour, and forgotten after a day", () => {
  const history = new TrafficHistory(NOON);
  for (let n = 0; n < 30 * 4; n++) history.add(NOON + n * 15 * MINUTE, new Map([["a", hits(1)]]));
  const now = NOON + (30 * 4 - 1) * 15 * MINUTE;
  const day = history.view({ window: "PT24H", ...all }, now);
  expect([day.total.hits, day.series.length]).toEqual([96, 96]);
  expect(history.view({ window: "PT24H", ...all }, now + 25 * HOUR).total.hits).toBe(0);
});

test("a series begins with the server", () => {
  const history = new TrafficHistory(NOON + 1);
  const { series, sinceMs } = history.view({ window: "PT1H", ...all }, NOON + 2 * MINUTE);
  expect([series.map(({ atMs }) => atMs), sinceMs]).toEqual([[NOON, NOON + MINUTE, NOON + 2 * MINUTE], NOON + 1]);
});

test("a clock that is set back hides nothing that comes after", () => {
  const history = new TrafficHistory(NOON);
  history.add(NOON, new Map([["a", hits(1)]]));
  history.add(NOON - HOUR, new Map([["a", hits(2)]]));
  expect(history.view({ window: "PT5M", ...all }, NOON - HOUR).total.hits).toBe(2);
  // The minute after the change of the clock is counted from zero.
  expect(history.view({ window: "PT5M", ...all }, NOON).total.hits).toBe(0);
});

test("each step tells 500 layers apart, and its total has all", () => {
  const history = new TrafficHistory(NOON);
  history.add(NOON, new Map(Array.from({ length: 600 }, (_, i) => [`l${i}`, hits(1)])));
  history.add(NOON, new Map([["l0", hits(1)]]));
  const { total, layers } = history.view({ window: "PT5M", ...all }, NOON);
  expect([total.hits, layers.size, layers.get("l0")?.hits]).toEqual([601, 500, 2]);
});
