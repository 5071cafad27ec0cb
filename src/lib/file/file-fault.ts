import { userInfo } from "node:os";
import { codeOf, errorMessage } from "../error-code.ts";

/**
 * Returns why a file or directory cannot be used, as the end of a sentence that begins with the path. For an error that
 * does not come from the file system, returns the message of the error.
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

/** Returns the path that an error of the file system names. Undefined for any other error. */
export const pathOf = (error: unknown): string | undefined =>
  error instanceof Error && "path" in error && typeof error.path === "string" ? error.path : undefined;

/** Returns the name of the account that runs this process. In a container an account may have only a number. */
export function account(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "of this process");
  }
}
