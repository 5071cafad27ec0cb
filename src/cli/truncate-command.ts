import type { Command } from "commander";
import { askingCommand, NONE, say } from "./answer.ts";
import { type FollowFlags, tellMadeJob } from "./follow-job.ts";
import { addRangeFlags, isRangeGiven, type RangeFlags, rangeFields } from "./range-flags.ts";
import { ServerClient } from "./server-client.ts";

/** `nuthatch truncate LAYER`: the whole layer at once, or a range of it as a job. */
export function truncateCommand(): Command {
  return addRangeFlags(
    askingCommand(
      "truncate",
      "removes tiles: of the whole layer at once, or with a range (of the default parameters, unless they are given) as a job",
    ).argument("<layer>"),
  )
    .option("--wait", "until the job has ended; the exit code is its outcome")
    .action(async (layer: string, flags: RangeFlags & FollowFlags) => {
      const client = new ServerClient(flags);
      if (isRangeGiven(flags)) {
        const request = { layer, type: "truncate", ...rangeFields(flags) };
        return tellMadeJob(await client.ask("POST", "/api/v1/jobs", NONE, request), flags, client);
      }
      // Answered when no reader can see the tiles any more; the answer is empty.
      await client.ask("POST", "/rest/masstruncate", new URLSearchParams({ requestType: "truncateLayer", layer }));
      if (flags.json !== true) say(`${layer} is empty.\n`);
    });
}
