import { type Command, Help, Option } from "commander";
import { CLIENT_VARIABLES } from "../lib/process/client-variables.ts";
import { GROUPS } from "./help-groups.ts";

const DEFAULT_PORT = "8080";

/**
 * Returns the address of a server on this machine, at the port that NUTHATCH_PORT gives to a server, so that server and
 * command may share one environment.
 */
function defaultUrl(): string {
  const port = process.env["NUTHATCH_PORT"] ?? "";
  return `http://127.0.0.1:${/^[1-9]\d*$/.test(port) ? port : DEFAULT_PORT}`;
}

const globalOptions = (): readonly Option[] => [
  new Option(
    "--url <url>",
    `the server, with its mount (NUTHATCH_URL, else http://127.0.0.1 at the port NUTHATCH_PORT, else ${DEFAULT_PORT})`,
  ),
  new Option("--user <name>", "the account; its password is in NUTHATCH_PASSWORD (NUTHATCH_USER)"),
  new Option("--json", "print the answer of the server unchanged"),
];

/** Adds the options of commands that send requests to a server and print its answer. */
export function addServerOptions(command: Command): Command {
  for (const option of globalOptions()) command.addOption(option.helpGroup(GROUPS.server));
  command.setOptionValueWithSource("url", process.env[CLIENT_VARIABLES.url] || defaultUrl(), "default");
  return command
    .addHelpOption(new Option("-h, --help", "display help for command").helpGroup(GROUPS.server))
    .configureHelp({ groupItems: withServerLast });
}

/** Permits the options of `addServerOptions` before the name of a command too: `nuthatch --url URL status`. */
export function addGlobalOptions(program: Command): Command {
  for (const option of globalOptions())
    program.addOption(option.helpGroup("Options of commands to a server, before or after the command:"));
  return program.hook("preAction", (_, command) => takeOuterOptions(command));
}

/** Gives a command the options before its name. The same option after the name takes precedence. */
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
