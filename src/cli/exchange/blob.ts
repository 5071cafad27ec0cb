/** Returns the bytes of a blob that libsql has read. It returns a Buffer for one row and an ArrayBuffer in lists. */
export function blobOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}
