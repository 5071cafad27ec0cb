import { readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Command, InvalidArgumentError } from "commander";
import { hashPassword } from "../../http/auth/password.ts";
import { ROLES, type Role } from "../../http/options.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { addUser, listUsers, removeUser, userLine } from "./users-file.ts";

/** Reads a password from NUTHATCH_PASSWORD, from a pipe, or from the terminal without an echo. */
async function readPassword(): Promise<string> {
  const given = process.env["NUTHATCH_PASSWORD"];
  if (given !== undefined && given !== "") return given;
  if (process.stdin.isTTY !== true) return readFileSync(0, "utf8").replace(/\r?\n$/, "");
  process.stderr.write("Password: ");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}

async function hashedPassword(): Promise<string> {
  const password = await readPassword();
  if (password === "") throw new CommandFailure("the password is empty", EXIT.usage);
  return hashPassword(password);
}

function parseName(name: string): string {
  if (name === "" || name.length > 100 || /[:\p{Cc}]/u.test(name))
    throw new InvalidArgumentError("1 to 100 characters, no colon, no control character.");
  return name;
}

function parseRoles(text: string): readonly Role[] {
  return text.split(",").map((word) => {
    const role = ROLES.find((known) => known === word.trim());
    if (role === undefined) throw new InvalidArgumentError(`Known roles: ${ROLES.join(", ")}.`);
    return role;
  });
}

/** Replaces a file atomically: a crash leaves the old file or the new one. */
function replaceFile(name: string, text: string): void {
  const file = realpathSync(name);
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: statSync(file).mode & 0o777 });
  renameSync(temporary, file);
}

function unwrap<T>(result: { ok: true; value: T } | { ok: false; error: string }, file: string): T {
  if (!result.ok) throw new CommandFailure(`${file}: ${result.error}`, EXIT.configuration);
  return result.value;
}

/** `nuthatch user …`: manages the accounts in a configuration file. */
export function userCommand(): Command {
  const user = new Command("user").description("accounts of the management interface");
  user
    .command("hash")
    .description("prints the hash of a password, for `passwordHash` (NUTHATCH_PASSWORD, a pipe, or asked for)")
    .action(async () => {
      process.stdout.write(`${await hashedPassword()}\n`);
    });
  user
    .command("add")
    .description("adds a user to a configuration file, or gives one a new password and roles")
    .argument("<name>", "", parseName)
    .option("--config <file>", "the configuration file; without it the line for the file is printed")
    .option("--role <roles>", `${ROLES.join(", ")}; several with commas`, parseRoles, ["admin"])
    .action(async (name: string, options: { config?: string; role: readonly Role[] }) => {
      const { config: file, role: roles } = options;
      const text = file === undefined ? undefined : readFileSync(file, "utf8");
      const added = { name, passwordHash: await hashedPassword(), roles };
      if (file === undefined || text === undefined) process.stdout.write(userLine(added));
      else {
        replaceFile(file, unwrap(addUser(text, added), file));
        process.stdout.write(`${name} can log in as ${roles.join(", ")} after the next start or reload.\n`);
      }
    });
  user
    .command("list")
    .description("prints names and roles")
    .requiredOption("--config <file>", "the configuration file")
    .action(({ config: file }: { config: string }) => {
      for (const { name, roles } of unwrap(listUsers(readFileSync(file, "utf8")), file))
        process.stdout.write(`${name}\t${roles.join(",")}\n`);
    });
  user
    .command("remove")
    .description("removes a user from a configuration file")
    .argument("<name>")
    .requiredOption("--config <file>", "the configuration file")
    .action((name: string, { config: file }: { config: string }) => {
      const text = unwrap(removeUser(readFileSync(file, "utf8"), name), file);
      if (text === undefined)
        throw new CommandFailure(`there is no user ${JSON.stringify(name)} in ${file}`, EXIT.failure);
      replaceFile(file, text);
      process.stdout.write(`${name} is gone after the next start or reload.\n`);
    });
  return user;
}
