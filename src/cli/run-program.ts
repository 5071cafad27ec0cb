import { type Command, CommanderError } from "commander";
import { fileFault, pathOf } from "../lib/file/file-fault.ts";
import { CommandFailure, EXIT } from "./exit.ts";

/** Makes commander throw instead of exiting. Subcommands do not inherit the setting, so each one gets it. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwInsteadOfExit(inner);
}

/** Runs the command that the arguments of this process name. Sets its exit code, and prints why a command failed. */
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
