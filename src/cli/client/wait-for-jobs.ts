import { type ProgressLine, progressLine } from "../output/progress-line.ts";
import { barOf, progressText } from "../output/progress-text.ts";
import { parseAnswer, type Received } from "./answer.ts";
import { retryWhileBusy } from "./retry-wait.ts";
import type { RequestOptions, ServerClient } from "./server-client.ts";

/** A terminal's progress line is rewritten every second; a log gets a line every ten seconds. */
const TERMINAL_WAIT_SECONDS = 1;
const PIPE_WAIT_SECONDS = 10;
const MOST_LISTED = 1_000;

/** Sends a GET request. */
type Read = (path: string, options?: RequestOptions) => Promise<string>;

/**
 * Waits until all jobs have ended and returns their documents. Shows progress on stderr, because stdout is for the
 * answer.
 */
export async function waitForJobs(ids: readonly number[], client: ServerClient): Promise<readonly string[]> {
  const line = progressLine();
  const seen = new Map<number, Received<"Job">>();
  const texts = new Map<number, string>();
  const left = (): number[] => ids.filter((id) => (seen.get(id)?.outcome ?? null) === null);
  using _ = watch(line, () => [...seen.values()].filter(({ outcome }) => outcome === null));
  const wait = process.stderr.isTTY ? TERMINAL_WAIT_SECONDS : PIPE_WAIT_SECONDS;
  // The first request is not repeated, because a wrong address is likelier than a restart.
  const read: Read = (path, options) =>
    seen.size === 0
      ? client.request("GET", path, options)
      : retryWhileBusy(
          client.clock,
          () => client.request("GET", path, options),
          (why) => line.show(why),
        );
  let reportedMs = Number.NEGATIVE_INFINITY;
  for (let [first, ...others] = left(); first !== undefined; [first, ...others] = left()) {
    const text = await read(`/api/v1/jobs/${first}`, seen.size === 0 ? {} : { query: { wait } });
    texts.set(first, text);
    seen.set(first, parseAnswer(text));
    for await (const job of listed(others, read)) seen.set(job.id, job);
    if (left().length === 0) break;
    // The jobs of a long list may end in quick succession. One log line for each would be too many.
    if (!process.stderr.isTTY && client.clock.monotonicNow() - reportedMs < wait * 1000 - 500) continue;
    reportedMs = client.clock.monotonicNow();
    const jobs = ids.flatMap((id) => seen.get(id) ?? []);
    line.show(progressText(jobs), barOf(jobs));
  }
  const documents: string[] = [];
  // A list has fewer fields than a job's own document, so jobs that were only seen in a list are requested.
  for (const id of ids) documents.push((texts.get(id) ?? (await read(`/api/v1/jobs/${id}`))).trim());
  return documents;
}

/**
 * Yields the given jobs from pages of the job list. The ids of one request are consecutive, so few other jobs are read.
 */
async function* listed(ids: readonly number[], read: Read): AsyncGenerator<Received<"Job">> {
  const wanted = new Set(ids);
  const lowest = Math.min(...ids);
  for (let after = Math.max(...ids) + 1; after > lowest; ) {
    const limit = Math.min(MOST_LISTED, after - lowest);
    const text = await read("/api/v1/jobs", { query: { limit, after } });
    const { jobs }: Received<"Jobs"> = parseAnswer(text);
    for (const job of jobs) if (wanted.has(job.id)) yield job;
    const last = jobs.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/**
 * On SIGINT and SIGTERM, reports that the jobs continue at the server, then lets the signal end the program. When
 * disposed, clears the progress line and no longer handles signals.
 */
function watch(line: ProgressLine, left: () => readonly Received<"Job">[]): Disposable {
  const signals = ["SIGINT", "SIGTERM"] as const;
  const end = (signal: NodeJS.Signals): void => {
    release();
    process.stderr.write(leftText(left()));
    // The parent process must see that a signal ended the program. Otherwise a shell's loop would continue.
    process.kill(process.pid, signal);
  };
  const release = (): void => {
    line.close();
    for (const signal of signals) process.off(signal, end);
  };
  for (const signal of signals) process.on(signal, end);
  return { [Symbol.dispose]: release };
}

function leftText(jobs: readonly Received<"Job">[]): string {
  const [first, ...others] = jobs;
  if (first === undefined) return "";
  const { id, requestedWith } = first;
  if (others.length === 0)
    return `Job ${id} continues on the server. nuthatch job ${id} --wait waits for it again, nuthatch cancel ${id} cancels it.\n`;
  const isOneRequest = requestedWith !== null && others.every((job) => job.requestedWith === requestedWith);
  const again = isOneRequest
    ? `nuthatch jobs --requested-with ${requestedWith} --wait waits for them again.`
    : "nuthatch jobs lists them.";
  return `${jobs.length} jobs continue on the server. ${again}\n`;
}
