import { type Command, Option } from "commander";
import { parseAnswer } from "../client/answer.ts";
import { ServerRefusal } from "../client/server-client.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { GROUPS } from "../help-groups.ts";
import { ask } from "./accounts/ask.ts";
import type { KeyFlags } from "./jobs/request-once.ts";

export interface ConfirmFlags extends KeyFlags {
  readonly yes?: boolean;
}

export const addConfirmFlag = (command: Command): Command =>
  command.addOption(new Option("--yes", "create a job of any size without asking").helpGroup(GROUPS.waiting));

/**
 * Sends a request for which the server may require confirmation. `--yes` confirms it, otherwise the user at the
 * terminal.
 */
export async function requestConfirmed(
  request: (confirm: { readonly confirm?: true }) => Promise<string>,
  { yes }: ConfirmFlags,
): Promise<string> {
  if (yes === true) return request({ confirm: true });
  const answer = await request({}).catch((error: unknown) => {
    const tiles = error instanceof ServerRefusal ? tilesToConfirm(error.text) : undefined;
    if (tiles === undefined) throw error;
    return { tiles };
  });
  if (typeof answer === "string") return answer;
  await confirm(`this would be a job of ${answer.tiles} tiles`, { remedy: "--yes makes it", question: "Make it?" });
  return request({ confirm: true });
}

/**
 * Resolves when the user at the terminal agrees.
 * @throws CommandFailure if the user does not agree, or there is no terminal
 */
export async function confirm(
  what: string,
  { remedy, question }: { readonly remedy: string; readonly question: string },
): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new CommandFailure(`${what}: ${remedy}`, EXIT.failure);
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  const [answer = ""] = (await ask([`${sentence}. ${question} [y/N] `], "shown")) ?? [];
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure("nothing was done", EXIT.failure);
}

/** Returns the number of tiles in a refusal that requires confirmation. Undefined for any other refusal. */
function tilesToConfirm(text: string): string | undefined {
  let problem: unknown;
  try {
    problem = parseAnswer(text);
  } catch {
    return undefined;
  }
  if (typeof problem !== "object" || problem === null || !("code" in problem) || !("tiles" in problem))
    return undefined;
  return problem.code === "confirmation_needed" ? String(problem.tiles) : undefined;
}
