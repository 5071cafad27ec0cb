import { codeOf } from "../../lib/error-code.ts";
import { StoreError } from "../tile-store.ts";

export const isAbsent = (error: unknown): boolean => codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";

/** Returns a StoreError that names the failed operation. */
export function storeError(error: unknown, what: string): StoreError {
  const code = codeOf(error);
  return new StoreError(KINDS[code] ?? "unavailable", `${what}: ${code === "" ? String(error) : code}`, error);
}

/** The error codes of the system by kind. Other codes become `unavailable`, because the fault may pass. */
const KINDS: Readonly<Record<string, StoreError["code"]>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EROFS: "read_only",
  EACCES: "read_only",
  EPERM: "read_only",
  // A directory in place of a tile, or a file in place of a bucket. Other tiles can still be stored.
  EISDIR: "corrupt",
  ENOTEMPTY: "corrupt",
  ENOTDIR: "corrupt",
  EEXIST: "corrupt",
};
