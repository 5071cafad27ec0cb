import type { ActiveJobs } from "../../jobs/active/active-jobs.ts";
import type { JobStore } from "../../jobs/record/job-store.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { StateWriter } from "../../ledger/state-writer.ts";
import { Slices } from "../../lib/process/slices.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { JobView } from "../../plan/job/job-documents.ts";
import type { JobFilter, JobKindCounts, JobPage, TaskRow } from "../../plan/job/job-request.ts";
import { isStateAway } from "../../state/state-wait.ts";

export interface JobListParts {
  readonly clock: Clock;
  readonly jobs: Pick<JobStore, "idRange" | "count">;
  readonly runner: { readonly active: Pick<ActiveJobs, "rows" | "list" | "listActive"> };
  readonly state: Pick<StateWriter, "readSaved">;
}

export interface JobList {
  readonly jobs: readonly JobView[];
  /** Why the list lacks ended jobs. Absent if it does not. */
  readonly endedMissing?: string;
}

/** The most jobs that are listed in one turn of the event loop: each takes about 0.15 ms. */
const LISTED_AT_ONCE = 32;
/** The most ids of jobs that one query searches. */
const SEARCHED_AT_ONCE = 2_000;

/**
 * Lists jobs. While the state database is unavailable, the lists have only the unfinished jobs, which are in memory.
 */
export class JobLists {
  readonly #parts: JobListParts;

  constructor(parts: JobListParts) {
    this.#parts = parts;
  }

  /** Returns the pending and running tasks of one layer or of all, ascending by id. */
  async rows(layer: LayerName | undefined): Promise<readonly TaskRow[]> {
    const { runner, state } = this.#parts;
    return await state.readSaved(() => runner.active.rows(layer));
  }

  /**
   * Returns jobs, the newest first.
   * @throws StateError if the database is unavailable, unless the page selects unfinished jobs only
   */
  async jobs(page: JobPage): Promise<readonly JobView[]> {
    const { jobs, fault } = await this.#listedOrActive(page);
    if (fault !== undefined && page.state === undefined) throw fault;
    return jobs;
  }

  /**
   * Returns jobs, the newest first. While the database is unavailable, returns unfinished jobs and says that ended jobs
   * are missing.
   * @throws StateError if the database is unavailable and the page selects ended jobs only
   */
  async jobList(page: JobPage): Promise<JobList> {
    const { jobs, fault } = await this.#listedOrActive(page);
    return fault === undefined ? { jobs } : { jobs, endedMissing: fault.message };
  }

  /** `fault` is set if the database is unavailable and the list lacks ended jobs. */
  async #listedOrActive(page: JobPage): Promise<{ readonly jobs: readonly JobView[]; readonly fault?: Error }> {
    try {
      return { jobs: await this.#list(page) };
    } catch (fault) {
      const canBeActive = page.outcome === undefined && page.state !== "done" && page.state !== "aborted";
      if (!isStateAway(fault) || !canBeActive) throw fault;
      return { jobs: this.#parts.runner.active.listActive(page), fault };
    }
  }

  /**
   * Lists jobs of the database. Yields to other work between the parts of the list. Saves the counts before each part,
   * so that each listed job has the state that the filter selects.
   */
  async #list(page: JobPage): Promise<readonly JobView[]> {
    const { jobs, runner, state } = this.#parts;
    const { first, last } = jobs.idRange();
    const slices = new Slices(this.#parts.clock);
    const listed: JobView[] = [];
    let after = Math.min(page.after ?? Number.POSITIVE_INFINITY, last + 1);
    while (after > first && listed.length < page.limit) {
      if (slices.isOver) await slices.next();
      const from = Math.max(first, after - SEARCHED_AT_ONCE);
      const limit = Math.min(LISTED_AT_ONCE, page.limit - listed.length);
      const part = await state.readSaved(() => runner.active.list({ ...page, from, after, limit }));
      listed.push(...part);
      after = part.length < limit ? from : (part.at(-1)?.id ?? from);
    }
    return listed;
  }

  /** Counts the jobs that match a filter. Yields to other work between the parts of the count. */
  async countJobs(filter: JobFilter): Promise<JobKindCounts> {
    const { jobs, state } = this.#parts;
    const { first, last } = jobs.idRange();
    const slices = new Slices(this.#parts.clock);
    const counts = { running: 0, pending: 0, paused: 0, done: 0, done_with_failures: 0, failed: 0, aborted: 0 };
    for (let from = first; from <= last; from += SEARCHED_AT_ONCE) {
      if (slices.isOver) await slices.next();
      const ids = { from, after: from + SEARCHED_AT_ONCE };
      for (const [kind, number] of await state.readSaved(() => jobs.count({ ...filter, ...ids })))
        counts[kind] += number;
    }
    return counts;
  }
}
