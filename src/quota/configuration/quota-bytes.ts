import type { Quota, StorageUnit } from "./quota-configuration.ts";

const BYTES: Readonly<Record<StorageUnit, bigint>> = {
  B: 1n,
  KiB: 1n << 10n,
  MiB: 1n << 20n,
  GiB: 1n << 30n,
  TiB: 1n << 40n,
};

/** The maximum of a quota in bytes: 2^63 - 1 (`docs/reference/wire-format.md`, Bodies). */
export const MAX_QUOTA_BYTES = (1n << 63n) - 1n;

/** Returns a quota in whole bytes, rounded down, exactly. The value is a plain decimal (`parseQuotaValue`). */
export function quotaBytes(quota: Quota): bigint {
  const [whole = "", fraction = ""] = quota.value.split(".");
  return (BigInt(`0${whole}${fraction}`) * BYTES[quota.units]) / 10n ** BigInt(fraction.length);
}
