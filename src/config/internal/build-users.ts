import { hashPassword, isPasswordHash } from "../../http/auth/password.ts";
import type { Role, User } from "../../http/options.ts";
import type { Variables } from "./configuration-file.ts";
import type { Path, Problems } from "./problems.ts";
import { isUserName, type UserDocument } from "./schema/server-schema.ts";

/** Builds the configured users. Hashes plain passwords. */
export async function buildUsers(
  documents: readonly (UserDocument | undefined)[],
  at: Path,
  problems: Problems,
  warnings: string[],
): Promise<readonly User[]> {
  const users = new Map<string, User>();
  for (const [i, document] of documents.entries()) {
    if (document === undefined) continue;
    const path = [...at, i];
    const { name, password, roles } = document;
    if (users.has(name)) problems.add([...path, "name"], `two users are called ${JSON.stringify(name)}`);
    if (document.passwordHash !== undefined && !isPasswordHash(document.passwordHash))
      warnings.push(`users[${i}]: ${name} cannot log in, the passwordHash is none that \`nuthatch user hash\` makes`);
    if (password !== undefined)
      warnings.push(`users[${i}]: the password of ${name} is not hashed in the file; \`nuthatch user hash\` does it`);
    const passwordHash = document.passwordHash ?? (await hashPassword(password ?? ""));
    users.set(name, { name, passwordHash, roles });
  }
  return [...users.values()];
}

/** Parses a htpasswd file (`htpasswd -B`). A user whose hash is not bcrypt causes a warning and cannot log in. */
export function parseHtpasswd(text: string, roles: readonly Role[], file: string, warnings: string[]): readonly User[] {
  const users = new Map<string, User>();
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    const passwordHash = line.slice(colon + 1).trim();
    const isNamed = name !== "" && isUserName(name);
    if (!isNamed || !isPasswordHash(passwordHash))
      warnings.push(`${file}:${i + 1}: this user cannot log in, only bcrypt hashes are read (htpasswd -B)`);
    if (isNamed) users.set(name, { name, passwordHash, roles });
  }
  return [...users.values()];
}

/**
 * Returns the administrator of the variables NUTHATCH_ADMIN_USER and NUTHATCH_ADMIN_PASSWORD; undefined if there is no
 * password.
 */
export async function administratorOf(env: Variables, problems: Problems): Promise<User | undefined> {
  const password = env["NUTHATCH_ADMIN_PASSWORD"];
  if (password === undefined || password === "") return undefined;
  const given = env["NUTHATCH_ADMIN_USER"];
  const name = given === undefined || given === "" ? "admin" : given;
  if (!isUserName(name)) problems.add([], "NUTHATCH_ADMIN_USER: expected a name without a colon");
  return { name, passwordHash: await hashPassword(password), roles: ["admin"] };
}
