import { expect, test } from "vitest";
import { atEveryZoom, type ByZoom, valueAt } from "./by-zoom.ts";

test("the last rule that begins at a level or before holds there", () => {
  const rules: ByZoom<string> = [
    { minZoom: 0, value: "far" },
    { minZoom: 5, value: "near" },
    { minZoom: 12, value: "street" },
  ];
  const at = (z: number) => valueAt(rules, z);
  expect([0, 4, 5, 11, 12, 30].map(at)).toEqual(["far", "far", "near", "near", "street", "street"]);
  expect(valueAt(atEveryZoom(7), 19)).toBe(7);
});
