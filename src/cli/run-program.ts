import { type Command, CommanderError } from "commander";
import { fileFault, pathOf } from "../lib/file/file-fault.ts";
import { CommandFailure, EXIT } from "./exit.ts";

/** Makes commander throw instead of exiting. Each command is set, because subcommands do not inherit the setting. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwInsteadOfExit(inner);
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
      process.exitCode = error instanceof CommandFailure ? error.exitCode : EXIT.failure;
    }
  }
}
