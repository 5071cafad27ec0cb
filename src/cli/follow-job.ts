import { setTimeout as sleep } from "node:timers/promises";
import { type AnswerFlags, exactNumbers, NONE, say, tell } from "./answer.ts";
import { CommandFailure, EXIT } from "./exit.ts";
import { acceptedText, type JobAnswer, type JobsAnswer, progressText, showJob, showJobs } from "./job-text.ts";
import { progressLine } from "./progress-line.ts";
import { type ServerClient, ServerUnreachable } from "./server-client.ts";

/** A line a second on a terminal, where it overwrites itself; seldom in a log. */
const TERMINAL_WAIT_SECONDS = 1;
const PIPE_WAIT_SECONDS = 10;
/** A job outlives a restart of its server, so does the waiting for it. */
const UNREACHABLE_LIMIT_MS = 120_000;
const UNREACHABLE_PAUSE_MS = 1_000;

export interface FollowFlags extends AnswerFlags {
  readonly wait?: boolean;
}

export const readJob = (text: string): JobAnswer => JSON.parse(exactNumbers(text));

/** Shows a job that has just been made, or with `--wait` how it ended. */
export async function tellMadeJob(text: string, flags: FollowFlags, client: ServerClient): Promise<void> {
  const made = readJob(text);
  if (flags.wait !== true) return tell(text, flags, acceptedText);
  if (flags.json !== true) say(acceptedText(made));
  await tellEndedJob(made.id, flags, client);
}

/** Waits for a job and shows it; the exit code is its outcome. */
export async function tellEndedJob(id: number, flags: FollowFlags, client: ServerClient): Promise<void> {
  const text = await ended(id, client);
  tell(text, flags, showJob);
  process.exitCode = exitCodeOf(readJob(text));
}

/** Shows the jobs that a request has just made, one or several, or with `--wait` how they ended. */
export async function tellMade(text: string, flags: FollowFlags, client: ServerClient): Promise<void> {
  const made: JobAnswer | JobsAnswer = JSON.parse(exactNumbers(text));
  if (!("jobs" in made)) return tellMadeJob(text, flags, client);
  if (flags.wait !== true) return tell(text, flags, showJobs);
  if (flags.json !== true) say(`${made.jobs.length} ${made.jobs.length === 1 ? "job" : "jobs"}.\n`);
  const texts: string[] = [];
  for (const { id } of made.jobs) texts.push((await ended(id, client)).trim());
  tell(`{"jobs":[${texts.join(",")}]}`, flags, showJobs);
  // The worst of them: an ended job has one of three codes, and a failure counts more than failed tiles.
  const codes = new Set(texts.map((one) => exitCodeOf(readJob(one))));
  process.exitCode = [EXIT.failure, EXIT.failedTiles].find((code) => codes.has(code)) ?? EXIT.ok;
}

const exitCodeOf = ({ outcome }: JobAnswer) =>
  outcome === "done" ? EXIT.ok : outcome === "done_with_failures" ? EXIT.failedTiles : EXIT.failure;

/** The job's document once it has ended; its progress goes to stderr, so that stdout is the answer alone. */
async function ended(id: number, client: ServerClient): Promise<string> {
  const line = progressLine();
  const query = new URLSearchParams({
    wait: String(process.stderr.isTTY ? TERMINAL_WAIT_SECONDS : PIPE_WAIT_SECONDS),
  });
  const path = `/api/v1/jobs/${id}`;
  let unreachableSinceMs: number | undefined;
  try {
    for (let first = true; ; first = false) {
      try {
        const text = await client.ask("GET", path, first ? NONE : query);
        unreachableSinceMs = undefined;
        const job = readJob(text);
        if (job.outcome !== null) return text;
        line.show(progressText(job));
      } catch (error) {
        unreachableSinceMs ??= performance.now();
        // At the first question a wrong address is likelier than a restart.
        const isHopeless = first || performance.now() - unreachableSinceMs > UNREACHABLE_LIMIT_MS;
        if (!(error instanceof ServerUnreachable) || isHopeless) throw error;
        line.show(`job ${id}: ${error.message}; waiting for the server`);
        await sleep(UNREACHABLE_PAUSE_MS);
      }
    }
  } finally {
    line.close();
  }
}

/** The id of a job on the command line. */
export function parseJobId(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new CommandFailure(`expected the id of a job, a whole number, got ${text}`, EXIT.usage);
  return Number(text);
}
