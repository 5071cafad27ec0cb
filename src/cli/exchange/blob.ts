/** Returns the bytes of a blob that was read by libsql, which returns a Buffer for one row and an ArrayBuffer in lists. */
export function blobOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}
