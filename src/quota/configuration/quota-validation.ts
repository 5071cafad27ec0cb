import type { StatedRefusal } from "../../lib/refusal.ts";
import { MAX_QUOTA_BYTES, quotaBytes } from "./quota-bytes.ts";
import type { CleanUpUnit, ExpirationPolicy, Quota, QuotaConfiguration, StorageUnit } from "./quota-configuration.ts";

export const STORAGE_UNITS: readonly StorageUnit[] = ["B", "KiB", "MiB", "GiB", "TiB"];
export const CLEAN_UP_UNITS: readonly CleanUpUnit[] = ["SECONDS", "MINUTES", "HOURS", "DAYS"];
export const EXPIRATION_POLICIES: readonly ExpirationPolicy[] = ["LRU", "LFU"];

/** Further units of GeoWebCache's `StorageUnit`, which GeoWebCache's file may contain, as powers of 1024 TiB. */
export const LARGE_UNITS: ReadonlyMap<string, number> = new Map([
  ["PiB", 1],
  ["EiB", 2],
  ["ZiB", 3],
  ["YiB", 4],
]);

/** Further units of Java's `TimeUnit`, which GeoWebCache's file may contain: the number of units per second. */
export const SHORT_TIMES: ReadonlyMap<string, number> = new Map([
  ["MILLISECONDS", 1e3],
  ["MICROSECONDS", 1e6],
  ["NANOSECONDS", 1e9],
]);

/** Converts a quota in a unit of GeoWebCache's file to the units of a quota, limited to the largest quota. */
export function quotaFromFile({ value, units }: { readonly value: string; readonly units: string }): Quota {
  const power = LARGE_UNITS.get(units);
  const known = power === undefined ? (STORAGE_UNITS.find((unit) => unit === units) ?? "B") : "TiB";
  const quota: Quota = { value: power === undefined ? value : timesPower(value, power), units: known };
  return quotaBytes(quota) > MAX_QUOTA_BYTES ? { value: String(MAX_QUOTA_BYTES), units: "B" } : quota;
}

/** Multiplies a decimal by a power of 1024, exactly. */
function timesPower(value: string, power: number): string {
  const [whole = "0", fraction = ""] = value.split(".");
  const digits = String(BigInt(whole + fraction) * 1024n ** BigInt(power)).padStart(fraction.length + 1, "0");
  const point = digits.length - fraction.length;
  let end = digits.length;
  while (end > point && digits[end - 1] === "0") end--;
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
}

/** A quota below 2^63 needs fewer digits. Without the limit an exponent could request a gigabyte of zeros. */
const MAX_DIGITS = 100;

export const QUOTA_VALUE_EXPECTED = "a decimal number, 0 or more, of at most 100 digits";

/**
 * Parses a quota's value, a decimal >= 0. Preserves the text, except that an exponent is written out (`1e3` is `1000`,
 * `1.50` stays), a plus sign is removed, and a missing digit beside the point is added (`.5` is `0.5`). Undefined for
 * any other text, or beyond 100 digits.
 */
export function parseQuotaValue(text: string): string | undefined {
  if (text.length > 2 * MAX_DIGITS) return undefined;
  const match = /^\+?(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/.exec(text.trim());
  if (match === null) return undefined;
  const whole = match[1] ?? "0";
  const fraction = match[2] ?? match[3] ?? "";
  const exponent = Number(match[4] ?? "0");
  if (whole.length + fraction.length + Math.abs(exponent) > MAX_DIGITS) return undefined;
  if (exponent === 0) return fraction === "" ? whole : `${whole}.${fraction}`;
  const point = whole.length + exponent;
  const digits = `${"0".repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(point, "0");
  const shifted = digits.slice(0, Math.max(1, point)).replace(/^0+(?=\d)/, "");
  const rest = digits.slice(Math.max(1, point));
  return rest === "" ? shifted : `${shifted}.${rest}`;
}

/** Parses a size such as `20GiB` or `1.5 TiB`. Undefined for any other text. */
export function parseQuotaSize(text: string): Quota | undefined {
  const [, value, unit] = /^(\d{1,50}(?:\.\d{1,50})?) ?([KMGT]iB|B)$/.exec(text.trim()) ?? [];
  const units = STORAGE_UNITS.find((known) => known === unit);
  return value === undefined || units === undefined ? undefined : { value, units };
}

/** Returns why a quota is too large. Undefined if it is not. */
export function checkQuotaSize(field: string, quota: Quota): StatedRefusal | undefined {
  return quotaBytes(quota) <= MAX_QUOTA_BYTES
    ? undefined
    : {
        code: "bad_field",
        message: `${field}: expected at most ${MAX_QUOTA_BYTES} bytes (2^63 - 1), got ${quota.value} ${quota.units}`,
      };
}

/**
 * Checks a configuration after a change was applied. If a change contains only the value or only the units, each may be
 * valid alone while both together pass the limit. Undefined if the configuration is valid.
 */
export const checkQuotaConfiguration = (quota: QuotaConfiguration): StatedRefusal | undefined =>
  checkQuotaSize("globalQuota", quota.globalQuota);
