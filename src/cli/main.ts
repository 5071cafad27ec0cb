import { Command, CommanderError } from "commander";
import { ownVersion } from "../lib/version.ts";
import { CommandFailure, EXIT } from "./exit.ts";

const COMMANDS: readonly (readonly [name: string, make: () => Promise<Command>])[] = [
  ["serve", async () => (await import("./serve-command.ts")).serveCommand()],
  ["user", async () => (await import("./user-command.ts")).userCommand()],
  ["config", async () => (await import("./config-command.ts")).configCommand()],
  ["import", async () => (await import("./import-command.ts")).importCommand()],
  ["status", async () => (await import("./status-command.ts")).statusCommand()],
  ["layers", async () => (await import("./layers-command.ts")).layersCommand()],
  ["seed", async () => (await import("./seed-command.ts")).seedCommand("seed")],
  ["reseed", async () => (await import("./seed-command.ts")).seedCommand("reseed")],
  ["warm", async () => (await import("./warm-command.ts")).warmCommand()],
  ["truncate", async () => (await import("./truncate-command.ts")).truncateCommand()],
  ["truncations", async () => (await import("./truncation-commands.ts")).truncationsCommand()],
  ["undo", async () => (await import("./truncation-commands.ts")).undoCommand()],
  ["estimate", async () => (await import("./estimate-command.ts")).estimateCommand()],
  ["jobs", async () => (await import("./job-commands.ts")).jobsCommand()],
  ["job", async () => (await import("./job-commands.ts")).jobCommand()],
  ["kill", async () => (await import("./kill-command.ts")).killCommand()],
  ["pause", async () => (await import("./job-commands.ts")).holdCommand("pause")],
  ["resume", async () => (await import("./job-commands.ts")).holdCommand("resume")],
  ["retry", async () => (await import("./job-commands.ts")).retryCommand()],
  ["schedule", async () => (await import("./schedule-command.ts")).scheduleCommand()],
  ["quota", async () => (await import("./quota-command.ts")).quotaCommand()],
  ["explain", async () => (await import("./explain-command.ts")).explainCommand()],
];

const program = new Command("nuthatch")
  .description("A tile cache for maps, managed over HTTP")
  .version(ownVersion())
  .enablePositionalOptions()
  .showHelpAfterError("(nuthatch --help tells more)");

// A command that is named is loaded alone: half of the time of a short one would go into what the others need.
const named = COMMANDS.filter(([name]) => name === process.argv[2]);
for (const [, make] of named.length > 0 ? named : COMMANDS) program.addCommand(await make());

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
