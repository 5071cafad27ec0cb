import { type Command, CommanderError } from "commander";
import { fileFault, pathOf } from "../lib/file/file-fault.ts";
import { MigrationError } from "../migrate/migration-error.ts";
import { CommandFailure, EXIT } from "./exit.ts";

/** Makes commander throw instead of exiting. Each command is set, because subcommands do not inherit the setting. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwInsteadOfExit(inner);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  return error instanceof MigrationError && error.code === "invalid" ? EXIT.configuration : EXIT.failure;
}

/** Runs the command in the arguments of this process. Sets its exit code, and prints why a command failed. */
export async function runProgram(program: Command): Promise<void> {
  throwInsteadOfExit(program);
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    else {
      const path = pathOf(error);
      const message = path === undefined ? "" : `${path}: `;
      process.stderr.write(`nuthatch: ${message}${fileFault(error)}\n`);
      process.exitCode = exitCodeOf(error);
    }
  }
}
