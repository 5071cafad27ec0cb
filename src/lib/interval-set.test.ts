import fc from "fast-check";
import { expect, test } from "vitest";
import { IntervalSet } from "./interval-set.ts";

const ranges = fc.array(fc.tuple(fc.nat(50), fc.nat(10)));

test("an interval set holds what a plain set holds, in disjoint intervals, and survives JSON", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60 })), fc.array(fc.nat(60)), ranges, (numbers, deleted, more) => {
      const set = new IntervalSet();
      const plain = new Set<number>();
      for (const n of numbers) {
        set.add(BigInt(n));
        plain.add(n);
      }
      for (const n of deleted) {
        set.delete(BigInt(n));
        plain.delete(n);
      }
      for (const [first, length] of more) {
        set.addRange(BigInt(first), BigInt(first + length));
        for (let n = first; n < first + length; n++) plain.add(n);
      }
      const again = IntervalSet.from(set.toJSON());
      for (let n = 0; n < 64; n++) {
        let next = n;
        while (plain.has(next)) next++;
        expect(set.nextMissing(BigInt(n))).toBe(BigInt(next));
        expect(again.nextMissing(BigInt(n))).toBe(BigInt(next));
      }
      const pairs = set.toJSON();
      const count = pairs.reduce((sum, [first, end]) => sum + BigInt(end) - BigInt(first), 0n);
      expect(count).toBe(BigInt(plain.size));
      for (const [i, [first]] of pairs.entries()) {
        if (i > 0) expect(BigInt(first)).toBeGreaterThan(BigInt(pairs[i - 1]?.[1] ?? "0"));
      }
    }),
  );
});
