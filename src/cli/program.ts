import type { Command } from "commander";
import { bareProgram } from "./bare-program.ts";

const COMMANDS: readonly (readonly [name: string, make: () => Promise<Command>])[] = [
  ["serve", async () => (await import("./commands/server/serve-command.ts")).serveCommand()],
  ["backup", async () => (await import("./commands/server/backup-command.ts")).backupCommand()],
  ["user", async () => (await import("./commands/accounts/user-command.ts")).userCommand()],
  ["config", async () => (await import("./commands/server/config-command.ts")).configCommand()],
  ["doctor", async () => (await import("./commands/server/doctor-command.ts")).doctorCommand()],
  ["quality", async () => (await import("./commands/server/quality-command.ts")).qualityCommand()],
  ["changes", async () => (await import("./commands/changes-command.ts")).changesCommand()],
  ["import", async () => (await import("./commands/import/import-command.ts")).importCommand()],
  ["export", async () => (await import("./commands/import/export-command.ts")).exportCommand()],
  ["store", async () => (await import("./commands/store-command.ts")).storeCommand()],
  ["reload", async () => (await import("./commands/server/reload-command.ts")).reloadCommand()],
  ["users", async () => (await import("./commands/accounts/users-command.ts")).usersCommand()],
  ["status", async () => (await import("./commands/server/status-command.ts")).statusCommand()],
  ["node", async () => (await import("./commands/server/node-command.ts")).nodeCommand()],
  ["nodes", async () => (await import("./commands/server/nodes-command.ts")).nodesCommand()],
  ["upstreams", async () => (await import("./commands/upstreams-command.ts")).upstreamsCommand()],
  ["layers", async () => (await import("./commands/layers-command.ts")).layersCommand()],
  ["seed", async () => (await import("./commands/jobs/seed-command.ts")).seedCommand("seed")],
  ["reseed", async () => (await import("./commands/jobs/seed-command.ts")).seedCommand("reseed")],
  ["truncate", async () => (await import("./commands/jobs/truncate-command.ts")).truncateCommand()],
  ["truncations", async () => (await import("./commands/jobs/truncation-commands.ts")).truncationsCommand()],
  ["undo", async () => (await import("./commands/jobs/truncation-commands.ts")).undoCommand()],
  ["estimate", async () => (await import("./commands/jobs/estimate-command.ts")).estimateCommand()],
  ["jobs", async () => (await import("./commands/jobs/job-commands.ts")).jobsCommand()],
  ["job", async () => (await import("./commands/jobs/job-commands.ts")).jobCommand()],
  ["cancel", async () => (await import("./commands/jobs/cancel-command.ts")).cancelCommand()],
  ["pause", async () => (await import("./commands/jobs/job-commands.ts")).pauseOrResumeCommand("pause")],
  ["resume", async () => (await import("./commands/jobs/job-commands.ts")).pauseOrResumeCommand("resume")],
  ["retry", async () => (await import("./commands/jobs/job-commands.ts")).retryCommand()],
  ["events", async () => (await import("./commands/server/events-command.ts")).eventsCommand()],
  ["schedule", async () => (await import("./commands/jobs/schedule-command.ts")).scheduleCommand()],
  ["quota", async () => (await import("./commands/quota-command.ts")).quotaCommand()],
  ["explain", async () => (await import("./commands/explain-command.ts")).explainCommand()],
];

/** Further names of commands. The classic interface calls a cancelled job killed. */
const ALIASES: ReadonlyMap<string, string> = new Map([["kill", "cancel"]]);

/**
 * Builds the program. If `name` is a command, loads only this command, because loading all commands would take half of
 * the time of a short command.
 */
export async function programWith(name: string | undefined): Promise<Command> {
  const program = bareProgram();
  // The version needs no command, and loading all commands would take most of its time.
  if (name === "--version" || name === "-V") return program;
  const wanted = name === undefined ? undefined : (ALIASES.get(name) ?? name);
  const named = COMMANDS.filter(([known]) => known === wanted);
  for (const [, make] of named.length > 0 ? named : COMMANDS) program.addCommand(await make());
  return program;
}
