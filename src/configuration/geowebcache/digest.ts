import { createHash } from "node:crypto";

/** Returns the hash of a file, by which an edit of the file is recognised. */
export const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
