import { type Command, Help, Option } from "commander";
import { GROUPS } from "./help-groups.ts";

const DEFAULT_URL = "http://127.0.0.1:8080";

const globalOptions = (): readonly Option[] => [
  new Option("--url <url>", `the server, with its mount (NUTHATCH_URL, else ${DEFAULT_URL})`),
  new Option("--user <name>", "the account; its password is in NUTHATCH_PASSWORD or in a netrc file (NUTHATCH_USER)"),
  new Option("--json", "print the answer of the server unchanged"),
];

/** Adds the options of commands that send requests to a server and print its answer. */
export function addServerOptions(command: Command): Command {
  for (const option of globalOptions()) command.addOption(option.helpGroup(GROUPS.server));
  command.setOptionValueWithSource("url", process.env["NUTHATCH_URL"] || DEFAULT_URL, "default");
  return command
    .addHelpOption(new Option("-h, --help", "display help for command").helpGroup(GROUPS.server))
    .configureHelp({ groupItems: withServerLast });
}

/** Lets the options of `addServerOptions` precede the name of a command too: `nuthatch --url URL status`. */
export function addGlobalOptions(program: Command): Command {
  for (const option of globalOptions())
    program.addOption(option.helpGroup("Options of commands to a server, before or after the command:"));
  return program.hook("preAction", (_, command) => takeOuterOptions(command));
}

/** Gives a command the options that precede its name. The same option behind the name comes first. */
function takeOuterOptions(command: Command): void {
  for (let outer = command.parent; outer !== null; outer = outer.parent)
    for (const option of outer.options) {
      const name = option.attributeName();
      if (outer.getOptionValueSource(name) !== "cli") continue;
      if (command.options.every((own) => own.attributeName() !== name))
        command.error(`error: option '${option.flags}' does not go with the command '${command.name()}'`);
      if (command.getOptionValueSource(name) !== "cli")
        command.setOptionValueWithSource(name, outer.getOptionValue(name), "cli");
    }
}

function withServerLast<T extends Command | Option>(
  ...items: [unsorted: T[], visible: T[], groupOf: (item: T) => string]
): Map<string, T[]> {
  const groups = new Help().groupItems(...items);
  const last = groups.get(GROUPS.server);
  if (last !== undefined && groups.delete(GROUPS.server)) groups.set(GROUPS.server, last);
  return groups;
}
