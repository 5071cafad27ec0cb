import type { JobAnswer, JobsAnswer } from "../output/job-text.ts";
import { type ProgressLine, progressLine } from "../output/progress-line.ts";
import { barOf, progressText } from "../output/progress-text.ts";
import { exactNumbers, NONE } from "./answer.ts";
import { retryWhileBusy } from "./retry-wait.ts";
import type { ServerClient } from "./server-client.ts";

/** A line a second on a terminal, where it overwrites itself; seldom in a log. */
const TERMINAL_WAIT_SECONDS = 1;
const PIPE_WAIT_SECONDS = 10;
const MOST_LISTED = 1_000;

export const readJob = (text: string): JobAnswer => JSON.parse(exactNumbers(text));

/** The jobs' documents once all have ended; their progress goes to stderr, so that stdout is the answer alone. */
export async function waitForJobs(ids: readonly number[], client: ServerClient): Promise<readonly string[]> {
  const line = progressLine();
  const seen = new Map<number, JobAnswer>();
  const texts = new Map<number, string>();
  const left = (): number[] => ids.filter((id) => (seen.get(id)?.outcome ?? null) === null);
  using _ = watch(line, () => [...seen.values()].filter(({ outcome }) => outcome === null));
  const wait = process.stderr.isTTY ? TERMINAL_WAIT_SECONDS : PIPE_WAIT_SECONDS;
  // At the first question a wrong address is likelier than a restart.
  const ask = (path: string, query: URLSearchParams): Promise<string> =>
    seen.size === 0
      ? client.ask("GET", path, query)
      : retryWhileBusy(
          () => client.ask("GET", path, query),
          (why) => line.show(why),
        );
  let toldMs = Number.NEGATIVE_INFINITY;
  for (let [first, ...others] = left(); first !== undefined; [first, ...others] = left()) {
    const query = seen.size === 0 ? NONE : new URLSearchParams({ wait: String(wait) });
    const text = await ask(`/api/v1/jobs/${first}`, query);
    texts.set(first, text);
    seen.set(first, readJob(text));
    for await (const job of listed(others, ask)) seen.set(job.id, job);
    if (left().length === 0) break;
    // Short jobs of a long list end one after the other.
    if (!process.stderr.isTTY && performance.now() - toldMs < wait * 1000 - 500) continue;
    toldMs = performance.now();
    const jobs = ids.flatMap((id) => seen.get(id) ?? []);
    line.show(progressText(jobs), barOf(jobs));
  }
  const documents: string[] = [];
  // Lists tell less of a job.
  for (const id of ids) documents.push((texts.get(id) ?? (await ask(`/api/v1/jobs/${id}`, NONE))).trim());
  return documents;
}

/** Those of the jobs that lists show: ids that were made together are neighbours, so that few are asked for in vain. */
async function* listed(
  ids: readonly number[],
  ask: (path: string, query: URLSearchParams) => Promise<string>,
): AsyncGenerator<JobAnswer> {
  const asked = new Set(ids);
  const lowest = Math.min(...ids);
  for (let after = Math.max(...ids) + 1; after > lowest; ) {
    const limit = Math.min(MOST_LISTED, after - lowest);
    const page = new URLSearchParams({ limit: String(limit), after: String(after) });
    const { jobs }: JobsAnswer = JSON.parse(exactNumbers(await ask("/api/v1/jobs", page)));
    for (const job of jobs) if (asked.has(job.id)) yield job;
    const last = jobs.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** Takes the line away at the end; a signal that comes before is told what becomes of the jobs. */
function watch(line: ProgressLine, left: () => readonly JobAnswer[]): Disposable {
  const signals = ["SIGINT", "SIGTERM"] as const;
  const end = (signal: NodeJS.Signals): void => {
    release();
    process.stderr.write(leftText(left()));
    // So that whoever has started it sees a signal, and a loop of a shell ends.
    process.kill(process.pid, signal);
  };
  const release = (): void => {
    line.close();
    for (const signal of signals) process.off(signal, end);
  };
  for (const signal of signals) process.on(signal, end);
  return { [Symbol.dispose]: release };
}

function leftText(jobs: readonly JobAnswer[]): string {
  const [first, ...others] = jobs;
  if (first === undefined) return "";
  const { id, requestedWith } = first;
  if (others.length === 0)
    return `Job ${id} goes on at the server. nuthatch job ${id} --wait waits for it again, nuthatch kill ${id} ends it.\n`;
  const isOneRequest = requestedWith !== null && others.every((job) => job.requestedWith === requestedWith);
  const again = isOneRequest
    ? `nuthatch jobs --requested-with ${requestedWith} --wait waits for them again.`
    : "nuthatch jobs lists them.";
  return `${jobs.length} jobs go on at the server. ${again}\n`;
}
