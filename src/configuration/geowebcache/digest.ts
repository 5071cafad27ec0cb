import { createHash } from "node:crypto";

/** Returns the hash by which a file that was edited is recognised. */
export const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
