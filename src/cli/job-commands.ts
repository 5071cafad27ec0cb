import { type Command, Option } from "commander";
import { type AnswerFlags, askingCommand, NONE, tell } from "./answer.ts";
import { type FollowFlags, parseJobId, tellEndedJob, tellMadeJob } from "./follow-job.ts";
import { showJob, showJobs, showProgress } from "./job-text.ts";
import { parseWhole } from "./range-flags.ts";
import { ServerClient } from "./server-client.ts";
import { addTermsFlags, areTermsGiven, type TermsFlags, termsFields } from "./terms-flags.ts";

/** `nuthatch jobs`: jobs with their outcome. */
export function jobsCommand(): Command {
  return askingCommand("jobs", "jobs of a running server with their outcome, newest first")
    .option("--layer <name>", "of one layer")
    .addOption(new Option("--state <state>", "in one state").choices(["pending", "running", "done", "aborted"]))
    .option("--limit <n>", "so many at most", parseWhole(1, 1000), 20)
    .action(async (flags: AnswerFlags & { layer?: string; state?: string; limit: number }) => {
      const query = new URLSearchParams({ limit: String(flags.limit) });
      if (flags.layer !== undefined) query.set("layer", flags.layer);
      if (flags.state !== undefined) query.set("state", flags.state);
      tell(await new ServerClient(flags).ask("GET", "/api/v1/jobs", query), flags, showJobs);
    });
}

/** `nuthatch job ID`: one job in full; with flags on how it runs that is changed first. */
export function jobCommand(): Command {
  return addTermsFlags(askingCommand("job", "one job in full, or changes how it runs").argument("<id>", "", parseJobId))
    .option("--wait", "until it has ended; the exit code is its outcome")
    .action(async (id: number, flags: FollowFlags & TermsFlags) => {
      const client = new ServerClient(flags);
      if (areTermsGiven(flags)) await client.ask("PATCH", `/api/v1/jobs/${id}`, NONE, termsFields(flags));
      if (flags.wait === true) return tellEndedJob(id, flags, client);
      tell(await client.ask("GET", `/api/v1/jobs/${id}`, NONE), flags, showJob);
    });
}

/** `nuthatch pause ID`, `nuthatch resume ID`. */
export function holdCommand(action: "pause" | "resume"): Command {
  const what = action === "pause" ? "stops a job until it is resumed, over restarts too" : "lets a paused job go on";
  return askingCommand(action, what)
    .argument("<id>", "", parseJobId)
    .action(async (id: number, flags: AnswerFlags) => {
      tell(await new ServerClient(flags).ask("POST", `/api/v1/jobs/${id}/${action}`, NONE), flags, showProgress);
    });
}

/** `nuthatch retry ID`: a new job over what failed, or was not done. */
export function retryCommand(): Command {
  return askingCommand("retry", "a new job over the tiles that failed, or that an aborted job did not come to")
    .argument("<id>", "", parseJobId)
    .option("--wait", "until the new job has ended; the exit code is its outcome")
    .action(async (id: number, flags: FollowFlags) => {
      const client = new ServerClient(flags);
      await tellMadeJob(await client.ask("POST", `/api/v1/jobs/${id}/retry`, NONE), flags, client);
    });
}
