import type { Command } from "commander";
import { type AnswerFlags, printAnswer, type Received } from "../../client/answer.ts";
import { EXIT } from "../../exit.ts";
import { bytesText, factList, timeText } from "../../output/text-table.ts";
import { connect, serverCommand } from "../server-command.ts";

function showStatus({ version, ready, reason, layers, jobs, usage, disk, attention }: Received<"Status">): string {
  const { tiles, bytes, bytesOnDisk, quota } = usage;
  const quotaText = quota === null ? "" : `; the quota is ${bytesText(quota)}`;
  const filesText = disk.freeInodes === null ? "" : `, room for ${disk.freeInodes} files`;
  const facts = factList([
    ["server", `Nuthatch ${version}, ${ready ? "ready" : `not ready: ${reason}`}`],
    ["layers", String(layers)],
    [
      "jobs",
      Object.entries(jobs)
        .map(([state, count]) => `${count} ${state}`)
        .join(", "),
    ],
    ["kept", `${tiles} tiles, ${bytesText(bytes)}, ${bytesText(bytesOnDisk)} on disk${quotaText}`],
    ["disk", `${bytesText(disk.freeBytes)} of ${bytesText(disk.totalBytes)} free${filesText}`],
  ]);
  const needs = attention.map(({ message, since }) => `  ${message}${since === null ? "" : ` (${timeText(since)})`}\n`);
  return needs.length === 0 ? facts : `${facts}needs attention:\n${needs.join("")}`;
}

/**
 * `nuthatch status`: shows the state of the server in a few lines, and the problems that need attention. The exit code
 * is 1 if the server is not ready.
 */
export function statusCommand(): Command {
  return serverCommand("status", "shows version, readiness, jobs, usage and the problems of a running server").action(
    async (flags: AnswerFlags) => {
      const text = await connect(flags).request("GET", "/api/v1/status");
      printAnswer(text, flags, showStatus);
      const { ready }: Received<"Status"> = JSON.parse(text);
      if (!ready) process.exitCode = EXIT.failure;
    },
  );
}
