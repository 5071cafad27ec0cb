import type { Command } from "commander";
import { askingCommand, NONE } from "./answer.ts";
import { type FollowFlags, tellMade } from "./follow-job.ts";
import {
  addRangeFlags,
  LAYERS,
  layerFields,
  MOST_THREADS,
  parseWhole,
  type RangeFlags,
  rangeFields,
} from "./range-flags.ts";
import { ServerClient } from "./server-client.ts";

/** `nuthatch seed LAYER`, `nuthatch reseed LAYER`: draw what is missing, or everything. */
export function seedCommand(type: "seed" | "reseed"): Command {
  const what = type === "seed" ? "draws the tiles that are missing or expired" : "draws every tile anew";
  return addRangeFlags(askingCommand(type, `${what}; a job of a running server`).argument("<layer...>", LAYERS))
    .option("--threads <n>", "tasks that work on it at once", parseWhole(1, MOST_THREADS))
    .option("--wait", "until it has ended; the exit code is its outcome")
    .action(async (layers: readonly string[], flags: RangeFlags & FollowFlags & { threads?: number }) => {
      const client = new ServerClient(flags);
      const request = { ...layerFields(layers), type, ...rangeFields(flags), threadCount: flags.threads };
      await tellMade(await client.ask("POST", "/api/v1/jobs", NONE, request), flags, client);
    });
}
