import type { Catalogue } from "../layer/catalogue.ts";
import type { JobOptions } from "../plan/job-options.ts";
import type { ActiveJob, Task } from "./active-job.ts";
import { FairOrder } from "./fair-order.ts";

export interface FairQueueParts {
  readonly catalogue: () => Catalogue;
  readonly options: () => JobOptions;
  /** ms by a clock that never steps. */
  readonly monotonicNow: () => number;
}

/**
 * Decides which task gets the next place: weighted round robin over the jobs, so that a big job never holds up a small one,
 * within the bounds of all places and of each layer's. A job's weight is its priority times the weight of its layer.
 */
export class FairQueue {
  readonly #parts: FairQueueParts;
  readonly #turns = new FairOrder<ActiveJob>();
  #places = 0;
  readonly #placesByLayer = new Map<string, number>();
  /** The truncate that comes first in each layer, by its id. */
  #firstTruncates: ReadonlyMap<string, number> | undefined;

  constructor(parts: FairQueueParts) {
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

  /** The job whose turn it is at a moment, with a task that waits, if there is a place for it. */
  next(nowMs: number): { readonly job: ActiveJob; readonly task: Task } | undefined {
    if (this.#places >= this.#parts.options().maxRunningTasks) return undefined;
    for (const job of this.#turns.inOrder()) {
      const task = this.#hasPlace(job.request.layer, 0) ? this.#waiting(job, nowMs) : undefined;
      if (task !== undefined) return { job, task };
    }
    return undefined;
  }

  /** A task takes a place. */
  took(job: ActiveJob, task: Task): void {
    const { layer } = job.request;
    this.#places++;
    this.#placesByLayer.set(layer, (this.#placesByLayer.get(layer) ?? 0) + 1);
    const { weight } = this.#parts.catalogue().layers.get(layer)?.jobs ?? { weight: 1 };
    this.#turns.took(job, job.terms.priority * weight);
    if (job.terms.rateLimit !== null) job.rateLimiter.hold(task);
  }

  gaveBack(job: ActiveJob, task: Task): void {
    const { layer } = job.request;
    const left = (this.#placesByLayer.get(layer) ?? 0) - 1;
    this.#places--;
    if (left > 0) this.#placesByLayer.set(layer, left);
    else this.#placesByLayer.delete(layer);
    job.rateLimiter.resumeJob(task);
  }

  /** Whether one of this job's tasks is to give its place back: another job waits for it, or there are too many taken. */
  crowds(job: ActiveJob): boolean {
    const { layer } = job.request;
    const { maxRunningTasks } = this.#parts.options();
    // A reload has left fewer places than are taken.
    if (this.#places > maxRunningTasks || !this.#hasPlace(layer, 1)) return true;
    const areAllTaken = this.#places >= maxRunningTasks;
    // With places left others wait for nothing but those of their layer.
    if (!areAllTaken && this.#hasPlace(layer, 0)) return false;
    const nowMs = this.#parts.monotonicNow();
    for (const other of this.#turns.inOrder()) {
      const isOfLayer = other.request.layer === layer;
      if (other === job || (!areAllTaken && !isOfLayer)) continue;
      if (this.#hasPlace(other.request.layer, isOfLayer ? 1 : 0) && this.#waiting(other, nowMs) !== undefined)
        return true;
    }
    return false;
  }

  /**
   * Until the first job that its rate limit holds back at a moment may go on; undefined: there is none. To be asked of the
   * moment of which `next` was: what comes due between two moments nobody would come back for.
   */
  waitMs(nowMs: number): number | undefined {
    let soonest: number | undefined;
    for (const job of this.#turns.inOrder()) {
      const { rateLimit } = job.terms;
      if (rateLimit === null || job.paused || job.tasks.every((task) => task.running !== undefined)) continue;
      const waitMs = job.rateLimiter.waitMs(rateLimit, nowMs);
      if (waitMs > 0 && (soonest === undefined || waitMs < soonest)) soonest = waitMs;
    }
    return soonest;
  }

  /** Of a job that may work. One that stands for a job between two renders (`JobRunner`) comes first. */
  #waiting(job: ActiveJob, nowMs: number): Task | undefined {
    if (job.outcome !== null || job.endsFrom !== undefined || job.paused || !this.#isFirst(job)) return undefined;
    const waiting = job.tasks.filter((task) => task.running === undefined);
    if (waiting.length === 0 || !job.mayWork(undefined, nowMs)) return undefined;
    return waiting.find((task) => task.status === 1) ?? waiting[0];
  }

  #hasPlace(layer: string, freed: 0 | 1): boolean {
    const most = this.#parts.catalogue().layers.get(layer)?.jobs.maxTasks ?? Number.POSITIVE_INFINITY;
    return (this.#placesByLayer.get(layer) ?? 0) - freed < most;
  }

  /** Jobs of one layer count in the order of their ids: nothing passes a truncate that came before it. */
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
