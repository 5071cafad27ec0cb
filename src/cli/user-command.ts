import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Command } from "commander";
import { isMap, isSeq, parseDocument } from "yaml";
import { hashPassword } from "../http/auth/password.ts";
import { EXIT } from "./exit.ts";

const ROLES = ["admin", "operator", "viewer"];

/** From NUTHATCH_PASSWORD, from a pipe, or asked for without an echo. */
async function readPassword(): Promise<string> {
  const given = process.env["NUTHATCH_PASSWORD"];
  if (given !== undefined && given !== "") return given;
  if (process.stdin.isTTY !== true) return readFileSync(0, "utf8").replace(/\r?\n$/, "");
  process.stderr.write("Password: ");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const asker = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await asker.question("");
  } finally {
    asker.close();
    process.stderr.write("\n");
  }
}

async function hashedPassword(): Promise<string | undefined> {
  const password = await readPassword();
  if (password !== "") return hashPassword(password);
  process.stderr.write("nuthatch: the password is empty\n");
  process.exitCode = EXIT.usage;
  return undefined;
}

/** Changes the list of users in a configuration file; comments stay. */
function editUsers(
  file: string,
  change: (users: Map<string, { passwordHash: string; roles: readonly string[] }>) => void,
): void {
  const document = parseDocument(readFileSync(file, "utf8"));
  const users = new Map<string, { passwordHash: string; roles: readonly string[] }>();
  const list = document.get("users");
  if (isSeq(list)) {
    for (const item of list.items) {
      if (!isMap(item)) continue;
      const roles = item.get("roles");
      users.set(String(item.get("name")), {
        passwordHash: String(item.get("passwordHash") ?? item.get("password") ?? ""),
        roles: isSeq(roles) ? roles.items.map(String) : ["viewer"],
      });
    }
  }
  change(users);
  document.set(
    "users",
    [...users].map(([name, user]) => ({ name, ...user })),
  );
  writeFileSync(file, document.toString());
}

/** `nuthatch user …`: the accounts in a configuration file. */
export function userCommand(): Command {
  const user = new Command("user").description("accounts of the management interface");
  user
    .command("hash")
    .description("prints the hash of a password, for `passwordHash` (NUTHATCH_PASSWORD, a pipe, or asked for)")
    .action(async () => {
      const hash = await hashedPassword();
      if (hash !== undefined) process.stdout.write(`${hash}\n`);
    });
  user
    .command("add <name>")
    .description("adds or replaces a user in a configuration file")
    .requiredOption("--config <file>", "the configuration file")
    .option("--role <role>", ROLES.join(", "), "admin")
    .action(async (name: string, options: { config: string; role: string }) => {
      if (!ROLES.includes(options.role)) {
        process.stderr.write(
          `nuthatch: --role: expected one of ${ROLES.join(", ")}, got ${JSON.stringify(options.role)}\n`,
        );
        process.exitCode = EXIT.usage;
        return;
      }
      const passwordHash = await hashedPassword();
      if (passwordHash === undefined) return;
      editUsers(options.config, (users) => users.set(name, { passwordHash, roles: [options.role] }));
      process.stdout.write(`${name} can log in as ${options.role} after the next start or reload.\n`);
    });
  user
    .command("list")
    .requiredOption("--config <file>", "the configuration file")
    .action((options: { config: string }) => {
      printUsers(options.config);
    });
  user
    .command("remove <name>")
    .requiredOption("--config <file>", "the configuration file")
    .action((name: string, options: { config: string }) => {
      let removed = false;
      editUsers(options.config, (users) => {
        removed = users.delete(name);
      });
      if (removed) return;
      process.stderr.write(`nuthatch: there is no user ${JSON.stringify(name)} in ${options.config}\n`);
      process.exitCode = EXIT.failure;
    });
  return user;
}

function printUsers(file: string): void {
  const list = parseDocument(readFileSync(file, "utf8")).get("users");
  if (!isSeq(list)) return;
  for (const item of list.items) {
    if (!isMap(item)) continue;
    const roles = item.get("roles");
    process.stdout.write(`${String(item.get("name"))}\t${isSeq(roles) ? roles.items.map(String).join(",") : ""}\n`);
  }
}
