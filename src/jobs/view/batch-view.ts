import { sumsOf } from "../../plan/job/job-counts.ts";
import type { BatchView, JobError, JobTiles, JobView } from "../../plan/job/job-documents.ts";
import type { JobOutcome, JobState } from "../../plan/job/job-request.ts";

/** Combines the jobs of one request, at least one, into one view. Pure. */
export function batchOf(id: number, jobs: readonly JobView[]): BatchView {
  const inOrder = [...jobs].sort((a, b) => a.id - b.id);
  const states = { pending: 0, running: 0, done: 0, aborted: 0 };
  for (const { state } of inOrder) states[state]++;
  const live = inOrder.filter(({ outcome }) => outcome === null);
  const tiles = tilesOf(inOrder);
  const times = (pick: (job: JobView) => string | null): readonly string[] =>
    inOrder.flatMap((job) => pick(job) ?? []).sort();
  return {
    id,
    jobs: states,
    state: stateOf(states, live),
    outcome: live.length > 0 ? null : worstOf(inOrder),
    paused: live.length > 0 && live.every(({ paused }) => paused),
    tiles,
    ...sumsOf((name) => inOrder.reduce((sum, job) => sum + job[name], 0n)),
    createdAt: times(({ createdAt }) => createdAt)[0] ?? "",
    startedAt: times(({ startedAt }) => startedAt)[0] ?? null,
    endedAt: live.length > 0 ? null : (times(({ endedAt }) => endedAt).at(-1) ?? null),
    errors: errorsOf(inOrder),
    retries: inOrder.reduce((sum, { retries }) => sum + retries, 0),
    tilesPerSecond: live.length > 0 ? rateOf(live) : pastRate(inOrder, tiles),
  };
}

function stateOf(states: BatchView["jobs"], live: readonly JobView[]): JobState {
  // A batch that has begun is running until its last job has ended, even while all unfinished jobs wait in the queue.
  const hasBegun = states.running + states.done + states.aborted > 0;
  if (live.length > 0) return hasBegun && live.some(({ paused }) => !paused) ? "running" : "pending";
  return states.aborted > 0 ? "aborted" : "done";
}

const worstOf = (jobs: readonly JobView[]): JobOutcome =>
  (["aborted", "failed", "done_with_failures"] as const).find((bad) => jobs.some(({ outcome }) => outcome === bad)) ??
  "done";

function tilesOf(jobs: readonly JobView[]): JobTiles {
  const sum = (count: (tiles: JobTiles) => bigint | undefined): bigint =>
    jobs.reduce((all, { tiles }) => all + (count(tiles) ?? 0n), 0n);
  const has = (kind: "unchanged" | "deleted"): boolean => jobs.some(({ tiles }) => tiles[kind] !== undefined);
  return {
    total: sum(({ total }) => total),
    stored: sum(({ stored }) => stored),
    skipped: sum(({ skipped }) => skipped),
    failed: sum(({ failed }) => failed),
    ...(has("unchanged") ? { unchanged: sum(({ unchanged }) => unchanged) } : {}),
    ...(has("deleted") ? { deleted: sum(({ deleted }) => deleted) } : {}),
  };
}

function errorsOf(jobs: readonly JobView[]): readonly JobError[] {
  const byClass = new Map<string, JobError>();
  for (const error of jobs.flatMap(({ errors }) => errors)) {
    const first = byClass.get(error.class);
    byClass.set(error.class, { ...(first ?? error), count: (first?.count ?? 0) + error.count });
  }
  return [...byClass.values()];
}

function rateOf(live: readonly JobView[]): number | null {
  const rates = live.flatMap(({ tilesPerSecond }) => tilesPerSecond ?? []);
  return rates.length === 0 ? null : rounded(rates.reduce((sum, rate) => sum + rate, 0));
}

/** Returns the mean rate from the first start to the last end. Null if no tile was processed. */
function pastRate(jobs: readonly JobView[], { stored, skipped, failed, deleted = 0n }: JobTiles): number | null {
  const times = jobs.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]).flatMap((at) => at ?? []);
  const ms = times.map((at) => Date.parse(at)).sort((a, b) => a - b);
  const tookMs = (ms.at(-1) ?? 0) - (ms[0] ?? 0);
  const worked = Number(stored + skipped + failed + deleted);
  return tookMs > 0 && worked > 0 ? rounded((worked * 1000) / tookMs) : null;
}

const rounded = (rate: number): number => Math.round(rate * 100) / 100;
