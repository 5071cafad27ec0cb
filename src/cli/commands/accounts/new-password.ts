import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { hashPassword } from "../../../account/password.ts";
import { LEAST_PASSWORD, type PasswordHash } from "../../../account/user.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { ask } from "./ask.ts";

export interface PasswordFlags {
  readonly passwordStdin?: boolean;
}

export const addPasswordFlag = (command: Command): Command =>
  command.option("--password-stdin", "read the new password from standard input, instead of asking on the terminal");

/**
 * Reads a new password and returns its hash. Does not read NUTHATCH_PASSWORD: it is the caller's own password, which a
 * new account must not get.
 * @throws CommandFailure for a password that is too short, and without a terminal and `--password-stdin`
 */
export async function hashNewPassword(flags: PasswordFlags): Promise<PasswordHash> {
  const password = flags.passwordStdin === true ? readInput() : await askPassword();
  const length = [...password].length;
  if (length < LEAST_PASSWORD)
    throw new CommandFailure(
      `password: expected at least ${LEAST_PASSWORD} characters, got ${length}; nothing was written`,
      EXIT.usage,
    );
  return hashPassword(password);
}

function readInput(): string {
  const text = readFileSync(0, "utf8").replace(/\r?\n$/, "");
  if (/[\r\n]/.test(text))
    throw new CommandFailure("--password-stdin: expected one line with the password, got several", EXIT.usage);
  return text;
}

async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new CommandFailure(
      "there is no terminal to ask for the password: pipe it in and give --password-stdin (NUTHATCH_PASSWORD is not used here: it is the password of the user who runs this command)",
      EXIT.usage,
    );
  const answers = await ask(["New password: ", "The same again: "], "hidden");
  if (answers === undefined) throw new CommandFailure("nothing was done", EXIT.failure);
  const [password = "", again] = answers;
  if (password !== again)
    throw new CommandFailure("the two passwords are not the same; nothing was written", EXIT.usage);
  return password;
}
