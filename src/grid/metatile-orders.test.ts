import fc from "fast-check";
import { expect, test } from "vitest";
import { CentreOut } from "./centre-out.ts";
import { DepthFirst } from "./depth-first.ts";

const side = fc.integer({ min: 1, max: 17 });
const level = fc.record({ columns: side, rows: side });

test("from the centre out each cell comes once, ring by ring, and its number leads back to it", () => {
  fc.assert(
    fc.property(level, ({ columns, rows }) => {
      const order = new CentreOut({ columns, rows });
      const middle = order.at(0n);
      expect(middle).toEqual({ column: Math.floor((columns - 1) / 2), row: Math.floor((rows - 1) / 2) });
      const met = new Set<string>();
      let before = 0;
      for (let n = 0n; n < BigInt(columns * rows); n++) {
        const { column, row } = order.at(n);
        expect([column >= 0 && column < columns, row >= 0 && row < rows]).toEqual([true, true]);
        const ring = Math.max(Math.abs(column - middle.column), Math.abs(row - middle.row));
        expect(ring).toBeGreaterThanOrEqual(before);
        before = ring;
        met.add(`${column}/${row}`);
        expect(order.numberOf({ column, row })).toBe(n);
      }
      expect(met.size).toBe(columns * rows);
    }),
  );
});

test("depth first each cell comes once, and its number leads back to it, whatever the levels", () => {
  fc.assert(
    fc.property(fc.array(level, { minLength: 1, maxLength: 5 }), (levels) => {
      const order = new DepthFirst(levels);
      const count = levels.reduce((sum, { columns, rows }) => sum + columns * rows, 0);
      const met = new Set<string>();
      for (let n = 0n; n < BigInt(count); n++) {
        const found = order.at(n);
        met.add(`${found.level}/${found.column}/${found.row}`);
        expect(order.numberOf(found)).toBe(n);
      }
      expect(met.size).toBe(count);
    }),
  );
});

test("depth first goes down a pyramid before it goes on", () => {
  const order = new DepthFirst([0, 1, 2].map((z) => ({ columns: 2 ** z, rows: 2 ** z })));
  const names = Array.from({ length: 21 }, (_, n) => order.at(BigInt(n))).map((p) => `${p.level}:${p.column},${p.row}`);
  expect(names.slice(0, 8)).toEqual(["0:0,0", "1:0,0", "2:0,0", "2:1,0", "2:0,1", "2:1,1", "1:1,0", "2:2,0"]);
  expect(names.at(-1)).toBe("2:3,3");
});

test("both are exact where counts pass 2^53", () => {
  const levels = Array.from({ length: 31 }, (_, z) => ({ columns: 2 ** z, rows: 2 ** z }));
  const deep = new DepthFirst(levels);
  const [last] = levels.slice(-1);
  if (last === undefined) throw new Error("there are levels");
  const rings = new CentreOut(last);
  for (const at of [
    { column: 2 ** 30 - 1, row: 2 ** 30 - 1 },
    { column: 0, row: 2 ** 30 - 1 },
    { column: 123_456_789, row: 987_654_321 },
  ]) {
    const n = deep.numberOf({ level: 30, ...at });
    expect(deep.at(n)).toEqual({ level: 30, ...at });
    expect(rings.at(rings.numberOf(at))).toEqual(at);
  }
  expect(deep.numberOf({ level: 30, column: 2 ** 30 - 1, row: 2 ** 30 - 1 })).toBe((4n ** 31n - 1n) / 3n - 1n);
});
