import type { Command } from "commander";
import { askingCommand, NONE, say } from "./answer.ts";
import { type FollowFlags, tellMade } from "./follow-job.ts";
import { addRangeFlags, isRangeGiven, LAYERS, layerFields, type RangeFlags, rangeFields } from "./range-flags.ts";
import { ServerClient } from "./server-client.ts";

/** `nuthatch truncate LAYER`: the whole layer at once, or a range of it as a job. */
export function truncateCommand(): Command {
  return addRangeFlags(
    askingCommand(
      "truncate",
      "removes tiles: of a whole layer at once, or of several, or with a range (of the default parameters, unless they are given) as jobs",
    ).argument("<layer...>", LAYERS),
  )
    .option("--wait", "until the job has ended; the exit code is its outcome")
    .action(async (layers: readonly string[], flags: RangeFlags & FollowFlags) => {
      const client = new ServerClient(flags);
      const fields = layerFields(layers);
      if (isRangeGiven(flags) || !("layer" in fields)) {
        // Of several whole layers all that is kept.
        const range = isRangeGiven(flags) ? rangeFields(flags) : { parameterSets: "*" };
        const request = { ...fields, type: "truncate", ...range };
        return tellMade(await client.ask("POST", "/api/v1/jobs", NONE, request), flags, client);
      }
      // Answered when no reader can see the tiles any more; the answer is empty.
      await client.ask("POST", "/rest/masstruncate", new URLSearchParams({ requestType: "truncateLayer", ...fields }));
      if (flags.json !== true) say(`${fields.layer} is empty.\n`);
    });
}
