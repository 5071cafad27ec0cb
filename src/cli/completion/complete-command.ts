import { Argument, Command } from "commander";
import { bashText, readBashLine } from "./bash-line.ts";
import { completionOf } from "./completion.ts";
import { SHELLS } from "./completion-command.ts";
import type { Candidate } from "./completion-values.ts";

const CONTROL = /\p{Cc}+/gu;

/**
 * `nuthatch __complete SHELL …`: the command that the scripts of `nuthatch completion` run. The first output line
 * is the kind of completion (words, files, directories). Each further line is one word; for shells other than bash a
 * tab and its description follow. `programWith` builds the program with only the named command, if there is one.
 */
export const completeCommand = (programWith: (name: string | undefined) => Promise<Command>): Command =>
  new Command("__complete")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .argument("[line...]", "of bash the line up to the cursor and COMP_WORDBREAKS; else words, the last at the cursor")
    .action(async (shell: (typeof SHELLS)[number], given: readonly string[]) => {
      const { words, current, textOf } = shell === "bash" ? bashQuestion(given) : question(given);
      const [name] = words;
      const { kind, candidates } = await completionOf(await programWith(name), words, current);
      // A word with a control character would break the lines of the output.
      const lines = candidates.filter(({ value }) => value.search(CONTROL) < 0).map(textOf);
      process.stdout.write([kind, ...lines].map((line) => `${line}\n`).join(""));
    });

interface Question {
  readonly words: readonly string[];
  readonly current: string;
  readonly textOf: (candidate: Candidate) => string;
}

const question = (given: readonly string[]): Question => ({
  words: given.slice(0, -1),
  current: given.at(-1) ?? "",
  textOf: ({ value, description = "" }) => `${value}\t${description.replace(CONTROL, " ")}`,
});

function bashQuestion([line = "", breaks = ""]: readonly string[]): Question {
  const read = readBashLine(line, breaks);
  // Assignments of variables for this command (`NAME=value nuthatch …`) precede it.
  const program = read.words.findIndex((word) => !/^\w+=/.test(word));
  return {
    words: read.words.slice(program + 1),
    current: read.current,
    textOf: ({ value }) => bashText(value, read),
  };
}
