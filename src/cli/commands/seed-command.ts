import type { Command } from "commander";
import { serverCommand } from "../client/answer.ts";
import { type FollowFlags, printMade } from "../client/follow-job.ts";
import { addKeyFlag } from "../client/request-once.ts";
import { ServerClient } from "../client/server-client.ts";
import { addConfirmFlag, type ConfirmFlags, makeJob } from "./make-job.ts";
import {
  addAgeFlags,
  addRangeFlags,
  addRenderFlags,
  type ChoiceFlags,
  choiceFields,
  LAYERS,
  layerFields,
  MOST_THREADS,
  parseWhole,
  type RangeFlags,
  rangeFields,
} from "./range-flags.ts";
import { addTermsFlags, type TermsFlags, termsFields } from "./terms-flags.ts";

interface SeedFlags extends RangeFlags, ChoiceFlags, ConfirmFlags, FollowFlags, TermsFlags {
  readonly threads?: number;
  readonly supersede?: true;
}

/** `nuthatch seed LAYER` renders missing and expired tiles; `nuthatch reseed LAYER` renders all tiles. */
export function seedCommand(type: "seed" | "reseed"): Command {
  const what = type === "seed" ? "renders the tiles that are missing or expired" : "renders every tile anew";
  const command = addRangeFlags(
    serverCommand(type, `${what}; a job of a running server`).argument("<layer...>", LAYERS),
  );
  if (type === "reseed")
    addAgeFlags(command).option("--supersede", "older seeds and reseeds of the layer that lie within it end");
  return addKeyFlag(addConfirmFlag(addTermsFlags(addRenderFlags(command))))
    .option("--threads <n>", "tasks that work on it at once", parseWhole(1, MOST_THREADS))
    .option("--wait", "until it has ended; the exit code is its outcome")
    .action(async (layers: readonly string[], flags: SeedFlags) => {
      const client = new ServerClient(flags);
      const how = { threadCount: flags.threads, ...termsFields(flags), supersede: flags.supersede };
      const request = { ...layerFields(layers), type, ...rangeFields(flags), ...choiceFields(flags), ...how };
      await printMade(await makeJob(request, flags, client), flags, client);
    });
}
