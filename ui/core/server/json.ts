/** A count or an id of 64 bits. It is a bigint if a number would not be exact. `Intl.NumberFormat` accepts both. */
export type Count = number | bigint;

/** The type of a server's value in its JSON: a bigint arrives as `Count`. */
export type Wire<T> = T extends bigint ? Count : T extends object ? { readonly [K in keyof T]: Wire<T[K]> } : T;

interface Source {
  readonly source?: string;
}

/** Parses JSON. Whole numbers beyond 2^53 become bigints, if the browser passes the source text to revivers. */
export function parseJson<T>(text: string): T {
  // The reviver is slow for large documents, and long numbers are rare.
  return /\d{16}/.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
}

const exact = (_key: string, value: unknown, { source }: Source = {}): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? BigInt(source)
    : value;

/** Returns the JSON text of a value; bigints are written as exact integers. */
export function jsonText(value: unknown, indent?: number): string {
  const quoted = JSON.stringify(value, (_key, v) => (typeof v === "bigint" ? `@bigint:${v}` : v), indent);
  return quoted.replace(/"@bigint:(-?\d+)"/g, "$1");
}

export const add = (a: Count, b: Count): Count => toCount(BigInt(a) + BigInt(b));

/** Returns `part` of `whole` as a number from 0 to 1. 1 if `whole` is 0. */
export const share = (part: Count, whole: Count): number =>
  Number(whole) === 0 ? 1 : Math.min(1, Number(part) / Number(whole));

const toCount = (value: bigint): Count =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER) ? Number(value) : value;

/** Returns whether a value is a JSON object. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
