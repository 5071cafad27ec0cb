import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

test("the nearest name is found, the first of several, in any case", () => {
  expect(nearest("raods", ["rivers", "roads", "Roads"])).toBe("roads");
  expect(nearest("ROADS", ["rivers", "roads"])).toBe("roads");
  expect(nearest("roads", ["a", "buildings"])).toBeUndefined();
  expect(nearest("x".repeat(101), ["x".repeat(101)])).toBeUndefined();
});

test("the cost of a search is bounded, however many and however long the names are", () => {
  let looked = 0;
  function* names(length: number): Generator<string> {
    for (let i = 0; i < 10_000_000; i++) {
      looked++;
      yield `${i}`.padStart(length, "b");
    }
  }
  for (const length of [50, 10_000]) {
    looked = 0;
    expect(nearest("a".repeat(50), names(length))).toBeUndefined();
    expect(looked).toBeLessThan(250_000);
  }
});
