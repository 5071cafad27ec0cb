import type { Command } from "commander";
import { expect, test } from "vitest";
import { commandsOf, optionsOf, placeholderOf } from "./completion/completion.ts";
import { FILES, SERVER_VALUES, WORDS } from "./completion/completion-values.ts";
import { programWith } from "./program.ts";

/** Placeholders of free values, which cannot be listed. */
const FREE = [
  ...["address", "age", "code", "command", "from", "key", "key=value", "levels", "minx,miny,maxx,maxy", "n"],
  ...["name", "number", "parameter=age", "parameter=from..to", "parameter=pattern", "prefix", "size", "start-end"],
  ...["to", "url", "variable"],
];

async function* commands(command?: Command): AsyncGenerator<Command> {
  const from = command ?? (await programWith(undefined));
  yield from;
  for (const inner of commandsOf(from)) yield* commands(inner);
}

test("what every option and argument takes is a list of words, files, what a server has, or free on purpose", async () => {
  const unknown: string[] = [];
  for await (const command of commands())
    for (const target of [...optionsOf(command).filter(({ required }) => required), ...command.registeredArguments]) {
      const name = placeholderOf(target);
      const isKnown = [WORDS, SERVER_VALUES, FILES].some((known) => known.has(name)) || FREE.includes(name);
      if (!isKnown && target.argChoices === undefined) unknown.push(`${command.name()} ${target.name()} <${name}>`);
    }
  expect(unknown).toEqual([]);
});

test("the words that are offered are such that their options take them", async () => {
  const taken = new Set<string>();
  for await (const command of commands())
    for (const option of optionsOf(command)) {
      const name = placeholderOf(option);
      if (!option.required || option.parseArg === undefined) continue;
      for (const word of WORDS.get(name)?.() ?? []) {
        expect(() => option.parseArg?.(word, undefined), `${option.flags} ${word}`).not.toThrow();
        taken.add(name);
      }
    }
  expect([...taken].sort()).toEqual(["from-to", "policy", "priority", "rate", "roles"]);
});
