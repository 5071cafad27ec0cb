import type { Command } from "commander";
import { type FollowFlags, printMade } from "../../client/follow-job.ts";
import { addConfirmFlag, type ConfirmFlags, requestConfirmed } from "../confirm.ts";
import { connect, serverCommand } from "../server-command.ts";
import { supersedeOption, threadsOption, waitOption } from "../shared-options.ts";
import {
  addFieldFlags,
  addRangeFlags,
  addRenderFlags,
  addTermsFlags,
  type JobFlags,
  jobRequest,
  LAYERS,
} from "./job-flags.ts";
import { addKeyFlag, requestOnce } from "./request-once.ts";

const EXAMPLES = {
  seed: `
Examples:
  nuthatch seed ws:roads --zoom 0-10 --wait
  nuthatch seed 'ws:*' --grid-set EPSG:900913 --zoom 8-14 --area city.geojson --threads 4
  nuthatch seed ws:roads --zoom 15-18 --run-window 22:00-06:00 --time-zone Europe/Zurich --rate-limit 50`,
  reseed: `
Examples:
  nuthatch reseed ws:roads --zoom 0-10 --wait
  nuthatch reseed ws:roads --only-existing --older-than P30D --run-window 22:00-06:00
  nuthatch reseed ws:roads --zoom 8-16 --area changed.geojson --area-crs EPSG:4326 --supersede`,
} as const;

type SeedFlags = JobFlags & ConfirmFlags & FollowFlags;

/** `nuthatch seed LAYER` renders missing and expired tiles; `nuthatch reseed LAYER` renders all tiles. */
export function seedCommand(type: "seed" | "reseed"): Command {
  const what = type === "seed" ? "renders the tiles that are missing or expired" : "renders every tile again";
  const command = addRangeFlags(
    serverCommand(type, `${what}; a job of a running server`).argument("<layer...>", LAYERS),
  );
  if (type === "reseed") addFieldFlags(command, "reseeds").addOption(supersedeOption("this job"));
  return addKeyFlag(addConfirmFlag(addTermsFlags(addRenderFlags(command))))
    .addOption(threadsOption("the job"))
    .addOption(waitOption())
    .addHelpText("after", EXAMPLES[type])
    .action(async (layers: readonly string[], flags: SeedFlags) => {
      const client = connect(flags);
      const request = jobRequest(type, layers, flags);
      const made = await requestConfirmed(
        (confirm) => requestOnce(client, "/api/v1/jobs", flags, { ...request, ...confirm }),
        flags,
      );
      await printMade(made, flags, client);
    });
}
