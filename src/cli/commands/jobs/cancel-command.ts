import type { Command } from "commander";
import { type AnswerFlags, print, requestAnswer } from "../../client/answer.ts";
import { type ServerClient, ServerRefusal } from "../../client/server-client.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { showBatch, showProgress } from "../../output/progress-text.ts";
import { connect, requestAndPrint, serverCommand } from "../server-command.ts";
import { JOB_ID, layerOption, parseJobId, requestedWithOption } from "../shared-options.ts";

const MOST_LISTED = 1_000;

const TASKS = `
A job has one task for each of its threads, with ids of their own: nuthatch job ID lists them, and so does
/rest/seed.json. To end one task, whose share the others of its job take over:
  curl -d 'kill_thread=1&thread_id=TASK' URL/rest/seed/LAYER`;

interface CancelFlags extends AnswerFlags {
  readonly all?: boolean;
  readonly layer?: string;
  readonly requestedWith?: number;
}

/**
 * `nuthatch cancel ID | --requested-with ID | --layer NAME | --all`, also by its classic name `kill`. Requires exactly
 * one of them, so that an empty shell variable never cancels all jobs.
 */
export function cancelCommand(): Command {
  return serverCommand(
    "cancel",
    "cancels one job, the jobs of a layer, or all jobs; when the command returns, no more tiles are rendered for them",
  )
    .alias("kill")
    .argument("[job]", JOB_ID, parseJobId)
    .addOption(requestedWithOption())
    .option("--all", "cancel every job")
    .addOption(layerOption("cancel every job of a layer"))
    .addHelpText("after", TASKS)
    .action(async (id: number | undefined, flags: CancelFlags) => {
      const { all, layer, requestedWith, json } = flags;
      if ([id, all, layer, requestedWith].filter((given) => given !== undefined).length !== 1 || layer === "")
        throw new CommandFailure("expected either the id of a job, --requested-with, --layer or --all", EXIT.usage);
      if (id !== undefined)
        return requestAndPrint(flags, showProgress, "POST", `/api/v1/jobs/${id}/cancel`).catch(explainUnknown);
      if (requestedWith !== undefined)
        return requestAndPrint(flags, showBatch, "POST", `/api/v1/batches/${requestedWith}/cancel`);
      if (json === true) throw new CommandFailure("--json goes with the id of a job only", EXIT.usage);
      // One request cancels all jobs, so that the jobs of a concurrent request are cancelled together or not at all.
      const path = layer === undefined ? "/rest/seed" : `/rest/seed/${encodeURIComponent(layer)}`;
      const client = connect(flags);
      const page = await client.request("POST", path, { query: { kill_all: "all" } });
      const tasks = [...page.matchAll(/<li>\[(\d+): /g)].map(([, task]) => Number(task));
      print(cancelledText(await jobsOf(new Set(tasks), client)));
    });
}

/** Adds to the refusal of an unknown job that task ids are not job ids. */
function explainUnknown(error: unknown): never {
  if (!(error instanceof ServerRefusal) || error.status !== 404) throw error;
  throw new CommandFailure(
    `${error.message} (expected the id of a job, as nuthatch jobs lists it; /rest/seed.json lists ids of tasks)`,
    error.exitCode,
  );
}

/**
 * Returns the ids of the jobs with these tasks, newest first. Both kinds of ids increase, so the first job without such
 * a task ends the search.
 */
async function jobsOf(tasks: ReadonlySet<number>, client: ServerClient): Promise<readonly number[]> {
  const first = [...tasks].reduce((least, task) => Math.min(least, task), Number.POSITIVE_INFINITY);
  const found: number[] = [];
  for (let after: number | undefined; tasks.size > 0; ) {
    const query = { limit: MOST_LISTED, after };
    const { jobs } = await requestAnswer<"Jobs">(client, "/api/v1/jobs", query);
    for (const job of jobs) {
      if (job.tasks.some((task) => tasks.has(task))) found.push(job.id);
      else if (job.tasks.length > 0 && job.tasks.every((task) => task < first)) return found;
    }
    const last = jobs.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  return found;
}

function cancelledText(jobs: readonly number[]): string {
  if (jobs.length === 0) return "There was no job to cancel.\n";
  return jobs.length === 1
    ? `Job ${jobs[0]} has been cancelled.\n`
    : `${jobs.length} jobs have been cancelled: ${jobs.join(", ")}.\n`;
}
