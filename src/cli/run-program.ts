import { type Command, CommanderError } from "commander";
import { fileFault, pathOf } from "../lib/file/file-fault.ts";
import { MigrationError } from "../migrate/migration-error.ts";
import { CommandFailure, EXIT } from "./exit.ts";
import { coloured, colouredError } from "./output/colours.ts";

/** The beginning of every message about a failed command. */
const prefix = (): string => colouredError("red", "nuthatch:");

/** The narrowest column of descriptions in the help. Commander's 40 leaves the descriptions of a wide option unwrapped. */
const LEAST_HELP_COLUMNS = 24;

/**
 * Makes commander throw instead of exiting, begin its messages as all others do, and wrap its help. Each command is
 * set, because subcommands do not inherit the settings.
 */
function configure(command: Command): void {
  command
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, prefix())) })
    .configureHelp({
      ...command.configureHelp(),
      minWidthToWrap: LEAST_HELP_COLUMNS,
      styleTitle: (text) => coloured("bold", text),
    });
  for (const inner of command.commands) configure(inner);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  return error instanceof MigrationError && error.code === "invalid" ? EXIT.configuration : EXIT.failure;
}

/** Runs the command in the arguments of this process. Sets its exit code, and prints why a command failed. */
export async function runProgram(program: Command): Promise<void> {
  configure(program);
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    else {
      const path = pathOf(error);
      const message = path === undefined ? "" : `${path}: `;
      process.stderr.write(`${prefix()} ${message}${fileFault(error)}\n`);
      process.exitCode = exitCodeOf(error);
    }
  }
}
