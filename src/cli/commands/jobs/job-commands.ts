import { type Command, Option } from "commander";
import { defined } from "../../../lib/defined.ts";
import { JOB_OUTCOMES, JOB_STATES } from "../../../plan/job/job-request.ts";
import { type AnswerFlags, parseAnswer, printAnswer, type Received } from "../../client/answer.ts";
import { type FollowFlags, printEndedJob, printEndedJobs, printMade } from "../../client/follow-job.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { showJob, showJobs } from "../../output/job-text.ts";
import { showBatch, showProgress } from "../../output/progress-text.ts";
import { connect, requestAndPrint, serverCommand } from "../server-command.ts";
import {
  JOB_ID,
  layerOption,
  parseJobId,
  parseWhole,
  requestedWithOption,
  threadsOption,
  waitOption,
} from "../shared-options.ts";
import { addTermsFlags, type TermsFlags, termsFields } from "./job-flags.ts";
import { addKeyFlag, type KeyFlags, requestOnce } from "./request-once.ts";

/** The most jobs that one request can create. */
const MOST_JOBS = 1_000;
const JOBS_BY_DEFAULT = 20;

/** An additional state: a paused job is pending until it is resumed. */
const PAUSED = "paused";

interface JobsFlags extends FollowFlags {
  readonly layer?: string;
  readonly state?: string;
  readonly outcome?: string;
  readonly requestedWith?: number;
  readonly limit?: number;
}

/** `nuthatch jobs`: lists jobs with their outcome. */
export function jobsCommand(): Command {
  return serverCommand("jobs", "lists the jobs of a running server with their ids and outcomes, newest first")
    .addOption(layerOption())
    .addOption(
      new Option("--state <state>", "only jobs in one state; paused: jobs that wait to be resumed").choices([
        ...JOB_STATES,
        PAUSED,
      ]),
    )
    .addOption(new Option("--outcome <outcome>", "only ended jobs with one outcome").choices(JOB_OUTCOMES))
    .addOption(requestedWithOption("the jobs that one request created together with this job"))
    .option(
      "--limit <n>",
      "the largest number of jobs to list (20; with --requested-with all)",
      parseWhole(1, MOST_JOBS),
    )
    .addOption(waitOption("these jobs have", "the worst outcome"))
    .action(async (flags: JobsFlags) => {
      const { layer, outcome, requestedWith } = flags;
      const state = flags.state === PAUSED ? { paused: true } : { state: flags.state };
      const limit = flags.limit ?? (requestedWith === undefined ? JOBS_BY_DEFAULT : MOST_JOBS);
      const client = connect(flags);
      const text = await client.request("GET", "/api/v1/jobs", {
        query: { limit, layer, ...state, outcome, requestedWith },
      });
      if (flags.wait === true) await printEndedJobs(parseAnswer<Received<"Jobs">>(text), flags, client);
      else printAnswer(text, flags, showJobs);
    });
}

/** `nuthatch job ID`: shows one job completely. Flags such as `--priority` first change the job. */
export function jobCommand(): Command {
  return addTermsFlags(
    serverCommand("job", "shows one job in full, or changes how it runs").argument("<job>", JOB_ID, parseJobId),
  )
    .addOption(threadsOption("it", ""))
    .addOption(waitOption())
    .action(async (id: number, flags: FollowFlags & TermsFlags & { readonly threads?: number }) => {
      const client = connect(flags);
      const terms = defined({ ...termsFields(flags), threadCount: flags.threads });
      if (Object.keys(terms).length > 0) await client.request("PATCH", `/api/v1/jobs/${id}`, { document: terms });
      if (flags.wait === true) return printEndedJob(id, flags, client);
      printAnswer(await client.request("GET", `/api/v1/jobs/${id}`), flags, showJob);
    });
}

/** `nuthatch pause ID | --requested-with ID`, `nuthatch resume …`. */
export function pauseOrResumeCommand(action: "pause" | "resume"): Command {
  const what = action === "pause" ? "stops a job until it is resumed, also over a restart" : "resumes a paused job";
  return serverCommand(action, what)
    .argument("[job]", JOB_ID, parseJobId)
    .addOption(requestedWithOption())
    .action((id: number | undefined, flags: AnswerFlags & { readonly requestedWith?: number }) => {
      const { requestedWith } = flags;
      if ((id === undefined) === (requestedWith === undefined))
        throw new CommandFailure("expected either the id of a job or --requested-with", EXIT.usage);
      return id === undefined
        ? requestAndPrint(flags, showBatch, "POST", `/api/v1/batches/${requestedWith}/${action}`)
        : requestAndPrint(flags, showProgress, "POST", `/api/v1/jobs/${id}/${action}`);
    });
}

/** `nuthatch retry ID`: creates a job for the tiles that failed, or that an aborted job did not reach. */
export function retryCommand(): Command {
  return addKeyFlag(
    serverCommand("retry", "creates a job over the tiles that failed, or that an aborted job did not reach"),
  )
    .argument("<job>", JOB_ID, parseJobId)
    .addOption(waitOption("the new job has"))
    .action(async (id: number, flags: FollowFlags & KeyFlags) => {
      const client = connect(flags);
      await printMade(await requestOnce(client, `/api/v1/jobs/${id}/retry`, flags), flags, client);
    });
}
