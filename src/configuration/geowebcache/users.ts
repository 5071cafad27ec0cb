import { join } from "node:path";
import { hashOfPlain, isPasswordHash } from "../../account/password.ts";
import { isUserName, type KeptUser, type PasswordHash, type UserPlace } from "../../account/user.ts";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { readWholeFile } from "../../lib/file/read-whole-file.ts";
import { DEFAULT_ACCOUNT } from "./default-files.ts";

/** Possible paths of GeoWebCache's file of users, relative to the directory. */
const FILES = ["users.properties", "WEB-INF/users.properties"];
const ADMINISTRATOR = "ROLE_ADMINISTRATOR";

export interface ReadUsers {
  readonly users: readonly KeptUser[];
  /** Whether a user has GeoWebCache's default password. */
  readonly hasDefaultPassword: boolean;
  readonly warnings: readonly string[];
}

/** Reads the users of GeoWebCache's `users.properties`: lines of `name=password,ROLE,…,enabled`. */
export async function readUsers(directory: string): Promise<ReadUsers> {
  for (const name of FILES) {
    const file = join(directory, name);
    try {
      return await usersOf((await readWholeFile(file)).toString(), file);
    } catch (error) {
      if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR")
        return { ...NOBODY, warnings: [`${file} cannot be read: ${fileFault(error)}`] };
    }
  }
  return NOBODY;
}

const NOBODY: ReadUsers = { users: [], warnings: [], hasDefaultPassword: false };

async function usersOf(text: string, file: string): Promise<ReadUsers> {
  const users: KeptUser[] = [];
  const warnings: string[] = [];
  let hasDefaultPassword = false;
  const keptIn: UserPlace = { kind: "configuration", file };
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const at = `${file}:${i + 1}`;
    const end = line.search(/[=:]/);
    const name = line.slice(0, Math.max(0, end)).trim();
    if (name === "" || name.startsWith("#") || name.startsWith("!")) continue;
    const [password = "", ...words] = line
      .slice(end + 1)
      .split(",")
      .map((word) => word.trim());
    if (words.includes("disabled")) continue;
    if (!words.includes(ADMINISTRATOR)) {
      warnings.push(`${at}: ${name} is not taken over: without ${ADMINISTRATOR} GeoWebCache refuses it everything`);
      continue;
    }
    const passwordHash = await hashOf(name, password);
    if (passwordHash === undefined || !isUserName(name))
      warnings.push(`${at}: ${name} cannot log in: plain passwords, {noop} and {bcrypt} are read`);
    else users.push({ name, passwordHash, roles: ["admin"], keptIn });
    hasDefaultPassword ||= password.replace(/^\{noop\}/, "") === DEFAULT_ACCOUNT.password;
  }
  return { users, warnings, hasDefaultPassword };
}

/** Returns the hash of a password in GeoWebCache's file. Undefined if Nuthatch cannot read its form. */
async function hashOf(name: string, password: string): Promise<PasswordHash | undefined> {
  const form = /^\{(\w+)\}(.*)$/.exec(password);
  if (form === null || form[1] === "noop") {
    const plain = form === null ? password : (form[2] ?? "");
    return plain === "" ? undefined : hashOfPlain({ name, password: plain });
  }
  const hash = form[1] === "bcrypt" ? (form[2] ?? "") : "";
  return isPasswordHash(hash) ? hash : undefined;
}
