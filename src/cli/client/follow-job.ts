import { EXIT } from "../exit.ts";
import { acceptedText, showJob, showJobs } from "../output/job-text.ts";
import { type AnswerFlags, parseAnswer, print, printAnswer, type Received } from "./answer.ts";
import type { ServerClient } from "./server-client.ts";
import { waitForJobs } from "./wait-for-jobs.ts";

export interface FollowFlags extends AnswerFlags {
  readonly wait?: boolean;
}

/** Waits until a job ends and shows the job. The outcome sets the exit code. */
export async function printEndedJob(id: number, flags: FollowFlags, client: ServerClient): Promise<void> {
  const texts = await waitForJobs([id], client);
  printAnswer(texts.join(""), flags, showJob);
  process.exitCode = exitCodeOf(texts);
}

/** Prints the jobs of a request. With `--wait`, waits until they have ended and prints their outcomes. */
export async function printMade(text: string, flags: FollowFlags, client: ServerClient): Promise<void> {
  const made: Received<"Job"> | Received<"Jobs"> = parseAnswer(text);
  if ("jobs" in made) {
    if (flags.wait !== true) return printAnswer(text, flags, showJobs);
    if (flags.json !== true) print(`${made.jobs.length} ${made.jobs.length === 1 ? "job" : "jobs"}.\n`);
    return printEndedJobs(made, flags, client);
  }
  if (flags.wait !== true) return printAnswer(text, flags, acceptedText);
  if (flags.json !== true) print(acceptedText(made));
  await printEndedJob(made.id, flags, client);
}

/** Waits until all jobs end and shows them. The worst outcome sets the exit code. */
export async function printEndedJobs(
  { jobs }: Received<"Jobs">,
  flags: FollowFlags,
  client: ServerClient,
): Promise<void> {
  const texts = await waitForJobs(
    jobs.map(({ id }) => id),
    client,
  );
  printAnswer(`{"jobs":[${texts.join(",")}]}`, flags, showJobs);
  process.exitCode = exitCodeOf(texts);
}

/**
 * Returns the exit code for ended jobs. A job that was aborted, or whose tiles have all failed, is worse than a job
 * with some failed tiles.
 */
function exitCodeOf(texts: readonly string[]): number {
  const outcomes = new Set(texts.map((text) => parseAnswer<Received<"Job">>(text).outcome));
  if (outcomes.has("aborted") || outcomes.has("failed")) return EXIT.failure;
  return outcomes.has("done_with_failures") ? EXIT.failedTiles : EXIT.ok;
}
