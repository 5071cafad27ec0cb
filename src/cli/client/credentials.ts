import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CommandFailure, EXIT } from "../exit.ts";
import { findInNetrc } from "./netrc.ts";

export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** Where they were found. */
  readonly from: string;
}

/** Whom a server takes a password without a name for. */
const USUAL_NAME = "admin";
const READABLE_BY_OTHERS = 0o044;

/**
 * As whom a server is asked: by the environment, else by the user's netrc file. Undefined: as nobody.
 * @throws CommandFailure for a name without a password, and for a netrc file that cannot be read or is none
 */
export function findCredentials(server: URL, user: string | undefined): Credentials | undefined {
  const name = user ?? (process.env["NUTHATCH_USER"] || undefined);
  const password = process.env["NUTHATCH_PASSWORD"];
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
  // As curl has it: without the brackets of an IPv6 address.
  const found = findInNetrc(text, hostname.replace(/^\[(.*)\]$/, "$1"), name);
  if (!found.ok)
    throw new CommandFailure(`${file.path}:${found.error.line}: ${found.error.message}`, EXIT.configuration);
  if (found.value === undefined) return undefined;
  const { login, password, line } = found.value;
  return { name: name ?? login ?? USUAL_NAME, password, from: `${file.path}:${line}` };
}

interface NetrcFile {
  readonly path: string;
  /** One that is named must be there. */
  readonly isNamed: boolean;
}

function netrcFile(): NetrcFile | undefined {
  const path = process.env["NETRC"];
  if (path !== undefined && path !== "") return { path, isNamed: true };
  try {
    return { path: join(homedir(), ".netrc"), isNamed: false };
  } catch {
    // An account without a home.
    return undefined;
  }
}

function readNetrc({ path, isNamed }: NetrcFile): string | undefined {
  let failure: unknown;
  try {
    const text = readFileSync(path, "utf8");
    // Windows tells no modes.
    if (process.platform !== "win32" && (statSync(path).mode & READABLE_BY_OTHERS) !== 0)
      process.stderr.write(`warning: others can read ${path}, which holds passwords: chmod 600 ${path}\n`);
    return text;
  } catch (error) {
    failure = error;
  }
  const code = failure instanceof Error && "code" in failure ? failure.code : undefined;
  if (!isNamed && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
  const why = failure instanceof Error ? failure.message : String(failure);
  throw new CommandFailure(`${path} cannot be read: ${why}`, EXIT.configuration);
}
