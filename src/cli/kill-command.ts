import type { Command } from "commander";
import { type AnswerFlags, askingCommand, NONE, say, tell } from "./answer.ts";
import { CommandFailure, EXIT } from "./exit.ts";
import { parseJobId } from "./follow-job.ts";
import { showProgress } from "./progress-text.ts";
import { ServerClient } from "./server-client.ts";

interface KillFlags extends AnswerFlags {
  readonly all?: boolean;
  readonly layer?: string;
}

/** `nuthatch kill ID | --all | --layer NAME`: exactly one of them, so that a variable that was empty never means all. */
export function killCommand(): Command {
  return askingCommand("kill", "ends one job, those of a layer, or all; once it returns nothing more is drawn for them")
    .argument("[job]", "of one job", parseJobId)
    .option("--all", "every job")
    .option("--layer <layer>", "every job of a layer")
    .action(async (id: number | undefined, flags: KillFlags) => {
      const { all, layer, json } = flags;
      if ([id, all, layer].filter((given) => given !== undefined).length !== 1 || layer === "")
        throw new CommandFailure("expected either the id of a job, --layer or --all", EXIT.usage);
      const client = new ServerClient(flags);
      if (id !== undefined) {
        const text = await client.ask("POST", `/api/v1/jobs/${id}/cancel`, NONE);
        return tell(text, flags, showProgress);
      }
      if (json === true) throw new CommandFailure("--json goes with the id of a job only", EXIT.usage);
      // One request: what is posted meanwhile by others is not caught half.
      const path = layer === undefined ? "/rest/seed" : `/rest/seed/${encodeURIComponent(layer)}`;
      const page = await client.ask("POST", path, new URLSearchParams({ kill_all: "all" }));
      const ended = page.match(/<li>\[\d+: /g)?.length ?? 0;
      say(`${ended} ${ended === 1 ? "task has" : "tasks have"} been ended.\n`);
    });
}
