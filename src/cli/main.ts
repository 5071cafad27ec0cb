import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { configCommand } from "./config-command.ts";
import { CommandFailure, EXIT } from "./exit.ts";
import { explainCommand } from "./explain-command.ts";
import { importCommand } from "./import-command.ts";
import { quotaCommand } from "./quota-command.ts";
import { serveCommand } from "./serve-command.ts";
import { userCommand } from "./user-command.ts";

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

const program = new Command("nuthatch")
  .description("A tile cache for maps, managed over HTTP")
  .version(manifest.version)
  .enablePositionalOptions()
  .showHelpAfterError("(nuthatch --help tells more)")
  .addCommand(serveCommand())
  .addCommand(userCommand())
  .addCommand(configCommand())
  .addCommand(importCommand())
  .addCommand(quotaCommand())
  .addCommand(explainCommand());

/** Commands that are added do not inherit it. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwInsteadOfExit(inner);
}
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
