import type { TaskRow } from "../../plan/job/job-request.ts";

/**
 * Returns the five integers of a row (`docs/reference/wire-format.md`, Task list). As bigints they keep all digits, and
 * are never written with an exponent.
 */
const numbersOf = (row: TaskRow): readonly bigint[] => [
  row.processed,
  row.total,
  Number.isFinite(row.remainingSeconds) ? BigInt(Math.trunc(row.remainingSeconds)) : -1n,
  BigInt(row.id),
  BigInt(row.status),
];

/**
 * Encodes the task list (`docs/reference/wire-format.md`, Task list) as compact JSON. An empty list is exactly
 * `{"long-array-array":[]}`.
 */
export const encodeTaskListJson = (rows: readonly TaskRow[]): string =>
  `{"long-array-array":[${rows.map((row) => `[${numbersOf(row).join(",")}]`).join(",")}]}`;

/** Encodes the task list as XML (`docs/reference/wire-format.md`, Task list). */
export function encodeTaskListXml(rows: readonly TaskRow[]): string {
  if (rows.length === 0) return "<long-array-array/>";
  const arrays = rows.map((row) => {
    const longs = numbersOf(row).map((n) => `<long>${n}</long>`);
    return `<long-array>${longs.join("")}</long-array>`;
  });
  return `<long-array-array>${arrays.join("")}</long-array-array>`;
}
