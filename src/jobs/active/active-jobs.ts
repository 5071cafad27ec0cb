import { asTileRect } from "../../grid/grid-set.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { JobView } from "../../plan/job/job-documents.ts";
import type { JobFilter, JobIds, JobPage, JobRequest, TaskRow } from "../../plan/job/job-request.ts";
import { combinationsOf } from "../../plan/parameters/combination.ts";
import type { SeedRange } from "../../quota/eviction.ts";
import type { JobRunnerParts } from "../job-runner-parts.ts";
import { listed, viewOf } from "../view/job-view.ts";
import type { ActiveJob } from "./active-job.ts";

/** The jobs that have not ended, in the order in which they were accepted, and the lists of them. */
export class ActiveJobs {
  readonly #parts: JobRunnerParts;
  readonly #jobs = new Map<number, ActiveJob>();
  #ranges: readonly SeedRange[] | undefined;

  constructor(parts: JobRunnerParts) {
    this.#parts = parts;
  }

  add(job: ActiveJob): void {
    this.#jobs.set(job.id, job);
    this.#ranges = undefined;
  }

  remove(job: ActiveJob): void {
    this.#jobs.delete(job.id);
    this.#ranges = undefined;
  }

  get(id: number): ActiveJob | undefined {
    return this.#jobs.get(id);
  }

  all(): ActiveJob[] {
    return [...this.#jobs.values()];
  }

  /** Returns the rows of the classic task list, of one layer or of all layers. */
  rows(layer: LayerName | undefined): TaskRow[] {
    const nowMs = this.#parts.clock.monotonicNow();
    return this.all()
      .filter((job) => layer === undefined || job.request.layer === layer)
      .flatMap((job) => job.rows(nowMs))
      .sort((a, b) => a.id - b.id);
  }

  /** Returns the ranges that unfinished seeds store or count as stored. Eviction spares them. */
  seedRanges(): readonly SeedRange[] {
    this.#ranges ??= this.all().flatMap(({ request }) => seedRangesOf(request));
    return this.#ranges;
  }

  /** Returns a job of the history, or a job that has not ended. Undefined if the id is unknown. */
  view(id: number): JobView | undefined {
    const active = this.get(id);
    if (active !== undefined) return active.view(this.#parts.clock.monotonicNow());
    const stored = this.#parts.jobs.find(id);
    return stored === undefined ? undefined : viewOf(stored);
  }

  /** Returns a page of jobs, newest first, including jobs of the history. */
  list(page: JobPage): JobView[] {
    const nowMs = this.#parts.clock.monotonicNow();
    return this.#parts.jobs.list(page).map((stored) => listed(this.get(stored.id)?.view(nowMs) ?? viewOf(stored)));
  }

  /** Returns a page of the jobs that have not ended, newest first, without reading the database. */
  listActive(page: JobPage): JobView[] {
    const nowMs = this.#parts.clock.monotonicNow();
    const batch = page.requestedWith === undefined ? undefined : this.#firstOfBatch(page.requestedWith);
    return this.all()
      .filter((job) => matches(job, page, batch))
      .sort((a, b) => b.id - a.id)
      .slice(0, page.limit)
      .map((job) => listed(job.view(nowMs)));
  }

  /** Returns the id of the first job of the batch to which a job belongs. */
  #firstOfBatch(id: number): number {
    return this.get(id)?.requestedWith ?? id;
  }
}

/** Returns whether a job that has not ended matches a filter, with the same result as the query of `JobStore.list`. */
function matches(job: ActiveJob, filter: JobFilter & JobIds, batch: number | undefined): boolean {
  const { id, request, schedule, createdBy, createdMs } = job;
  const { layer, state, outcome, paused, type, sinceMs, untilMs, text, ids, from, after } = filter;
  const searched = [request.layer, schedule, createdBy, id].map((one) => String(one ?? "").toLowerCase()).join("\n");
  return (
    outcome === undefined &&
    (layer === undefined || request.layer === layer) &&
    (state === undefined || job.life.state === state) &&
    (paused === undefined || job.life.isPaused === paused) &&
    (type === undefined || request.type === type) &&
    (filter.schedule === undefined || schedule === filter.schedule) &&
    (filter.createdBy === undefined || createdBy === filter.createdBy) &&
    (sinceMs === undefined || createdMs >= sinceMs) &&
    (untilMs === undefined || createdMs < untilMs) &&
    (text === undefined || searched.includes(text.toLowerCase())) &&
    (ids === undefined || ids.includes(id)) &&
    (batch === undefined || id === batch || job.requestedWith === batch) &&
    (from === undefined || id >= from) &&
    (after === undefined || id < after)
  );
}

/** Returns the ranges that a seed stores or counts as stored, which eviction spares. Empty for a truncate. */
function seedRangesOf(request: JobRequest): SeedRange[] {
  const { layer, format } = request;
  if (request.type === "truncate" || format === null) return [];
  const [width, height] = request.metatile;
  // A metatile at the border also stores tiles beyond the range.
  return request.ranges.flatMap(({ gridSet, rects }) => {
    const wider = rects.map((r) =>
      asTileRect({
        z: r.z,
        minX: r.minX - width + 1,
        minY: r.minY - height + 1,
        maxX: r.maxX + width - 1,
        maxY: r.maxY + height - 1,
      }),
    );
    const combinations = combinationsOf(request) ?? [];
    return combinations.map(({ parametersId }) => ({ layer, gridSet, format, parametersId, rects: wider }));
  });
}
