import { Command } from "commander";
import { ownVersion } from "../lib/version.ts";

/** What shells ask, and nobody needs to know of. */
const COMPLETE = "__complete";

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
  ["completion", async () => (await import("./completion-command.ts")).completionCommand()],
  ["explain", async () => (await import("./explain-command.ts")).explainCommand()],
];

/** With all commands, but one that is named is loaded alone: half of the time of a short one would go into what the others need. */
export async function programWith(name: string | undefined): Promise<Command> {
  const program = new Command("nuthatch")
    .description("A tile cache for maps, managed over HTTP")
    .version(ownVersion())
    .enablePositionalOptions()
    .showHelpAfterError("(nuthatch --help tells more)");
  const named = COMMANDS.filter(([known]) => known === name);
  for (const [, make] of named.length > 0 ? named : COMMANDS) program.addCommand(await make());
  return program;
}

export async function programOf(name: string | undefined): Promise<Command> {
  if (name !== COMPLETE) return programWith(name);
  const { completeCommand } = await import("./complete-command.ts");
  return new Command("nuthatch").addCommand(completeCommand(programWith));
}
