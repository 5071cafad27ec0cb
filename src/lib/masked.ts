/** Stands for a secret wherever one is shown. */
export const MASKED = "***";

/** Returns an address with the values of its query masked: one of them may be a key. */
export function withMaskedQuery(address: string): string {
  const at = address.indexOf("?");
  if (at < 0) return address;
  const masked = address
    .slice(at + 1)
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=");
      return equals < 0 || equals === pair.length - 1 ? pair : `${pair.slice(0, equals + 1)}${MASKED}`;
    });
  return `${address.slice(0, at + 1)}${masked.join("&")}`;
}
