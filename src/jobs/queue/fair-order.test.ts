import fc from "fast-check";
import { expect, test } from "vitest";
import { FairOrder } from "./fair-order.ts";

const weights = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 8 });

/** Takes the next item among those that can take a turn, and returns it. */
function turn(turns: FairOrder<number>, weight: readonly number[], can: (item: number) => boolean): number | undefined {
  for (const item of turns.inOrder()) {
    if (!can(item)) continue;
    turns.took(item, weight[item] ?? 1);
    return item;
  }
  return undefined;
}

test("turns follow the weights, to within one turn of each", () => {
  fc.assert(
    fc.property(weights, fc.integer({ min: 1, max: 500 }), (weight, rounds) => {
      const turns = new FairOrder<number>();
      for (const item of weight.keys()) turns.join(item);
      const had = weight.map(() => 0);
      for (let n = 0; n < rounds; n++) {
        const item = turn(turns, weight, () => true);
        if (item !== undefined) had[item] = (had[item] ?? 0) + 1;
      }
      const shares = weight.map((w, item) => ({ share: (had[item] ?? 0) / w, one: 1 / w }));
      for (const a of shares)
        for (const b of shares) expect(Math.abs(a.share - b.share)).toBeLessThanOrEqual(a.one + b.one + 1e-9);
    }),
  );
});

test("an item that can take every turn waits no longer than the shares of the others, even if they skipped turns before", () => {
  const run = fc.record({ item: fc.nat(7), rounds: fc.integer({ min: 1, max: 100 }) });
  fc.assert(
    fc.property(weights, fc.array(run, { maxLength: 30 }), (weight, idle) => {
      const turns = new FairOrder<number>();
      for (const item of weight.keys()) turns.join(item);
      const own = weight[0] ?? 1;
      const longest = weight.slice(1).reduce((sum, w) => sum + w / own + 2, 0);
      let waited = 0;
      for (const { item: absent, rounds } of idle)
        for (let n = 0; n < rounds; n++) {
          waited = turn(turns, weight, (item) => item === 0 || item !== absent) === 0 ? 0 : waited + 1;
          expect(waited).toBeLessThanOrEqual(longest);
        }
    }),
  );
});

test("a job that joins late is served next, and then no more often than its share", () => {
  const turns = new FairOrder<number>();
  turns.join(0);
  for (let n = 0; n < 1000; n++) turn(turns, [1, 1], () => true);
  turns.join(1);
  const order = Array.from({ length: 6 }, () => turn(turns, [1, 1], () => true));
  expect(order.slice(0, 2)).toContain(1);
  expect(order.filter((item) => item === 1)).toHaveLength(3);
});

test("a job that has left the queue is not served any more", () => {
  const turns = new FairOrder<number>();
  turns.join(0);
  turns.join(1);
  turns.leave(0);
  turns.took(0, 1);
  expect([...turns.inOrder()]).toEqual([1]);
});
