import { createHash } from "node:crypto";

/** Returns the strong entity tag of a content (RFC 9110, 8.8.3), including the quotes. */
export const contentEtag = (content: string | Uint8Array): string =>
  `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
