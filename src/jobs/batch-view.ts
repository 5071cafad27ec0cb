import type { JobError, JobOutcome, JobState, JobTiles, JobView } from "../plan/job-request.ts";

/** The jobs of one request as if they were one. Times are ISO 8601 in UTC. */
export interface BatchView {
  /** Its first job's. */
  readonly id: number;
  /** How many of them are in each state; those that were taken out of the history are in none. */
  readonly jobs: Readonly<Record<JobState, number>>;
  /** Running as long as one is; aborted when all have ended and one was. */
  readonly state: JobState;
  /** The worst of theirs; null: not all have ended. */
  readonly outcome: JobOutcome | null;
  /** All that have not ended are. */
  readonly paused: boolean;
  readonly tiles: JobTiles;
  /** Written for them. */
  readonly bytes: bigint;
  readonly createdAt: string;
  readonly startedAt: string | null;
  /** When the last one did; null: not all have. */
  readonly endedAt: string | null;
  /** By class: how many tiles in all, and the first of the first job that has some. */
  readonly errors: readonly JobError[];
  readonly retries: number;
  /** Of those that are at work; when all have ended over all the time. */
  readonly tilesPerSecond: number | null;
}

/** `jobs`: at least one, of one request. Pure. */
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
    bytes: inOrder.reduce((sum, { bytes }) => sum + bytes, 0n),
    createdAt: times(({ createdAt }) => createdAt)[0] ?? "",
    startedAt: times(({ startedAt }) => startedAt)[0] ?? null,
    endedAt: live.length > 0 ? null : (times(({ endedAt }) => endedAt).at(-1) ?? null),
    errors: errorsOf(inOrder),
    retries: inOrder.reduce((sum, { retries }) => sum + retries, 0),
    tilesPerSecond: live.length > 0 ? rateOf(live) : pastRate(inOrder, tiles),
  };
}

function stateOf(states: BatchView["jobs"], live: readonly JobView[]): JobState {
  // One that has begun is at work until its last job has ended.
  const hasBegun = states.running + states.done + states.aborted > 0;
  if (live.length > 0) return hasBegun && live.some(({ paused }) => !paused) ? "running" : "pending";
  return states.aborted > 0 ? "aborted" : "done";
}

const worstOf = (jobs: readonly JobView[]): JobOutcome =>
  (["aborted", "done_with_failures"] as const).find((bad) => jobs.some(({ outcome }) => outcome === bad)) ?? "done";

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

/** From the first one's start to the last one's end. */
function pastRate(jobs: readonly JobView[], { stored, skipped, failed, deleted = 0n }: JobTiles): number | null {
  const times = jobs.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]).flatMap((at) => at ?? []);
  const ms = times.map((at) => Date.parse(at)).sort((a, b) => a - b);
  const tookMs = (ms.at(-1) ?? 0) - (ms[0] ?? 0);
  const worked = Number(stored + skipped + failed + deleted);
  return tookMs > 0 && worked > 0 ? rounded((worked * 1000) / tookMs) : null;
}

const rounded = (rate: number): number => Math.round(rate * 100) / 100;
