import { type Command, CommanderError } from "commander";
import { codeOf } from "../lib/error-code.ts";
import { fileFault, pathOf } from "../lib/file-fault.ts";
import { CommandFailure, EXIT } from "./exit.ts";
import { programOf } from "./program.ts";

/** Makes commander throw instead of exiting. Subcommands do not inherit the setting, so each one gets it. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwInsteadOfExit(inner);
}

/**
 * Ends the program without a message when the reader of its output has closed the pipe, as `head` does. Not for the
 * server, which must not end in silence.
 */
function endWithReader(): void {
  process.stdout.on("error", (error) => {
    if (codeOf(error) !== "EPIPE") throw error;
    process.exit();
  });
}

async function run(): Promise<void> {
  const program = await programOf(process.argv[2]);
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

if (process.argv[2] !== "serve") endWithReader();
void run();
