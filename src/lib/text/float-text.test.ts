import fc from "fast-check";
import { expect, test } from "vitest";
import { floatText } from "./float-text.ts";

test.each([
  [0, "0.0"],
  [-0, "0.0"],
  [0.3, "0.3"],
  [0.30000001, "0.3"],
  [10, "10.0"],
  [-2.5, "-2.5"],
  [123456.789, "123456.79"],
  [0.001, "0.001"],
  [0.0001, "1.0E-4"],
  [9999999, "9999999.0"],
  [1e7, "1.0E7"],
  [16777217, "1.6777216E7"],
  // The smallest and the largest number of single precision, from Java's documentation.
  [1.4e-45, "1.4E-45"],
  [3.4028234663852886e38, "3.4028235E38"],
])("%d is written as Java does: %s", (value, text) => {
  expect(floatText(value)).toBe(text);
});

test("a text is read back as the same single precision number, and written again as the same text", () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = floatText(value);
      expect(text).toMatch(/^-?\d+\.\d+(E-?\d+)?$/);
      expect(Math.fround(Number(text))).toBe(value + 0);
      expect(floatText(Number(text))).toBe(text);
    }),
  );
});
