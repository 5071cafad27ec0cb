import type { Command } from "commander";
import { askingCommand, NONE, tell } from "./answer.ts";
import { CommandFailure, EXIT } from "./exit.ts";
import { type FollowFlags, tellMadeJob } from "./follow-job.ts";
import { addRangeFlags, isRangeGiven, type RangeFlags, rangeFields } from "./range-flags.ts";
import { ServerClient } from "./server-client.ts";
import { showTruncated } from "./truncation-commands.ts";

/** `nuthatch truncate LAYER`: the whole layer at once, or a range of it as a job. */
export function truncateCommand(): Command {
  return addRangeFlags(
    askingCommand(
      "truncate",
      "removes tiles: of the whole layer at once, or with a range (of the default parameters, unless they are given) as a job",
    ).argument("<layer>"),
  )
    .option("--soft", "removes nothing: the tiles of the whole layer are stale, and served until they are drawn anew")
    .option("--wait", "until the job has ended; the exit code is its outcome")
    .action(async (layer: string, flags: RangeFlags & FollowFlags & { soft?: boolean }) => {
      const client = new ServerClient(flags);
      if (isRangeGiven(flags)) {
        if (flags.soft === true)
          throw new CommandFailure("--soft goes with a whole layer, not with a range", EXIT.usage);
        const request = { layer, type: "truncate", ...rangeFields(flags) };
        return tellMadeJob(await client.ask("POST", "/api/v1/jobs", NONE, request), flags, client);
      }
      // Answered when no reader can see the tiles any more.
      const request = { layer, mode: flags.soft === true ? "soft" : "hard" };
      tell(await client.ask("POST", "/api/v1/truncations", NONE, request), flags, showTruncated);
    });
}
