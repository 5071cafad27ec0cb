/**
 * An address with parameters set. Keys that it already has under the same name are replaced, whatever their case: OGC
 * services read them so (OGC 06-042, 6.8.1).
 */
export function withQuery(address: URL | string, wanted: Readonly<Record<string, string>>): URL {
  const url = new URL(address);
  const names = new Set(Object.keys(wanted).map((key) => key.toUpperCase()));
  // Untouched where nothing is set: writing a query again changes its escapes.
  for (const key of [...url.searchParams.keys()]) if (names.has(key.toUpperCase())) url.searchParams.delete(key);
  for (const [key, value] of Object.entries(wanted)) url.searchParams.set(key, value);
  return url;
}

/** The values of a layer's parameter filters that are set, by key. */
export const setParameters = (parameters: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ""));

/** A number without an exponent, which few servers read. */
export const decimal = (value: number): string => {
  const text = String(value);
  return /e/i.test(text) ? value.toFixed(20).replace(/0+$/, "").replace(/\.$/, "") : text;
};
