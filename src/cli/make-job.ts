import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { exactNumbers, NONE } from "./answer.ts";
import { CommandFailure, EXIT } from "./exit.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerRefusal } from "./server-client.ts";

export interface ConfirmFlags {
  readonly yes?: boolean;
}

export const addConfirmFlag = (command: Command): Command =>
  command.option("--yes", "however large it is: asks nothing");

/** Asks the server for a job. One that has to be confirmed is confirmed by `--yes`, or by whoever sits at the terminal. */
export async function makeJob(request: object, { yes }: ConfirmFlags, client: ServerClient): Promise<string> {
  const ask = (document: object): Promise<string> => client.ask("POST", "/api/v1/jobs", NONE, document);
  const confirmed = { ...request, confirm: true };
  if (yes === true) return ask(confirmed);
  const answer = await ask(request).catch((error: unknown) => {
    const tiles = error instanceof ServerRefusal ? tilesToConfirm(error.text) : undefined;
    if (tiles === undefined) throw error;
    return { tiles };
  });
  if (typeof answer === "string") return answer;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new CommandFailure(`this would be a job of ${answer.tiles} tiles: --yes makes it`, EXIT.failure);
  if (await isMeant(`This would be a job of ${answer.tiles} tiles. Make it? [y/N] `)) return ask(confirmed);
  throw new CommandFailure("nothing was done", EXIT.failure);
}

/** Of a refusal for size; undefined: it is another one. */
function tilesToConfirm(text: string): string | undefined {
  let problem: unknown;
  try {
    problem = JSON.parse(exactNumbers(text));
  } catch {
    return undefined;
  }
  if (typeof problem !== "object" || problem === null || !("code" in problem) || !("tiles" in problem))
    return undefined;
  return problem.code === "confirmation_needed" ? String(problem.tiles) : undefined;
}

async function isMeant(question: string): Promise<boolean> {
  // Not to stdout: that is the answer alone.
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
