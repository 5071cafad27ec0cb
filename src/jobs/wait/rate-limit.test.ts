import fc from "fast-check";
import { expect, test } from "vitest";
import { RateLimiter } from "./rate-limit.ts";

const START = Date.UTC(2026, 0, 1);

test("between any two starts no more is begun than the rate allows, and a timer that is late loses nothing", () => {
  const limit = fc.double({ min: 0.1, max: 2000, noNaN: true });
  const starts = fc.array(
    fc.record({ tiles: fc.integer({ min: 1, max: 256 }), lateMs: fc.integer({ min: 0, max: 100 }) }),
    {
      minLength: 2,
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(limit, starts, (rate, rendered) => {
      const rateLimiter = new RateLimiter<string>(() => undefined);
      const begun: { ms: number; before: number }[] = [];
      let now = START;
      let sum = 0;
      for (const { tiles, lateMs } of rendered) {
        // Only timers are late: a start that is already due begins at once.
        const waitMs = rateLimiter.waitMs(rate, now);
        now += waitMs > 0 ? waitMs + lateMs : 0;
        expect(rateLimiter.isOpen(rate, undefined, now)).toBe(true);
        rateLimiter.begin(tiles, rate, now);
        begun.push({ ms: now, before: sum });
        sum += tiles;
      }
      for (const [i, first] of begun.entries())
        for (const last of begun.slice(i + 1))
          expect(last.before - first.before).toBeLessThanOrEqual((rate * (last.ms - first.ms + 100)) / 1000 + 1e-3);
      const [first, last] = [begun[0], begun.at(-1)];
      if (first === undefined || last === undefined) throw new Error("nothing has begun");
      expect(last.ms - first.ms).toBeLessThanOrEqual((last.before * 1000) / rate + 100 + 1e-3);
    }),
  );
});

test("a holder of the rate limiter keeps the others waiting until it begins or gives up", () => {
  let reported = 0;
  const rateLimiter = new RateLimiter<string>(() => reported++);
  rateLimiter.hold("a");
  const open = () => [undefined, "a", "b"].map((holder) => rateLimiter.isOpen(10, holder, START));
  expect(open()).toEqual([false, true, false]);
  rateLimiter.release("b");
  expect(open()).toEqual([false, true, false]);
  rateLimiter.release("a");
  expect(open()).toEqual([true, true, true]);
  rateLimiter.hold("a");
  rateLimiter.begin(5, 10, START);
  expect([open(), reported, rateLimiter.waitMs(10, START)]).toEqual([[false, false, false], 1, 500]);
});

test("another limit counts at once, and none lets everything go", () => {
  const rateLimiter = new RateLimiter<string>(() => undefined);
  rateLimiter.begin(100, 1, START);
  expect([1, 100, null].map((limit) => rateLimiter.waitMs(limit, START + 500))).toEqual([99_500, 500, 0]);
});

test("a job that was held up for longer makes up for a tenth of a second", () => {
  const rateLimiter = new RateLimiter<string>(() => undefined);
  rateLimiter.begin(10, 100, START);
  rateLimiter.begin(10, 100, START + 10_000);
  expect(rateLimiter.waitMs(100, START + 10_000)).toBe(0);
  rateLimiter.begin(10, 100, START + 10_000);
  expect(rateLimiter.waitMs(100, START + 10_000)).toBe(100);
});
