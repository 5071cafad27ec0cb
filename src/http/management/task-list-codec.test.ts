import fc from "fast-check";
import { expect, test } from "vitest";
import type { TaskRow } from "../../plan/job/job-request.ts";
import { encodeTaskListJson, encodeTaskListXml } from "./task-list-codec.ts";

const row = (fields: Partial<TaskRow>): TaskRow => ({
  processed: 0n,
  total: 85n,
  remainingSeconds: -1,
  id: 1,
  status: 0,
  layer: "a",
  type: "seed",
  ...fields,
});

test("an idle list is exactly the contract's", () => {
  expect(encodeTaskListJson([])).toBe('{"long-array-array":[]}');
  expect(encodeTaskListXml([])).toBe("<long-array-array/>");
});

test("rows are five integers, without blanks, exact beyond 2^53", () => {
  const rows = [
    row({ processed: 17888n, total: 44739250n, remainingSeconds: 18319, id: 1, status: 1 }),
    row({ total: 9223372036854775807n, remainingSeconds: 1e21, id: 2 }),
  ];
  expect(encodeTaskListJson(rows)).toBe(
    '{"long-array-array":[[17888,44739250,18319,1,1],[0,9223372036854775807,1000000000000000000000,2,0]]}',
  );
  expect(encodeTaskListXml(rows.slice(0, 1))).toBe(
    "<long-array-array><long-array><long>17888</long><long>44739250</long><long>18319</long><long>1</long><long>1</long></long-array></long-array-array>",
  );
});

test("seconds are whole, and -1 when they are no number", () => {
  const of = (remainingSeconds: number): string => encodeTaskListJson([row({ remainingSeconds })]);
  expect(of(1.9)).toContain("[0,85,1,1,0]");
  expect(of(Number.POSITIVE_INFINITY)).toContain("[0,85,-1,1,0]");
  expect(of(Number.NaN)).toContain("[0,85,-1,1,0]");
});

test("both forms say the same of every row", () => {
  const rows = fc.array(
    fc.record({
      processed: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      total: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      remainingSeconds: fc.integer({ min: -1 }),
      id: fc.nat(),
      status: fc.constantFrom(0 as const, 1 as const),
    }),
  );
  fc.assert(
    fc.property(rows, (fields) => {
      const all = fields.map(row);
      const flat = fields.flatMap((f) => [f.processed, f.total, f.remainingSeconds, f.id, f.status].map(String));
      expect(encodeTaskListJson(all).match(/-?\d+/g) ?? []).toEqual(flat);
      expect(encodeTaskListXml(all).match(/-?\d+/g) ?? []).toEqual(flat);
    }),
  );
});
