import { type Command, CommanderError } from "commander";
import { CommandFailure, EXIT } from "./exit.ts";
import { programOf } from "./program.ts";

/** Makes commander throw instead of exiting. Subcommands do not inherit the setting, so each one gets it. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwInsteadOfExit(inner);
}

const program = await programOf(process.argv[2]);
throwInsteadOfExit(program);
try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  else {
    process.stderr.write(`nuthatch: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof CommandFailure ? error.exitCode : EXIT.failure;
  }
}
