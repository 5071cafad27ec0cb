import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/**
 * Asks questions on the terminal, one after the other, and returns the answers. Questions go to stderr, because stdout
 * is for the command's answer. Undefined if the user ends the input with Ctrl-C or Ctrl-D.
 * @param echo `hidden` if the terminal must not show the typed text
 */
export async function ask(
  questions: readonly string[],
  echo: "shown" | "hidden",
): Promise<readonly string[] | undefined> {
  const output = echo === "shown" ? process.stderr : new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  // The iterator stores a line that arrives before its question, as pasted lines do.
  const lines = terminal[Symbol.asyncIterator]();
  const answers: string[] = [];
  try {
    for (const question of questions) {
      if (echo === "hidden") process.stderr.write(question);
      terminal.setPrompt(question);
      terminal.prompt();
      const line = await lines.next();
      if (echo === "hidden" || line.done === true) process.stderr.write("\n");
      if (line.done === true) return undefined;
      answers.push(line.value);
    }
    return answers;
  } finally {
    terminal.close();
  }
}
