import type { Command } from "commander";
import { type AnswerFlags, print, requestAndPrint, serverCommand } from "../client/answer.ts";
import { ServerClient } from "../client/server-client.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { showBatch, showProgress } from "../output/progress-text.ts";
import { layerOption, parseJobId, requestedWithOption } from "./shared-options.ts";

interface KillFlags extends AnswerFlags {
  readonly all?: boolean;
  readonly layer?: string;
  readonly requestedWith?: number;
}

/**
 * `nuthatch kill ID | --requested-with ID | --layer NAME | --all`. Requires exactly one of them, so that an empty shell
 * variable never kills all jobs.
 */
export function killCommand(): Command {
  return serverCommand(
    "kill",
    "ends one job, those of a layer, or all; once it returns nothing more is rendered for them",
  )
    .argument("[job]", "of one job", parseJobId)
    .addOption(requestedWithOption())
    .option("--all", "every job")
    .addOption(layerOption("every job of a layer"))
    .action(async (id: number | undefined, flags: KillFlags) => {
      const { all, layer, requestedWith, json } = flags;
      if ([id, all, layer, requestedWith].filter((given) => given !== undefined).length !== 1 || layer === "")
        throw new CommandFailure("expected either the id of a job, --requested-with, --layer or --all", EXIT.usage);
      if (id !== undefined) return requestAndPrint(flags, showProgress, "POST", `/api/v1/jobs/${id}/cancel`);
      if (requestedWith !== undefined)
        return requestAndPrint(flags, showBatch, "POST", `/api/v1/batches/${requestedWith}/cancel`);
      if (json === true) throw new CommandFailure("--json goes with the id of a job only", EXIT.usage);
      // One request kills all jobs, so that the jobs of a request posted meanwhile are killed together or not at all.
      const path = layer === undefined ? "/rest/seed" : `/rest/seed/${encodeURIComponent(layer)}`;
      const page = await new ServerClient(flags).request("POST", path, { query: { kill_all: "all" } });
      const ended = page.match(/<li>\[\d+: /g)?.length ?? 0;
      print(`${ended} ${ended === 1 ? "task has" : "tasks have"} been ended.\n`);
    });
}
