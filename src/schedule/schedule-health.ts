import { Slices } from "../lib/process/slices.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { JobOutcome } from "../plan/job/job-request.ts";
import { MOST_RUNS, type ScheduleRun } from "./schedule.ts";
import type { ScheduleStore } from "./schedule-store.ts";

/** The results of the last runs of a schedule. */
export interface ScheduleHealth {
  readonly name: string;
  /**
   * The end of the last successful run, ms since 1970: all its jobs were done. Null if no stored run was successful.
   */
  readonly lastSuccessMs: number | null;
  /** Why the last run has failed. Null if it succeeded or has not ended. Skipped runs do not count. */
  readonly failure: { readonly atMs: number; readonly reason: string } | null;
}

/** The end of a job of a run. */
export interface JobEnding {
  readonly id: number;
  readonly outcome: string;
  readonly endedMs: number;
}

export interface ScheduleHealthParts {
  readonly clock: Clock;
  readonly schedules: Pick<ScheduleStore, "runs"> & { times(): readonly { readonly name: string }[] };
  /** Returns the endings of the given jobs. Leaves out jobs that have not ended or are no longer in the history. */
  readonly endings: (ids: readonly number[]) => readonly JobEnding[];
}

/**
 * Returns the health of all schedules. Reads the runs of each schedule from the newest on, and yields to other work.
 */
export async function scheduleHealth({
  clock,
  schedules,
  endings,
}: ScheduleHealthParts): Promise<readonly ScheduleHealth[]> {
  const slices = new Slices(clock);
  const all: ScheduleHealth[] = [];
  for (const { name } of schedules.times()) {
    let lastSuccessMs: number | null = null;
    let failure: ScheduleHealth["failure"] | undefined;
    for (const run of schedules.runs(name, MOST_RUNS)) {
      if (slices.isOver) await slices.next();
      if (run.result === "skipped") continue;
      const ended = run.result === "started" ? endings(run.jobIds) : [];
      if (failure === undefined) failure = failureOf(run, ended);
      lastSuccessMs = successOf(run, ended);
      if (lastSuccessMs !== null) break;
    }
    all.push({ name, lastSuccessMs, failure: failure ?? null });
  }
  return all;
}

/**
 * Outcomes from the best to the worst. An aborted job is better than a failed one, but has not rendered all its tiles.
 */
const FROM_BEST: readonly JobOutcome[] = ["done", "aborted", "done_with_failures", "failed"];

/**
 * Returns the worst outcome of the jobs of a run. Null if it has no job, or one that has not ended or is not in the
 * history.
 */
export function outcomeOf(run: ScheduleRun, endings: ScheduleHealthParts["endings"]): JobOutcome | null {
  if (run.result !== "started" || run.jobIds.length === 0) return null;
  const ended = endings(run.jobIds);
  if (ended.length < run.jobIds.length) return null;
  return FROM_BEST.findLast((one) => ended.some(({ outcome }) => outcome === one)) ?? null;
}

/** Returns the failure of a run. Null if it has not failed. */
function failureOf(run: ScheduleRun, ended: readonly JobEnding[]): ScheduleHealth["failure"] {
  if (run.result !== "started") return { atMs: run.atMs, reason: run.reason };
  const failed = ended.find(({ outcome }) => outcome !== "done");
  if (failed === undefined) return null;
  return { atMs: failed.endedMs, reason: `job ${failed.id} ended as ${failed.outcome.replaceAll("_", " ")}` };
}

/** Returns when a run ended, ms since 1970. Null unless all its jobs are in the history as done. */
function successOf(run: ScheduleRun, ended: readonly JobEnding[]): number | null {
  if (run.result !== "started" || ended.length < run.jobIds.length) return null;
  return ended.every(({ outcome }) => outcome === "done")
    ? ended.reduce((last, { endedMs }) => Math.max(last, endedMs), 0)
    : null;
}
