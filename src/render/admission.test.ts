import { expect, test } from "vitest";
import { Allowance, type StoredSize } from "./admission.ts";

const one = (bytes: number): StoredSize => ({ bytes, files: 1 });

test("space that was reserved before is used without a request, and the rest is requested", async () => {
  const requested: unknown[] = [];
  const allowance = new Allowance({ id: 7, bytes: 100, files: 2 }, async (...more) => {
    requested.push(more);
    return true;
  });
  const unused = (): never => {
    throw new Error("looked at the store");
  };
  expect(await allowance.take(one(60), unused)).toBe(true);
  expect(requested).toEqual([]);
  // 40 are left, and 10 of the 70 replace others.
  expect(await allowance.take(one(70), () => one(60))).toBe(true);
  expect(await allowance.take(one(5), () => one(5))).toBe(true);
  expect(requested).toEqual([
    [7, { bytes: 20, files: 0 }],
    [7, { bytes: 5, files: 1 }],
  ]);
});

test("without a reservation nothing is stored but what adds nothing", async () => {
  const allowance = new Allowance(undefined, async () => true);
  expect(await allowance.take({ bytes: 0, files: 0 }, () => ({ bytes: 0, files: 0 }))).toBe(true);
  expect(await allowance.take(one(1), () => one(1))).toBe(false);
});
