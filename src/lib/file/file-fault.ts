import { userInfo } from "node:os";
import { codeOf, errorMessage } from "../error-code.ts";

/**
 * Returns what is wrong with a file or directory that could not be used, as the end of a sentence that begins with its
 * path. Returns the error's own message if the error is none of the file system.
 */
export function fileFault(error: unknown): string {
  switch (codeOf(error)) {
    case "ENOENT":
      return "there is no such file or directory";
    case "EEXIST":
      return "there is a file or directory of this name already";
    case "EISDIR":
      return "expected a file, and this is a directory";
    case "ENOTDIR":
      return "expected a directory, and a part of this path is a file";
    case "EACCES":
    case "EPERM":
      return `the account ${account()} has no permission to use it`;
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
      return "the disk is full";
    default:
      return errorMessage(error);
  }
}

/** Returns the path that an error of the file system names; undefined for any other error. */
export const pathOf = (error: unknown): string | undefined =>
  error instanceof Error && "path" in error && typeof error.path === "string" ? error.path : undefined;

/** Returns the name of the account of this process. In a container an account may have a number only. */
export function account(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "of this process");
  }
}
