import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileFault } from "../../lib/file/file-fault.ts";
import { CLIENT_VARIABLES } from "../../lib/process/client-variables.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { findInNetrc } from "./netrc.ts";

export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** The source of the password: the variable, or the netrc file and its line. */
  readonly from: string;
}

/** The user name for a password that is given without one. */
const USUAL_NAME = "admin";
const READABLE_BY_OTHERS = 0o044;

/**
 * Returns the user and password for a server: from the environment, else from the user's netrc file. Returns undefined
 * if neither has a password and no user was named. Requests then carry no credentials.
 * @throws CommandFailure for a name without a password, and for a netrc file that cannot be read or parsed
 */
export function findCredentials(server: URL, user: string | undefined): Credentials | undefined {
  const name = user ?? (process.env[CLIENT_VARIABLES.user] || undefined);
  const password = process.env[CLIENT_VARIABLES.password];
  if (password !== undefined) return { name: name ?? USUAL_NAME, password, from: "NUTHATCH_PASSWORD" };
  const found = findInFile(server, name);
  if (found === undefined && name !== undefined)
    throw new CommandFailure(
      `the password of ${name} is expected in NUTHATCH_PASSWORD, or for ${server.hostname} in a netrc file`,
      EXIT.usage,
    );
  return found;
}

function findInFile({ hostname }: URL, name: string | undefined): Credentials | undefined {
  const file = netrcFile();
  const text = file && readNetrc(file);
  if (file === undefined || text === undefined) return undefined;
  // Netrc files have IPv6 addresses without brackets, as curl expects them.
  const found = findInNetrc(text, hostname.replace(/^\[(.*)\]$/, "$1"), name);
  if (!found.ok)
    throw new CommandFailure(`${file.path}:${found.error.line}: ${found.error.message}`, EXIT.configuration);
  if (found.value === undefined) return undefined;
  const { login, password, line } = found.value;
  return { name: name ?? login ?? USUAL_NAME, password, from: `${file.path}:${line}` };
}

interface NetrcFile {
  readonly path: string;
  /** Whether NETRC names the file. A named file must exist. */
  readonly isNamed: boolean;
}

function netrcFile(): NetrcFile | undefined {
  const path = process.env["NETRC"];
  if (path !== undefined && path !== "") return { path, isNamed: true };
  try {
    return { path: join(homedir(), ".netrc"), isNamed: false };
  } catch {
    // `homedir()` throws for an account without a home directory.
    return undefined;
  }
}

function readNetrc({ path, isNamed }: NetrcFile): string | undefined {
  let failure: unknown;
  try {
    const text = readFileSync(path, "utf8");
    // On Windows the mode does not say who can read a file.
    if (process.platform !== "win32" && (statSync(path).mode & READABLE_BY_OTHERS) !== 0)
      process.stderr.write(`warning: others can read ${path}, which holds passwords: chmod 600 ${path}\n`);
    return text;
  } catch (error) {
    failure = error;
  }
  const code = failure instanceof Error && "code" in failure ? failure.code : undefined;
  if (!isNamed && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
  throw new CommandFailure(`${path} cannot be read: ${fileFault(failure)}`, EXIT.configuration);
}
