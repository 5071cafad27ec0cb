import { trimEndOf } from "../../lib/trim-end.ts";

/**
 * An address with parameters set, later ones in place of earlier ones and of its own of the same name, whatever the case:
 * OGC services read them so (OGC 06-042, 6.8.1). Untouched where nothing is set, as writing a query anew changes its escapes.
 */
export function withQuery(address: URL | string, ...wanted: readonly Readonly<Record<string, string>>[]): URL {
  const url = new URL(address);
  for (const parameters of wanted) {
    const names = new Set(Object.keys(parameters).map((key) => key.toUpperCase()));
    for (const key of [...url.searchParams.keys()]) if (names.has(key.toUpperCase())) url.searchParams.delete(key);
    for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
  }
  return url;
}

/** The values of a layer's parameter filters that are set, by key. */
export const setParameters = (parameters: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ""));

/** A number without an exponent, which few servers read. */
export const decimal = (value: number): string => {
  const text = String(value);
  return /e/i.test(text) ? trimEndOf(trimEndOf(value.toFixed(20), "0"), ".") : text;
};
