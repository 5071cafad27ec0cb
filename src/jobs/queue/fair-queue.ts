import type { LayerName } from "../../layer/tile-set.ts";
import type { ActiveJob } from "../active/active-job.ts";
import type { Task } from "../active/task.ts";
import type { JobRunnerParts } from "../job-runner-parts.ts";
import { FairOrder } from "./fair-order.ts";

/**
 * Decides which task gets the next permit to run, by weighted round robin over the jobs, so that a big job never delays
 * a small one. The number of permits is limited in total (`maxRunningTasks`) and for each layer. The weight of a job is
 * its priority times the weight of its layer.
 */
export class FairQueue {
  readonly #parts: Pick<JobRunnerParts, "catalogue" | "options" | "clock">;
  readonly #turns = new FairOrder<ActiveJob>();
  /** The number of taken permits by layer. Layers without taken permits are absent. */
  readonly #permits = new Map<string, number>();
  /** The id of the first truncate of each layer. */
  #firstTruncates: ReadonlyMap<string, number> | undefined;

  constructor(parts: Pick<JobRunnerParts, "catalogue" | "options" | "clock">) {
    this.#parts = parts;
  }

  join(job: ActiveJob): void {
    this.#turns.join(job);
    this.#firstTruncates = undefined;
  }

  leave(job: ActiveJob): void {
    this.#turns.leave(job);
    this.#firstTruncates = undefined;
  }

  /**
   * Returns the job whose turn it is and a waiting task of the job. Undefined if no permit is free or no task may run.
   */
  next(nowMs: number): { readonly job: ActiveJob; readonly task: Task } | undefined {
    if (this.#taken() >= this.#parts.options().maxRunningTasks) return undefined;
    for (const job of this.#turns.inOrder()) {
      const task = this.#hasPermit(job.request.layer, 0) ? this.#waiting(job, nowMs) : undefined;
      if (task !== undefined) return { job, task };
    }
    return undefined;
  }

  /** Records that a task has taken a permit. */
  took(job: ActiveJob, task: Task): void {
    const { layer } = job.request;
    this.#permits.set(layer, (this.#permits.get(layer) ?? 0) + 1);
    const { weight } = this.#parts.catalogue().layers.get(layer)?.jobs ?? { weight: 1 };
    this.#turns.took(job, job.terms.priority * weight);
    if (job.terms.rateLimit !== null) job.rateLimiter.hold(task);
  }

  gaveBack(job: ActiveJob, task: Task): void {
    const { layer } = job.request;
    const left = (this.#permits.get(layer) ?? 0) - 1;
    if (left > 0) this.#permits.set(layer, left);
    else this.#permits.delete(layer);
    job.rateLimiter.release(task);
  }

  /**
   * Returns whether a task of this job must give back its permit, because another job waits for it or more permits are
   * taken than allowed.
   */
  crowds(job: ActiveJob): boolean {
    const { layer } = job.request;
    const { maxRunningTasks } = this.#parts.options();
    // A reload may have lowered a limit below the number of taken permits.
    const taken = this.#taken();
    if (taken > maxRunningTasks || !this.#hasPermit(layer, 1)) return true;
    const areAllTaken = taken >= maxRunningTasks;
    // While permits are free, only jobs of a layer that has reached the layer's limit wait.
    if (!areAllTaken && this.#hasPermit(layer, 0)) return false;
    const nowMs = this.#parts.clock.monotonicNow();
    for (const other of this.#turns.inOrder()) {
      const isOfLayer = other.request.layer === layer;
      if (other === job || (!areAllTaken && !isOfLayer)) continue;
      if (this.#hasPermit(other.request.layer, isOfLayer ? 1 : 0) && this.#waiting(other, nowMs) !== undefined)
        return true;
    }
    return false;
  }

  /**
   * Returns the ms until the first job that waits for its rate limit may continue. Undefined if no job waits for a rate
   * limit. Must be called with the same `nowMs` as `next`: otherwise a job could become due between the two times, and
   * no timer would be set for it.
   */
  waitMs(nowMs: number): number | undefined {
    let soonest: number | undefined;
    for (const job of this.#turns.inOrder()) {
      const { rateLimit } = job.terms;
      if (rateLimit === null || job.life.isPaused || job.tasks.every((task) => task.isAtWork)) continue;
      const waitMs = job.rateLimiter.waitMs(rateLimit, nowMs);
      if (waitMs > 0 && (soonest === undefined || waitMs < soonest)) soonest = waitMs;
    }
    return soonest;
  }

  /**
   * Returns a waiting task of a job that may run. Prefers a task that keeps its job listed as running between two
   * renders (`JobRunner`). Undefined if no task may run.
   */
  #waiting(job: ActiveJob, nowMs: number): Task | undefined {
    if (job.life.isEnding || job.life.isPaused || !this.#isFirst(job)) return undefined;
    const waiting = job.tasks.filter((task) => !task.isAtWork);
    if (waiting.length === 0 || !job.mayWork(undefined, nowMs)) return undefined;
    return waiting.find((task) => task.status === 1) ?? waiting[0];
  }

  #taken(): number {
    let taken = 0;
    for (const permits of this.#permits.values()) taken += permits;
    return taken;
  }

  #hasPermit(layer: LayerName, freed: 0 | 1): boolean {
    const most = this.#parts.catalogue().layers.get(layer)?.jobs.maxTasks ?? Number.POSITIVE_INFINITY;
    return (this.#permits.get(layer) ?? 0) - freed < most;
  }

  /**
   * Returns whether no truncate of the same layer was accepted before this job. No job may overtake a truncate of its
   * layer.
   */
  #isFirst({ id, request }: ActiveJob): boolean {
    this.#firstTruncates ??= this.#truncates();
    return id <= (this.#firstTruncates.get(request.layer) ?? Number.POSITIVE_INFINITY);
  }

  #truncates(): ReadonlyMap<string, number> {
    const first = new Map<string, number>();
    for (const { id, request } of this.#turns.inOrder())
      if (request.type === "truncate") first.set(request.layer, Math.min(id, first.get(request.layer) ?? id));
    return first;
  }
}
