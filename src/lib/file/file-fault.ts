import { userInfo } from "node:os";
import { codeOf, errorMessage } from "../error-code.ts";

/** The codes of SQLite, each with its extended codes such as `SQLITE_IOERR_WRITE`, and the words for them. */
const SQLITE_FAULTS: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_FULL/, "the disk is full"],
  [/^SQLITE_NOTADB/, "it is no database"],
  [/^SQLITE_CORRUPT/, "its database is damaged"],
  [/^SQLITE_CANTOPEN/, "it cannot be opened"],
  [/^SQLITE_IOERR/, "the disk failed to read or write it"],
  [/^SQLITE_(?:READONLY|PERM|AUTH)/, "it cannot be written"],
  [/^SQLITE_(?:BUSY|LOCKED)/, "another program is using it"],
  [/^SQLITE_/, "it does not have the expected tables"],
];

/**
 * Returns why a file or directory cannot be used, as the end of a sentence that begins with the path. For an error that
 * comes neither from the file system nor from SQLite, returns the message of the error.
 */
export function fileFault(error: unknown): string {
  const code = codeOf(error);
  const [, sqliteFault] = SQLITE_FAULTS.find(([pattern]) => pattern.test(code)) ?? [];
  if (sqliteFault !== undefined) return sqliteFault;
  switch (code) {
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
