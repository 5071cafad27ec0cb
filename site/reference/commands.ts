import type { Command, Option } from "commander";
import { programWith } from "../../src/cli/program.ts";
import { code, GENERATED, sentence, table } from "./markdown.ts";

/** Returns the page of all commands with their arguments and options, as `--help` has them. */
export async function commandsPage(): Promise<string> {
  const program = await programWith(undefined);
  return `# Commands and options

${GENERATED}

All commands of \`nuthatch\` with their options. [Command line](command-line.md) explains how the commands work together, with exit codes and accounts.

## Options of all commands

${optionTable(program)}

${[...program.commands]
  .filter(isListed)
  .map((command) => section(command, "nuthatch", "##"))
  .join("\n\n")}
`;
}

const isListed = (command: Command): boolean => command.name() !== "help";

function section(command: Command, before: string, marks: string): string {
  const name = `${before} ${command.name()}`;
  const argumentRows = command.registeredArguments
    .filter(({ description }) => description !== "")
    .map((one) => [code(one.name()), sentence(one.description)]);
  const parts = [
    `${marks} ${name}`,
    sentence(command.description()),
    `\`${name} ${command.usage()}\``,
    argumentRows.length === 0 ? "" : table(["Argument", "Meaning"], argumentRows),
    optionTable(command),
    ...command.commands.filter(isListed).map((one) => section(one, name, `${marks}#`)),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** The options that every command has are described once. */
const GLOBAL: ReadonlySet<string> = new Set(["--help", "--version", "--url", "--user", "--json"]);

function optionTable(command: Command): string {
  const isProgram = command.parent === null;
  const options = command.options.filter((option) => !option.hidden && (isProgram || !GLOBAL.has(option.long ?? "")));
  if (options.length === 0) return "";
  return table(
    ["Option", "Meaning"],
    options.map((option) => [code(option.flags), meaning(option)]),
  );
}

function meaning(option: Option): string {
  const choices =
    option.argChoices === undefined ? "" : ` One of ${option.argChoices.map((one) => code(one)).join(", ")}.`;
  const value: unknown = option.defaultValue;
  const hasDefault = value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
  const text = option.defaultValueDescription ?? JSON.stringify(value);
  return `${sentence(option.description)}${choices}${hasDefault ? ` Default: ${code(text)}.` : ""}`;
}
