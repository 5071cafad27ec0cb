import { Command, CommanderError } from "commander";
import { ownVersion } from "../lib/version.ts";
import { configCommand } from "./config-command.ts";
import { estimateCommand } from "./estimate-command.ts";
import { CommandFailure, EXIT } from "./exit.ts";
import { explainCommand } from "./explain-command.ts";
import { importCommand } from "./import-command.ts";
import { holdCommand, jobCommand, jobsCommand, retryCommand } from "./job-commands.ts";
import { killCommand } from "./kill-command.ts";
import { layersCommand } from "./layers-command.ts";
import { quotaCommand } from "./quota-command.ts";
import { scheduleCommand } from "./schedule-command.ts";
import { seedCommand } from "./seed-command.ts";
import { serveCommand } from "./serve-command.ts";
import { statusCommand } from "./status-command.ts";
import { truncateCommand } from "./truncate-command.ts";
import { userCommand } from "./user-command.ts";

const program = new Command("nuthatch")
  .description("A tile cache for maps, managed over HTTP")
  .version(ownVersion())
  .enablePositionalOptions()
  .showHelpAfterError("(nuthatch --help tells more)")
  .addCommand(serveCommand())
  .addCommand(userCommand())
  .addCommand(configCommand())
  .addCommand(importCommand())
  .addCommand(statusCommand())
  .addCommand(layersCommand())
  .addCommand(seedCommand("seed"))
  .addCommand(seedCommand("reseed"))
  .addCommand(truncateCommand())
  .addCommand(estimateCommand())
  .addCommand(jobsCommand())
  .addCommand(jobCommand())
  .addCommand(killCommand())
  .addCommand(holdCommand("pause"))
  .addCommand(holdCommand("resume"))
  .addCommand(retryCommand())
  .addCommand(scheduleCommand())
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
