import { type Command, Option } from "commander";
import { type AnswerFlags, askingCommand, exactNumbers, NONE, tell } from "../client/answer.ts";
import { addKeyFlag, askOnce, type KeyFlags } from "../client/ask-once.ts";
import { type FollowFlags, parseJobId, printEndedJob, printEndedJobs, printMadeJob } from "../client/follow-job.ts";
import { ServerClient } from "../client/server-client.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { showJob, showJobs } from "../output/job-text.ts";
import { showBatch, showProgress } from "../output/progress-text.ts";
import { parseWhole } from "./range-flags.ts";
import { addTermsFlags, areTermsGiven, type TermsFlags, termsFields } from "./terms-flags.ts";

/** The most jobs that one request can create. */
const MOST_JOBS = 1_000;
const JOBS_BY_DEFAULT = 20;

interface JobsFlags extends FollowFlags {
  readonly layer?: string;
  readonly state?: string;
  readonly requestedWith?: number;
  readonly limit?: number;
}

/** `nuthatch jobs`: jobs with their outcome. */
export function jobsCommand(): Command {
  return askingCommand("jobs", "jobs of a running server with their outcome, newest first")
    .option("--layer <layer>", "of one layer")
    .addOption(new Option("--state <state>", "in one state").choices(["pending", "running", "done", "aborted"]))
    .option("--requested-with <job>", "those that one request has made with this one", parseJobId)
    .option("--limit <n>", "so many at most (20; of one request all)", parseWhole(1, MOST_JOBS))
    .option("--wait", "until those have ended; the exit code is the outcome of the worst")
    .action(async (flags: JobsFlags) => {
      const { layer, state, requestedWith } = flags;
      const limit = flags.limit ?? (requestedWith === undefined ? JOBS_BY_DEFAULT : MOST_JOBS);
      const query = new URLSearchParams({ limit: String(limit) });
      if (layer !== undefined) query.set("layer", layer);
      if (state !== undefined) query.set("state", state);
      if (requestedWith !== undefined) query.set("requestedWith", String(requestedWith));
      const client = new ServerClient(flags);
      const text = await client.ask("GET", "/api/v1/jobs", query);
      if (flags.wait === true) await printEndedJobs(JSON.parse(exactNumbers(text)), flags, client);
      else tell(text, flags, showJobs);
    });
}

/** `nuthatch job ID`: shows one job in full. Flags such as `--priority` change the job first. */
export function jobCommand(): Command {
  return addTermsFlags(
    askingCommand("job", "one job in full, or changes how it runs").argument("<job>", "", parseJobId),
  )
    .option("--wait", "until it has ended; the exit code is its outcome")
    .action(async (id: number, flags: FollowFlags & TermsFlags) => {
      const client = new ServerClient(flags);
      if (areTermsGiven(flags)) await client.ask("PATCH", `/api/v1/jobs/${id}`, NONE, termsFields(flags));
      if (flags.wait === true) return printEndedJob(id, flags, client);
      tell(await client.ask("GET", `/api/v1/jobs/${id}`, NONE), flags, showJob);
    });
}

/** `nuthatch pause ID | --requested-with ID`, `nuthatch resume …`. */
export function holdCommand(action: "pause" | "resume"): Command {
  const what = action === "pause" ? "stops a job until it is resumed, over restarts too" : "lets a paused job go on";
  return askingCommand(action, what)
    .argument("[job]", "", parseJobId)
    .option("--requested-with <job>", "all jobs of the request that made this one", parseJobId)
    .action(async (id: number | undefined, flags: AnswerFlags & { readonly requestedWith?: number }) => {
      const { requestedWith } = flags;
      if ((id === undefined) === (requestedWith === undefined))
        throw new CommandFailure("expected either the id of a job or --requested-with", EXIT.usage);
      const whose = id === undefined ? `batches/${requestedWith}` : `jobs/${id}`;
      const text = await new ServerClient(flags).ask("POST", `/api/v1/${whose}/${action}`, NONE);
      if (id === undefined) tell(text, flags, showBatch);
      else tell(text, flags, showProgress);
    });
}

/** `nuthatch retry ID`: creates a job over the tiles that failed or that an aborted job did not reach. */
export function retryCommand(): Command {
  return addKeyFlag(
    askingCommand("retry", "a new job over the tiles that failed, or that an aborted job did not come to"),
  )
    .argument("<job>", "", parseJobId)
    .option("--wait", "until the new job has ended; the exit code is its outcome")
    .action(async (id: number, flags: FollowFlags & KeyFlags) => {
      const client = new ServerClient(flags);
      await printMadeJob(await askOnce(client, `/api/v1/jobs/${id}/retry`, flags), flags, client);
    });
}
