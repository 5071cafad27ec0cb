import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_QUOTA_BYTES, quotaBytes } from "./quota-bytes.ts";
import { DEFAULT_QUOTA } from "./quota-configuration.ts";
import { checkQuotaConfiguration, parseQuotaValue } from "./quota-validation.ts";

test("bytes are exact, a fraction of a byte is cut off", () => {
  expect(quotaBytes({ value: "500", units: "MiB" })).toBe(524288000n);
  expect(quotaBytes({ value: "1.7", units: "B" })).toBe(1n);
  expect(quotaBytes({ value: "1.1", units: "KiB" })).toBe(1126n);
  expect(quotaBytes({ value: "0", units: "TiB" })).toBe(0n);
  expect(quotaBytes({ value: "9223372036854775807", units: "B" })).toBe(MAX_QUOTA_BYTES);
});

test("an exponent is written out to the same number", () => {
  const digits = fc.stringMatching(/^[0-9]{1,12}(\.[0-9]{0,8})?$/);
  fc.assert(
    fc.property(digits, fc.integer({ min: -20, max: 20 }), (given, exponent) => {
      const value = parseQuotaValue(`${given}e${exponent}`) ?? "none";
      expect(value).toMatch(/^\d+(\.\d+)?$/);
      // Both sides times 10^30, as whole numbers.
      const scaled = (text: string, power: number): bigint => {
        const [whole = "", fraction = ""] = text.split(".");
        return BigInt(`${whole}${fraction}`) * 10n ** BigInt(power - fraction.length);
      };
      expect(scaled(value, 30)).toBe(scaled(given, 30 + exponent));
    }),
  );
});

test("a value without an exponent stays as it was given", () => {
  for (const value of ["1.50", "010", "0.0", "100"]) expect(parseQuotaValue(value)).toBe(value);
  for (const value of ["", ".", "-1", "1e", "1e1000", "0x1", "1_0", `1${"0".repeat(100)}`]) {
    expect(parseQuotaValue(value)).toBeUndefined();
  }
});

test("value and units are checked together against the limit", () => {
  expect(checkQuotaConfiguration(DEFAULT_QUOTA)).toBeUndefined();
  const tooLarge = { ...DEFAULT_QUOTA, globalQuota: { value: "8388608", units: "TiB" as const } };
  expect(checkQuotaConfiguration(tooLarge)?.message).toBe(
    "globalQuota: expected at most 9223372036854775807 bytes (2^63 - 1), got 8388608 TiB",
  );
});
