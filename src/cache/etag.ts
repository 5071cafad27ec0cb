import { createHash } from "node:crypto";

/** A strong tag, quoted, made of the bytes: equal ones have equal tags (RFC 9110, 8.8.3). */
export const etagOf = (bytes: Uint8Array): string => `"${createHash("sha1").update(bytes).digest("base64url")}"`;
