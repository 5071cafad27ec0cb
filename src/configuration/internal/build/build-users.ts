import { hashOfPlain, isPasswordHash } from "../../../account/password.ts";
import { asPasswordHash, isUserName, type KeptUser, type User, type UserPlace } from "../../../account/user.ts";
import { readSmallFile } from "../../../lib/file/small-file.ts";
import type { Problems } from "../read/problems.ts";
import type { Document } from "../read/read-document.ts";
import type { Variables } from "../read/variables.ts";

/**
 * Returns the users of the htpasswd file, of the configuration and of the variables. A later user replaces an earlier
 * one of the same name. With `textOnly` reads no file and hashes no password.
 */
export async function buildUsers(
  { users, htpasswd }: Pick<Document, "users" | "htpasswd">,
  {
    env,
    file,
    textOnly,
    more = [],
  }: {
    readonly env: Variables;
    /** The configuration file, as an absolute path. */
    readonly file?: string | undefined;
    readonly textOnly?: true;
    /** Users of other files. Users of the htpasswd file, the configuration and the variables replace them. */
    readonly more?: readonly KeptUser[];
  },
  problems: Problems,
  warnings: string[],
): Promise<readonly KeptUser[]> {
  const administrator = await administratorOf(env, problems);
  const built = new Map<string, KeptUser>();
  if (textOnly && htpasswd !== undefined) problems.skip(["htpasswd", "file"]);
  for (const user of [
    ...more,
    ...(htpasswd === undefined || textOnly ? [] : readHtpasswd(htpasswd, problems, warnings)),
    ...(
      await configuredUsers(
        users,
        administrator?.name,
        problems,
        textOnly ? async () => asPasswordHash("") : hashOfPlain,
      )
    ).map((user): KeptUser => ({ ...user, keptIn: { kind: "configuration", file: file ?? null } })),
    ...(administrator === undefined ? [] : [administrator]),
  ])
    built.set(user.name, user);
  if (htpasswd !== undefined && built.size === 0 && !problems.within(["htpasswd"]))
    problems.add(["htpasswd", "file"], `${htpasswd.file} has no user: any client could manage this server`);
  return [...built.values()];
}

/** Hashes plain passwords. The administrator of the variables replaces the user named `replaced`. */
async function configuredUsers(
  documents: Document["users"],
  replaced: string | undefined,
  problems: Problems,
  hash: typeof hashOfPlain,
): Promise<readonly User[]> {
  const users: User[] = [];
  for (const [i, document] of documents.entries()) {
    if (document === undefined) continue;
    const { name, password, roles } = document;
    const isUnfit = ["password", "passwordHash"].some((key) => problems.within(["users", i, key]));
    if ((password === undefined) === (document.passwordHash === undefined) && !isUnfit)
      problems.add(["users", i], "expected either passwordHash (`nuthatch user hash` makes one) or password");
    if (users.some((user) => user.name === name))
      problems.add(["users", i, "name"], `two users are called ${JSON.stringify(name)}`);
    if (document.passwordHash !== undefined && !isPasswordHash(document.passwordHash)) {
      const sentence = `${name} cannot log in, the passwordHash is none that \`nuthatch user hash\` makes`;
      // If no administrator has a valid hash, no account can manage the server.
      if (roles.includes("admin") && name !== replaced) problems.add(["users", i, "passwordHash"], sentence);
      else problems.warn(["users", i], sentence);
    }
    if (password !== undefined)
      problems.warn(["users", i], `the password of ${name} is not hashed in the file; \`nuthatch user hash\` does it`);
    const passwordHash =
      document.passwordHash === undefined
        ? await hash({ name, password: password ?? "" })
        : asPasswordHash(document.passwordHash);
    users.push({ name, passwordHash, roles });
  }
  return users;
}

const MOST_HTPASSWD_BYTES = 4 * 2 ** 20;

/** Reads a htpasswd file (`htpasswd -B`). A user whose hash is not bcrypt causes a warning and cannot log in. */
function readHtpasswd(
  { file, roles }: NonNullable<Document["htpasswd"]>,
  problems: Problems,
  warnings: string[],
): readonly KeptUser[] {
  const path = problems.fileAt(["htpasswd", "file"], file);
  const keptIn: UserPlace = { kind: "htpasswd", file: path };
  const read = readSmallFile(path, MOST_HTPASSWD_BYTES);
  if (!read.ok) problems.add(["htpasswd", "file"], `${JSON.stringify(file)} ${read.error}`);
  const text = read.ok ? read.value : "";
  const users: KeptUser[] = [];
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    const passwordHash = asPasswordHash(line.slice(colon + 1).trim());
    const isNamed = isUserName(name);
    if (!isNamed || !isPasswordHash(passwordHash))
      warnings.push(`${file}:${i + 1}: this user cannot log in, only bcrypt hashes are read (htpasswd -B)`);
    if (isNamed) users.push({ name, passwordHash, roles, keptIn });
  }
  return users;
}

/**
 * Returns the administrator of the variables NUTHATCH_ADMIN_USER and NUTHATCH_ADMIN_PASSWORD. Undefined without a
 * password.
 */
async function administratorOf(env: Variables, problems: Problems): Promise<KeptUser | undefined> {
  const password = env["NUTHATCH_ADMIN_PASSWORD"];
  if (password === undefined || password === "") return undefined;
  const name = env["NUTHATCH_ADMIN_USER"] || "admin";
  if (!isUserName(name)) problems.add([], "NUTHATCH_ADMIN_USER: expected a name without a colon");
  const keptIn: UserPlace = { kind: "environment", file: null };
  return { name, passwordHash: await hashOfPlain({ name, password }), roles: ["admin"], keptIn };
}
