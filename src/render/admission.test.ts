import { expect, test } from "vitest";
import { Allowance, NO_SIZE, type StoredSize } from "./admission.ts";

const one = (bytes: number): StoredSize => ({ bytes, allocated: 2 * bytes, files: 1 });

test("space that was reserved before is used without a request, and the rest is requested", async () => {
  const requested: unknown[] = [];
  const allowance = new Allowance({ id: 7, bytes: 100, allocated: 200, files: 2 }, async (...more) => {
    requested.push(more);
    return true;
  });
  const unused = (): never => {
    throw new Error("looked at the store");
  };
  expect(await allowance.take(one(60), unused)).toBe(true);
  expect(requested).toEqual([]);
  // 40 are left, and 10 of the 70 replace stored bytes.
  expect(await allowance.take(one(70), () => one(60))).toBe(true);
  expect(await allowance.take(one(5), () => one(5))).toBe(true);
  expect(requested).toEqual([
    [7, { bytes: 20, allocated: 40, files: 0 }],
    [7, { bytes: 5, allocated: 10, files: 1 }],
  ]);
});

test("a tile that needs more of the disk than was reserved is asked for, though its bytes were reserved", async () => {
  const requested: unknown[] = [];
  const allowance = new Allowance({ id: 7, bytes: 10_000, allocated: 4096, files: 2 }, async (...more) => {
    requested.push(more);
    return true;
  });
  const size = { bytes: 5000, allocated: 8192, files: 1 };
  expect(await allowance.take(size, () => size)).toBe(true);
  expect(requested).toEqual([[7, { bytes: 0, allocated: 4096, files: 0 }]]);
});

test("without a reservation nothing is stored but what adds nothing", async () => {
  const allowance = new Allowance(undefined, async () => true);
  expect(await allowance.take(NO_SIZE, () => NO_SIZE)).toBe(true);
  expect(await allowance.take(one(1), () => one(1))).toBe(false);
});
