import { chownSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { isUserName, ROLES, type Role } from "../../../account/user.ts";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { addPasswordFlag, hashNewPassword, type PasswordFlags } from "./new-password.ts";
import { userTable } from "./users-command.ts";
import { addUser, DEFAULT_ROLES, hasAdministrator, listUsers, removeUser, userLine } from "./users-file.ts";

interface AddFlags extends PasswordFlags {
  readonly config?: string;
  readonly role?: readonly Role[];
  readonly force?: boolean;
}

/** The mode of a file with password hashes: only its owner may read it. */
const MODE = 0o600;
const FORCE = "--force";

function parseName(name: string): string {
  if (!isUserName(name)) throw new InvalidArgumentError("1 to 100 characters, no colon, no control character.");
  return name;
}

function parseRoles(text: string): readonly Role[] {
  return text.split(",").map((word) => {
    const role = ROLES.find((known) => known === word.trim());
    if (role === undefined) throw new InvalidArgumentError(`Known roles: ${ROLES.join(", ")}.`);
    return role;
  });
}

/**
 * Replaces a file atomically: a crash leaves the old file or the new one. The new file has the mode 600 and the owner
 * of the old one, so that the account of the server can read it after a change by root.
 */
function replaceFile(name: string, text: string): void {
  const file = realpathSync(name);
  const { mode, uid, gid } = statSync(file);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: MODE });
    if (uid !== process.getuid?.()) chownSync(temporary, uid, gid);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  const wider = mode & 0o777 & ~MODE;
  if (process.platform !== "win32" && wider !== 0)
    process.stderr.write(
      `note: ${name} had the mode ${(mode & 0o777).toString(8)} and now has 600, because it holds hashes of passwords; the account that runs the server must own it\n`,
    );
}

function readText(file: string): string {
  let fault: string;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    fault = fileFault(error);
  }
  throw new CommandFailure(`${file}: ${fault}; --config names the configuration file`, EXIT.configuration);
}

function unwrap<T>(result: { ok: true; value: T } | { ok: false; error: string }, file: string): T {
  if (!result.ok) throw new CommandFailure(`${file}: ${result.error}`, EXIT.configuration);
  return result.value;
}

/**
 * Replaces the configuration file.
 * @throws CommandFailure if the change removes the last administrator and is not forced
 */
function replaceUsers(
  file: string,
  { before, after }: { readonly before: string; readonly after: string },
  { name, force }: { readonly name: string; readonly force: boolean | undefined },
): void {
  const had = unwrap(hasAdministrator(before), file);
  const has = unwrap(hasAdministrator(after), file);
  if (had && !has && force !== true)
    throw new CommandFailure(
      `${name} is the last administrator in ${file}, and nothing was changed: without an administrator the quota and the configuration cannot be changed over HTTP; give another user the role admin first (nuthatch user add OTHER --role admin --config ${file}), or repeat this command with ${FORCE}`,
      EXIT.failure,
    );
  replaceFile(file, after);
  if (!has)
    process.stderr.write(
      `note: ${file} names no administrator: nuthatch user add NAME --role admin --config ${file} adds one\n`,
    );
}

/** `nuthatch user …`: manages the accounts in a configuration file. */
export function userCommand(): Command {
  const user = new Command("user").description(
    "manages accounts in a configuration file; nuthatch users lists those of a running server",
  );
  addPasswordFlag(
    user
      .command("hash")
      .description("prints the hash of a new password, for `passwordHash` of a configuration; asks for the password"),
  ).action(async (flags: PasswordFlags) => {
    process.stdout.write(`${await hashNewPassword(flags)}\n`);
  });
  addPasswordFlag(
    user
      .command("add")
      .description("adds a user to a configuration file, or gives a user of it a new password; asks for the password")
      .argument("<name>", "the name with which the user logs in", parseName)
      .option("--config <file>", "the configuration file; without it the command prints the line for the file")
      .option(
        "--role <roles>",
        `${ROLES.join(", ")}; several with commas (default for a new user: ${DEFAULT_ROLES.join(", ")}; an existing user keeps the roles)`,
        parseRoles,
      ),
  )
    .option(FORCE, "even if no administrator is left")
    .action(async (name: string, flags: AddFlags) => {
      const { config: file, role: roles, force } = flags;
      const before = file === undefined ? undefined : readText(file);
      const passwordHash = await hashNewPassword(flags);
      if (file === undefined || before === undefined) {
        process.stdout.write(userLine({ name, passwordHash, roles: roles ?? DEFAULT_ROLES }));
        return;
      }
      const after = unwrap(addUser(before, { name, passwordHash, roles }), file);
      replaceUsers(file, { before, after }, { name, force });
      const written = unwrap(listUsers(after), file).find((one) => one.name === name);
      process.stdout.write(
        `${name} is in ${file} with ${rolesText(written?.roles ?? [])} and can log in after the next start or reload.\n`,
      );
    });
  user
    .command("list")
    .description("prints the names and roles in a configuration file; nuthatch users asks a running server")
    .requiredOption("--config <file>", "the configuration file")
    .action(({ config: file }: { config: string }) => {
      const users = unwrap(listUsers(readText(file)), file);
      process.stdout.write(users.length === 0 ? `${file} has no users.\n` : userTable(users));
    });
  user
    .command("remove")
    .description("removes a user from a configuration file")
    .argument("<name>")
    .requiredOption("--config <file>", "the configuration file")
    .option(FORCE, "even if no administrator is left")
    .action((name: string, { config: file, force }: { config: string; force?: boolean }) => {
      const before = readText(file);
      const after = unwrap(removeUser(before, name), file);
      if (after === undefined)
        throw new CommandFailure(`there is no user ${JSON.stringify(name)} in ${file}`, EXIT.failure);
      replaceUsers(file, { before, after }, { name, force });
      process.stdout.write(`${name} is removed by the next start or reload.\n`);
    });
  return user;
}

const rolesText = (roles: readonly string[]): string =>
  `the ${roles.length === 1 ? "role" : "roles"} ${roles.join(", ")}`;
