import type { Command } from "commander";
import type { AnswerFlags, Received } from "../../client/answer.ts";
import { textTable } from "../../output/text-table.ts";
import { requestAndPrint, serverCommand } from "../server-command.ts";

/** Formats accounts, of a server or of a file. */
export const userTable = (users: readonly { readonly name: string; readonly roles: readonly string[] }[]): string =>
  textTable(
    ["user", "roles"],
    users.map(({ name, roles }) => [name, roles.join(", ")]),
  );

const showUsers = ({ users }: Received<"Users">): string =>
  users.length === 0 ? "The server has no accounts: every program on its machine can manage it.\n" : userTable(users);

/** `nuthatch users`: lists the accounts of a running server. */
export function usersCommand(): Command {
  return serverCommand(
    "users",
    "lists the accounts of a running server with their roles; nuthatch user changes them",
  ).action((flags: AnswerFlags) => requestAndPrint(flags, showUsers, "GET", "/api/v1/users"));
}
