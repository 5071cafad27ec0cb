import type { ActiveJob } from "../../jobs/active/active-job.ts";
import type { JobRunner } from "../../jobs/job-runner.ts";
import { planRetry } from "../../jobs/plan-retry.ts";
import type { FailedTilePage, FailedTileSlice } from "../../jobs/record/failed-tile-store.ts";
import type { JobStore } from "../../jobs/record/job-store.ts";
import type { NewJob } from "../../jobs/record/stored-job.ts";
import { areaView } from "../../jobs/view/job-view.ts";
import { type TimelineEntry, timelineOf } from "../../jobs/view/timeline-view.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { ServiceParts } from "../../ledger/service-parts.ts";
import type { StateWriter } from "../../ledger/state-writer.ts";
import { badField, conflict, type Refusal, unknownJob, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { countPlanned, unconfirmed } from "../../plan/count-planned.ts";
import type { JobCounter } from "../../plan/job/job-counter.ts";
import type { JobView } from "../../plan/job/job-documents.ts";
import type {
  IdempotencyKey,
  JobOrigin,
  JobRequest,
  KilledTask,
  KillScope,
  SubmittedJob,
} from "../../plan/job/job-request.ts";
import { type JobChange, STANDARD_TERMS } from "../../plan/job/job-terms.ts";
import { withMostUsedRanges } from "../../plan/order/most-used-ranges.ts";
import type { PlannedJobs } from "../../plan/plan-batch.ts";
import type { RunWindows } from "../../schedule/run-windows.ts";

export interface JobServiceParts extends Pick<ServiceParts, "catalogue" | "clock"> {
  readonly jobs: JobStore;
  readonly runner: JobRunner;
  readonly windows: RunWindows;
  readonly counter: Pick<JobCounter, "count" | "storedIn">;
  readonly ledger: Pick<Ledger, "usedCells" | "clock">;
  readonly state: Pick<StateWriter, "write" | "readSaved">;
  /** Called after a job was deleted from the history. */
  readonly deleted: (id: number) => void;
}

const hasEnded = ({ id, outcome, state }: JobView): Refusal => conflict(`Job ${id} has ended: ${outcome ?? state}.`);

/** The operations on jobs. `by` is the account that sent the request. Null if the interface is open. */
export class JobService {
  readonly #parts: JobServiceParts;

  constructor(parts: JobServiceParts) {
    this.#parts = parts;
  }

  /** Returns a job with its area, which lists leave out. Undefined if the job does not exist. */
  async job(id: number): Promise<JobView | undefined> {
    const { jobs, runner, state } = this.#parts;
    const view = await state.readSaved(() => runner.active.view(id));
    if (view === undefined) return undefined;
    const { zooms = [], ...rest } = view;
    // An unfinished job is answered from memory, so that the answer does not need the database.
    const active = runner.active.get(id);
    const selection = active === undefined ? jobs.selections.find(id) : active.request.selection;
    return { ...rest, area: areaView(selection), zooms };
  }

  /** Returns the counts of a job by zoom, without its area, which may be large. Undefined if the job does not exist. */
  async jobZooms(id: number): Promise<Pick<JobView, "type" | "zooms"> | undefined> {
    const { runner, state } = this.#parts;
    const view = await state.readSaved(() => runner.active.view(id));
    return view && { type: view.type, zooms: view.zooms ?? [] };
  }

  /** Returns the events of a job, the oldest first. Undefined if the job does not exist. */
  async jobTimeline(id: number): Promise<readonly TimelineEntry[] | undefined> {
    const { jobs, runner, state } = this.#parts;
    return state.readSaved(() => {
      const view = runner.active.view(id);
      return view === undefined ? undefined : timelineOf(view, jobs.timeline.of(id));
    });
  }

  /**
   * Returns failed tiles of a job in the order of failure. Undefined if the job does not exist.
   */
  async failedTiles(id: number, page: FailedTileSlice): Promise<FailedTilePage | undefined> {
    const { jobs, runner } = this.#parts;
    return runner.active.view(id) === undefined ? undefined : jobs.failures.page(id, page);
  }

  async submit(request: JobRequest, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>> {
    return this.submitAll({ requests: [request], empty: "refused" }, origin);
  }

  /** Makes all of the jobs, or none. */
  async submitAll(planned: PlannedJobs, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>> {
    const counted = await countPlanned(planned, this.#parts.counter);
    if (!counted.ok) return counted;
    // A known key is answered with its jobs, even if the same request would need a confirmation now.
    const known = origin.key === undefined ? undefined : this.#madeBy(origin.by, origin.key);
    if (known !== undefined) return known;
    const refusal = unconfirmed(counted.value, origin.mostTiles, '"confirm": true');
    if (refusal !== undefined) return refuse(refusal);
    const jobs = await withMostUsedRanges(counted.value.jobs, this.#parts.ledger);
    const made = jobs.map((job, i) => ({
      ...job,
      // The first job stores the key of the request.
      origin: i === 0 ? origin : { by: origin.by },
      retryOf: null,
      schedule: null,
    }));
    const submitted = this.#submit(made, origin);
    // The superseded jobs have stopped before the answer is sent.
    if (submitted.ok && !submitted.value.known) await this.#parts.runner.endings.supersedeFor(submitted.value.jobIds);
    return submitted;
  }

  /** Looks up the key and makes the jobs in one turn, so that two requests with one key cannot both make jobs. */
  #submit(made: readonly Omit<NewJob, "hold">[], { by, key }: JobOrigin): Result<SubmittedJob, Refusal> {
    const { runner, windows } = this.#parts;
    const known = key === undefined ? undefined : this.#madeBy(by, key);
    return known ?? ok(runner.submitAll(made.map((job) => windows.begun(job))));
  }

  /** Returns the jobs that an account's key has made. Undefined if the key is new. Refuses a key of another request. */
  async keyed(by: string | null, key: IdempotencyKey): Promise<Result<SubmittedJob, Refusal> | undefined> {
    return this.#madeBy(by, key);
  }

  #madeBy(by: string | null, key: IdempotencyKey): Result<SubmittedJob, Refusal> | undefined {
    const found = this.#parts.jobs.batches.findKey(by, key);
    if (found === undefined) return undefined;
    if (found.digest !== key.digest)
      return refuse({
        code: "key_reused",
        message: `Idempotency-Key: expected a different key for each request, got ${JSON.stringify(key.key)}, with which another request has made job ${found.jobId}`,
      });
    const { jobId, others } = found;
    return ok({
      jobId,
      jobIds: [jobId, ...others],
      taskIds: this.#parts.runner.active.view(jobId)?.tasks ?? [],
      known: true,
    });
  }

  kill(scope: KillScope, layer: LayerName | undefined, by: string | null): Promise<readonly KilledTask[]> {
    return this.#parts.runner.endings.killScope(scope, layer, by);
  }

  /** Ends a task. Returns no task if the id is not a task of that layer. */
  killTask(layer: LayerName, taskId: bigint, by: string | null): Promise<readonly KilledTask[]> {
    return this.#parts.runner.endings.kill(
      (job, task) => BigInt(task.id) === taskId && job.request.layer === layer,
      by,
    );
  }

  /** Cancels a job, as a kill of all its tasks does. Returns a job unchanged that was aborted before. */
  async cancel(id: number, by: string | null): Promise<Result<JobView, Refusal>> {
    const { runner } = this.#parts;
    await runner.endings.kill((job) => job.id === id, by, "cancelled");
    const view = runner.active.view(id);
    if (view === undefined) return refuse(unknownJob(id));
    return view.state === "aborted" ? ok(view) : refuse(hasEnded(view));
  }

  /** Pauses a job. Once resolved, the job fetches, writes and deletes nothing until `unpause`, even after a restart. */
  async pause(id: number, by: string | null): Promise<Result<JobView, Refusal>> {
    const { runner, clock } = this.#parts;
    const job = await this.#live(id);
    if (job === undefined) return this.#notLive(id);
    // A job held by its window would continue when the window opens. A pause by an operator lasts until an operator
    // resumes the job.
    if (job.life.isPaused && job.life.hold !== "held") await runner.stopped(job);
    else await runner.pause(job, by === null ? "paused" : `paused by ${by}`, null, by);
    const view = job.view(clock.monotonicNow());
    return job.life.outcome === null ? ok(view) : refuse(hasEnded(view));
  }

  /** Resumes a paused job. */
  async unpause(id: number, by: string | null): Promise<Result<JobView, Refusal>> {
    const { runner, clock } = this.#parts;
    const job = await this.#live(id);
    if (job === undefined) return this.#notLive(id);
    if (!job.life.isPaused) return ok(job.view(clock.monotonicNow()));
    runner.resume(job, job.schedule === null && job.terms.runWindow === null ? null : "released", by);
    job.trust();
    return ok(job.view(clock.monotonicNow()));
  }

  /**
   * Changes the given terms and the number of tasks of an unfinished job. If the new window holds the job, its tasks
   * stop before the terms change. A job that ends until then keeps its terms, and the change is refused.
   */
  async change(id: number, { threadCount, ...terms }: JobChange): Promise<Result<JobView, Refusal>> {
    const { runner, windows, clock } = this.#parts;
    const { rateLimit = null } = terms;
    for (;;) {
      const job = await this.#live(id);
      if (job === undefined) return this.#notLive(id);
      if (job.request.type === "truncate" && rateLimit !== null)
        return refuse(badField("rateLimit", "none for a truncate, as it renders nothing", rateLimit));
      if (job.request.type === "truncate" && threadCount !== undefined)
        return refuse(badField("threadCount", "none for a truncate, which has one task", threadCount));
      const held = windows.holdBefore(job, terms);
      if (held === undefined) {
        // A new window holds the job even if an operator had released it from the previous window.
        if (terms.runWindow !== undefined && job.life.hold === "released") job.endRelease();
        try {
          runner.setTerms(job, { ...job.terms, ...terms });
        } finally {
          // Also resumes a job that was held for terms that could then not be saved.
          windows.check(job);
        }
        if (threadCount !== undefined) await runner.setThreadCount(job, threadCount);
        return ok(job.view(clock.monotonicNow()));
      }
      await held;
      // An operator may have resumed the job while it was being held.
    }
  }

  /** Makes a new job for the tiles that failed, or that an aborted job did not reach. */
  async retry(id: number, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>> {
    const { jobs, runner, catalogue, counter } = this.#parts;
    const known = origin.key === undefined ? undefined : this.#madeBy(origin.by, origin.key);
    if (known !== undefined) return known;
    const active = runner.active.get(id);
    if (active !== undefined) return refuse(hasNotEnded(id, active.life.state));
    const stored = jobs.find(id);
    if (stored === undefined) return refuse(unknownJob(id));
    // Without `supersede`, which would end jobs that were made after the original one.
    const { supersede: _, ...rest } = stored.request;
    const request = {
      ...rest,
      ...jobs.besides(id),
      ...(stored.terms === STANDARD_TERMS ? {} : { terms: stored.terms }),
    };
    const layer = catalogue().layers.get(request.layer);
    if (layer === undefined) return refuse(unknownLayer(request.layer));
    const totals = await counter.count(request);
    if (!totals.ok) return totals;
    const progress = planRetry({ request, progress: stored.progress }, jobs.failures.of(id), totals.value, (...at) =>
      counter.storedIn(...at),
    );
    if (progress === undefined) return refuse(conflict(`Job ${id} has no tiles to retry: every tile was done.`));
    return this.#submit([{ request, progress, origin, retryOf: id, schedule: null }], origin);
  }

  /** Deletes an ended job from the history. */
  async deleteJob(id: number): Promise<Result<null, Refusal>> {
    const { jobs, runner, state, deleted } = this.#parts;
    const view = runner.active.view(id);
    if (view === undefined) return refuse(unknownJob(id));
    if (runner.active.get(id) !== undefined) return refuse(hasNotEnded(id, view.state));
    state.write(() => jobs.delete(id));
    deleted(id);
    return ok(null);
  }

  /** Returns an unfinished job. If the job is just ending, first waits for its end. Undefined if the job has ended. */
  async #live(id: number): Promise<ActiveJob | undefined> {
    const { runner } = this.#parts;
    if (runner.active.get(id)?.tasks.length === 0) await runner.endings.complete();
    return runner.active.get(id);
  }

  #notLive(id: number): Result<JobView, Refusal> {
    const view = this.#parts.runner.active.view(id);
    return refuse(view === undefined ? unknownJob(id) : hasEnded(view));
  }
}

const hasNotEnded = (id: number, state: string): Refusal =>
  conflict(`Job ${id} has not ended: it is ${state}; cancel it first.`);
