import type { Command } from "commander";
import { serverCommand } from "../client/answer.ts";
import { type FollowFlags, printMade } from "../client/follow-job.ts";
import { addKeyFlag, requestOnce } from "../client/request-once.ts";
import { ServerClient } from "../client/server-client.ts";
import { addConfirmFlag, type ConfirmFlags, requestConfirmed } from "./confirm.ts";
import {
  addFieldFlags,
  addRangeFlags,
  addRenderFlags,
  addTermsFlags,
  type JobFlags,
  jobRequest,
  LAYERS,
} from "./job-flags.ts";
import { supersedeOption, threadsOption, waitOption } from "./shared-options.ts";

type SeedFlags = JobFlags & ConfirmFlags & FollowFlags;

/** `nuthatch seed LAYER` renders missing and expired tiles; `nuthatch reseed LAYER` renders all tiles. */
export function seedCommand(type: "seed" | "reseed"): Command {
  const what = type === "seed" ? "renders the tiles that are missing or expired" : "renders every tile anew";
  const command = addRangeFlags(
    serverCommand(type, `${what}; a job of a running server`).argument("<layer...>", LAYERS),
  );
  if (type === "reseed") addFieldFlags(command, "reseeds").addOption(supersedeOption("it"));
  return addKeyFlag(addConfirmFlag(addTermsFlags(addRenderFlags(command))))
    .addOption(threadsOption("it"))
    .addOption(waitOption())
    .action(async (layers: readonly string[], flags: SeedFlags) => {
      const client = new ServerClient(flags);
      const request = jobRequest(type, layers, flags);
      const made = await requestConfirmed(
        (confirm) => requestOnce(client, "/api/v1/jobs", flags, { ...request, ...confirm }),
        flags,
      );
      await printMade(made, flags, client);
    });
}
