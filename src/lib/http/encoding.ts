/** Encodes a text in a path or a query: everything but letters, digits and `-._~` (RFC 3986, 2.3). */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Encodes a path, except for its slashes. */
export const encodedPath = (path: string): string => path.split("/").map(encoded).join("/");

/** Returns a query with its values sorted by name, including the question mark; "" without values. */
export function encodedQuery(query: Readonly<Record<string, string>>): string {
  const values = Object.keys(query)
    .sort()
    .map((name) => `${encoded(name)}=${encoded(query[name] ?? "")}`);
  return values.length === 0 ? "" : `?${values.join("&")}`;
}
