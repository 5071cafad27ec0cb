import type { Counts } from "../../plan/job/job-counts.ts";
import { JOB_OUTCOMES, type JobOutcome } from "../../plan/job/job-request.ts";
import { JOB_TYPES, type JobType } from "../../plan/seed-request.ts";
import type { ActiveJob } from "./active-job.ts";

const TILE_OUTCOMES = ["stored", "skipped", "unchanged", "failed", "deleted"] as const;
type TileOutcome = (typeof TILE_OUTCOMES)[number];

interface Taken {
  readonly counts: Counts;
  readonly retries: number;
  readonly failures: ReadonlyMap<string, number>;
}

const takenOf = (job: ActiveJob): Taken => ({
  counts: job.tally.sum,
  retries: job.tally.retries,
  failures: new Map(job.tally.errors.map((error) => [error.class, error.count])),
});

/** Adds up the work of jobs by the difference to the previous reading of each job, so that no tile counts twice. */
export class JobTotals {
  readonly #taken = new WeakMap<ActiveJob, Taken>();
  readonly #tiles = new Map<JobType, Map<TileOutcome, bigint>>(
    JOB_TYPES.map((type) => [type, new Map(TILE_OUTCOMES.map((outcome) => [outcome, 0n]))]),
  );
  readonly #ended = new Map<JobType, Map<JobOutcome, number>>(
    JOB_TYPES.map((type) => [type, new Map(JOB_OUTCOMES.map((outcome) => [outcome, 0]))]),
  );
  readonly #failures = new Map<string, number>();
  #bytes = 0n;
  #retries = 0;

  /** Records the counts with which a job starts, so that work before a restart of the server is not counted again. */
  begin(job: ActiveJob): void {
    this.#taken.set(job, takenOf(job));
  }

  take(job: ActiveJob): void {
    const before = this.#taken.get(job);
    const now = takenOf(job);
    this.#taken.set(job, now);
    if (before === undefined) return;
    const tiles = this.#tiles.get(job.request.type);
    for (const outcome of TILE_OUTCOMES)
      tiles?.set(outcome, (tiles.get(outcome) ?? 0n) + now.counts[outcome] - before.counts[outcome]);
    this.#bytes += now.counts.bytes - before.counts.bytes;
    this.#retries += now.retries - before.retries;
    for (const [name, count] of now.failures)
      this.#failures.set(name, (this.#failures.get(name) ?? 0) + count - (before.failures.get(name) ?? 0));
  }

  end(job: ActiveJob): void {
    this.take(job);
    const ended = this.#ended.get(job.request.type);
    if (job.life.outcome !== null) ended?.set(job.life.outcome, (ended.get(job.life.outcome) ?? 0) + 1);
  }

  /** Returns the work of all jobs since the start of the server, and the current number of jobs and tasks. */
  metrics(active: Iterable<ActiveJob>) {
    const jobs = { pending: 0, running: 0, paused: 0 };
    const tasks = { pending: 0, running: 0 };
    for (const job of active) {
      this.take(job);
      if (job.life.outcome !== null) continue;
      jobs[job.life.isPaused ? "paused" : job.life.state === "running" ? "running" : "pending"]++;
      for (const task of job.tasks) tasks[task.status === 1 ? "running" : "pending"]++;
    }
    return {
      jobs: (["pending", "running", "paused"] as const).map((state) => ({ state, count: jobs[state] })),
      tasks: (["pending", "running"] as const).map((state) => ({ state, count: tasks[state] })),
      ended: [...this.#ended].flatMap(([type, ends]) =>
        [...ends].map(([outcome, count]) => ({ type, outcome, count })),
      ),
      tiles: [...this.#tiles].flatMap(([type, of]) => [...of].map(([outcome, count]) => ({ type, outcome, count }))),
      failures: [...this.#failures].map(([name, count]) => ({ class: name, count })),
      bytes: this.#bytes,
      retries: this.#retries,
    };
  }
}

export type JobMetrics = ReturnType<JobTotals["metrics"]>;
