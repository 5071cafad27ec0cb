import type { ActiveJob } from "../jobs/active-job.ts";
import { areaView } from "../jobs/area-view.ts";
import { resumeJob } from "../jobs/job-resume.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { FailedTilePage, JobStore, NewJob } from "../jobs/job-store.ts";
import { planRetry } from "../jobs/plan-retry.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import { metatileFor } from "../layer/layer.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { badField, conflict, type Refusal, unknownJob, unknownLayer } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { countPlanned, unconfirmed } from "../plan/count-planned.ts";
import type { JobCounter } from "../plan/job-counter.ts";
import type { IdempotencyKey, JobOrigin, JobRequest, JobView, SubmittedJob } from "../plan/job-request.ts";
import { type JobTerms, STANDARD_TERMS } from "../plan/job-terms.ts";
import { withMostUsedRanges } from "../plan/most-used-ranges.ts";
import type { PlannedJobs } from "../plan/plan-batch.ts";
import type { RunWindows } from "../schedule/run-windows.ts";

export interface JobServiceParts {
  readonly jobs: JobStore;
  readonly runner: JobRunner;
  readonly windows: RunWindows;
  readonly catalogue: () => Catalogue;
  readonly counter: Pick<JobCounter, "count" | "storedIn">;
  readonly ledger: Pick<Ledger, "usedCells">;
  /** Writes everything that changed, in one transaction. */
  readonly persist: (also?: () => void) => void;
  readonly forgotten: (id: number) => void;
  /** ms by a clock that never steps. */
  readonly monotonicNow: () => number;
}

const hasEnded = ({ id, outcome, state }: JobView): Refusal => conflict(`Job ${id} has ended: ${outcome ?? state}.`);

/** The operations on jobs. */
export class JobService {
  readonly #parts: JobServiceParts;

  constructor(parts: JobServiceParts) {
    this.#parts = parts;
  }

  async submit(request: JobRequest, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>> {
    return this.submitAll({ requests: [request], empty: "refused" }, origin);
  }

  async submitAll(planned: PlannedJobs, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>> {
    const counted = await countPlanned(planned, this.#parts.counter);
    if (!counted.ok) return counted;
    // A known key is answered with the jobs it has made, even if the same request would need a confirmation now.
    const known = origin.key === undefined ? undefined : this.keyed(origin.by, origin.key);
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
    if (submitted.ok && !submitted.value.known) await this.#parts.runner.supersedeFor(submitted.value.jobIds);
    return submitted;
  }

  /** Returns the view of a job with its area, which lists leave out. */
  view(id: number): JobView | undefined {
    const { jobs, runner } = this.#parts;
    const view = runner.job(id);
    if (view === undefined) return undefined;
    const { zooms = [], ...rest } = view;
    return { ...rest, area: areaView(jobs.selections.find(id)), zooms };
  }

  /** Looks up the key and makes the jobs synchronously, so that two requests with one key cannot both make jobs. */
  #submit(made: readonly Omit<NewJob, "hold">[], { by, key }: JobOrigin): Result<SubmittedJob, Refusal> {
    const { runner, windows } = this.#parts;
    const known = key === undefined ? undefined : this.keyed(by, key);
    return known ?? ok(runner.submitAll(made.map((job) => windows.begun(job))));
  }

  keyed(by: string | null, key: IdempotencyKey): Result<SubmittedJob, Refusal> | undefined {
    const found = this.#parts.jobs.keyed(by, key);
    if (found === undefined) return undefined;
    if (found.digest !== key.digest)
      return refuse({
        code: "key_reused",
        message: `Idempotency-Key: expected a key of its own for each request, got ${JSON.stringify(key.key)}, which has made job ${found.jobId} of another one`,
      });
    const { jobId, others } = found;
    return ok({ jobId, jobIds: [jobId, ...others], taskIds: this.#parts.runner.job(jobId)?.tasks ?? [], known: true });
  }

  async cancel(id: number, by: string | null): Promise<Result<JobView, Refusal>> {
    const { runner } = this.#parts;
    await runner.kill((job) => job.id === id, by, "cancelled");
    const view = runner.job(id);
    if (view === undefined) return refuse(unknownJob(id));
    return view.state === "aborted" ? ok(view) : refuse(hasEnded(view));
  }

  async pause(id: number, by: string | null): Promise<Result<JobView, Refusal>> {
    const { runner, monotonicNow } = this.#parts;
    const job = await this.#live(id);
    if (job === undefined) return this.#notLive(id);
    // A job held by its window would continue when the window opens. An operator's pause lasts until an operator ends
    // it.
    if (job.paused && job.hold !== "held") await runner.halted(job);
    else await runner.pause(job, by === null ? "paused" : `paused by ${by}`);
    const view = job.view(monotonicNow());
    return job.outcome === null ? ok(view) : refuse(hasEnded(view));
  }

  async unpause(id: number): Promise<Result<JobView, Refusal>> {
    const { runner, persist, monotonicNow } = this.#parts;
    const job = await this.#live(id);
    if (job === undefined) return this.#notLive(id);
    if (!job.paused) return ok(job.view(monotonicNow()));
    resumeJob(job, job.schedule === null && job.terms.runWindow === null ? null : "released", { runner, persist });
    // The operator who resumes the job has seen why it was paused.
    job.isLookedAt = true;
    return ok(job.view(monotonicNow()));
  }

  /** Changes the given terms of a job, and leaves the others unchanged. */
  async change(id: number, terms: Partial<JobTerms>): Promise<Result<JobView, Refusal>> {
    const { runner, windows, monotonicNow } = this.#parts;
    const job = await this.#live(id);
    if (job === undefined) return this.#notLive(id);
    const { rateLimit = null } = terms;
    if (job.request.type === "truncate" && rateLimit !== null)
      return refuse(badField("rateLimit", "none for a truncate, as it renders nothing", rateLimit));
    // A new window holds the job even if an operator had released the job from the previous window.
    if (terms.runWindow !== undefined && job.hold === "released") job.hold = null;
    runner.setTerms(job, { ...job.terms, ...terms });
    windows.lookAt(job);
    await windows.settled();
    const view = job.view(monotonicNow());
    return job.outcome === null ? ok(view) : refuse(hasEnded(view));
  }

  async retry(id: number, origin: JobOrigin): Promise<Result<SubmittedJob, Refusal>> {
    const { jobs, runner, catalogue, counter } = this.#parts;
    const known = origin.key === undefined ? undefined : this.keyed(origin.by, origin.key);
    if (known !== undefined) return known;
    const active = runner.active(id);
    if (active !== undefined) return refuse(hasNotEnded(id, active.state));
    const stored = jobs.find(id);
    if (stored === undefined) return refuse(unknownJob(id));
    // `supersede` ends older jobs: those older than the new job are not those older than the original job.
    const { supersede: _, ...rest } = stored.request;
    const request = {
      ...rest,
      ...jobs.besides(id),
      ...(stored.terms === STANDARD_TERMS ? {} : { terms: stored.terms }),
    };
    const layer = catalogue().layers.get(request.layer);
    if (layer === undefined) return refuse(unknownLayer(request.layer));
    const factors = metatileFor(layer, request.format);
    const totals = await counter.count(request);
    if (!totals.ok) return totals;
    const progress = planRetry(
      { request, progress: stored.progress },
      jobs.failedTiles(id),
      factors,
      totals.value,
      (...at) => counter.storedIn(...at),
    );
    if (progress === undefined) return refuse(conflict(`Job ${id} has left nothing to retry: every tile was done.`));
    return this.#submit([{ request, progress, origin, retryOf: id, schedule: null }], origin);
  }

  failedTiles(id: number, after: number, limit: number): FailedTilePage | undefined {
    const { jobs, runner } = this.#parts;
    return runner.job(id) === undefined ? undefined : jobs.failedTilePage(id, after, limit);
  }

  forget(id: number): Result<null, Refusal> {
    const { jobs, runner, persist, forgotten } = this.#parts;
    const view = runner.job(id);
    if (view === undefined) return refuse(unknownJob(id));
    if (runner.active(id) !== undefined) return refuse(hasNotEnded(id, view.state));
    persist(() => jobs.delete(id));
    forgotten(id);
    return ok(null);
  }

  /** Returns a job that has not ended. First waits for the end of a job that is just ending. */
  async #live(id: number): Promise<ActiveJob | undefined> {
    const { runner } = this.#parts;
    if (runner.active(id)?.tasks.length === 0) await runner.ended();
    return runner.active(id);
  }

  #notLive(id: number): Result<JobView, Refusal> {
    const view = this.#parts.runner.job(id);
    return refuse(view === undefined ? unknownJob(id) : hasEnded(view));
  }
}

const hasNotEnded = (id: number, state: string): Refusal =>
  conflict(`Job ${id} has not ended: it is ${state}; cancel it first.`);
