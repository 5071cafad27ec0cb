import { codeOf } from "../../lib/error-code.ts";
import { StoreError } from "../tile-store.ts";

export const isAbsent = (error: unknown): boolean => codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";

/** Returns a StoreError that names what failed. */
export function storeError(error: unknown, what: string): StoreError {
  const code = codeOf(error);
  return new StoreError(KINDS[code] ?? "unavailable", `${what}: ${code === "" ? String(error) : code}`, error);
}

/** Codes of the system by kind. Other codes may pass by themselves, and become `unavailable`. */
const KINDS: Readonly<Record<string, StoreError["code"]>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EROFS: "read_only",
  EACCES: "read_only",
  EPERM: "read_only",
  // A directory in the place of a tile, or a file in that of a bucket: other tiles can be stored.
  EISDIR: "corrupt",
  ENOTEMPTY: "corrupt",
  ENOTDIR: "corrupt",
  EEXIST: "corrupt",
};
