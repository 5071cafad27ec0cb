import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import { account, fileFault } from "../../lib/file/file-fault.ts";
import { CommandFailure, EXIT } from "../exit.ts";

/** @throws CommandFailure that names the directory if a file cannot be written there */
export function requireDirectoryOf(file: string): void {
  const directory = dirname(resolve(file));
  const fault = directoryFault(directory);
  if (fault !== undefined) throw new CommandFailure(`${file} cannot be written: ${directory}: ${fault}`, EXIT.failure);
}

function directoryFault(directory: string): string | undefined {
  try {
    if (!statSync(directory).isDirectory()) return "expected a directory, and this is a file";
    accessSync(directory, constants.W_OK);
    return undefined;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "there is no such directory";
    return codeOf(error) === "EACCES" ? `the account ${account()} may not write there` : fileFault(error);
  }
}
