import { codeOf } from "../../lib/error-code.ts";
import { StoreError } from "../blob-store.ts";

export const isAbsent = (error: unknown): boolean => codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";

/** Says in the store's words what failed. */
export function storeError(error: unknown, what: string): StoreError {
  const code = codeOf(error);
  const kind =
    code === "ENOSPC" || code === "EDQUOT"
      ? "full"
      : code === "EROFS" || code === "EACCES" || code === "EPERM"
        ? "read_only"
        : "unavailable";
  return new StoreError(kind, `${what}: ${code === "" ? String(error) : code}`, error);
}
