import { cornersOf } from "../../grid/area.ts";
import type { Selection } from "../../grid/selection.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { type Counts, JobCounts, processedTiles, sumsOf } from "../../plan/job/job-counts.ts";
import type { AreaView, JobTiles, JobView } from "../../plan/job/job-documents.ts";
import { showFields } from "../../plan/job/job-fields.ts";
import type { JobRequest } from "../../plan/job/job-request.ts";
import type { JobTerms } from "../../plan/job/job-terms.ts";
import { setDocument } from "../../plan/parameters/value-choice.ts";
import { windowTimes } from "../../plan/run-window.ts";
import type { JobRecord } from "../record/stored-job.ts";

/** The rate and the time left, which only a running job has. */
export type JobRate = Pick<JobView, "tilesPerSecond" | "timeLeft">;

/** Returns the mean rate over the working time of the job. */
function pastRate({ request, progress: { workedMs } }: JobRecord, counts: Counts): JobRate {
  const tiles = processedTiles(request.type, counts);
  return { tilesPerSecond: workedMs > 0 && tiles > 0n ? (Number(tiles) * 1000) / workedMs : null, timeLeft: null };
}

/** Removes the counts by zoom and the combinations, which would make a list of a thousand jobs too long. */
export function listed(view: JobView): JobView {
  const { zooms, combinations, ...rest } = view;
  return rest;
}

/**
 * Returns a job as the management interface shows it.
 * @param rate the current rate of a job that has not ended; undefined: computes the mean rate of an ended job
 */
export function viewOf(job: JobRecord, rate?: JobRate): JobView {
  const { request, progress, createdMs, startedMs, endedMs } = job;
  const counts = new JobCounts(progress.zooms).sum;
  const { bounds } = request;
  return {
    id: job.id,
    layer: request.layer,
    type: request.type,
    gridSet: request.gridSet,
    format: request.format,
    parameters: request.parameters,
    bounds: bounds === null ? null : [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY],
    zoomStart: request.zoomStart,
    zoomStop: request.zoomStop,
    state: job.state,
    outcome: progress.outcome,
    reason: progress.reason,
    tasks: job.tasks.map(({ id }) => id),
    tiles: tilesOf(request, counts),
    createdAt: isoTime(createdMs),
    startedAt: startedMs === null ? null : isoTime(startedMs),
    endedAt: endedMs === null ? null : isoTime(endedMs),
    errors: progress.errors,
    retries: progress.retries,
    paused: job.paused,
    createdBy: job.createdBy,
    abortedBy: progress.abortedBy,
    retryOf: job.retryOf,
    schedule: job.schedule,
    requestedWith: job.requestedWith,
    parameterSets: parameterSetsOf(request),
    ...termsView(job.terms),
    threadCount: request.threadCount,
    limit: request.limit ?? null,
    ...showFields(request),
    ...sumsOf((name) => counts[name]),
    secondsWorked: Math.round(progress.workedMs) / 1000,
    ...roundedRate(rate ?? pastRate(job, counts)),
    ...(request.combinations === undefined
      ? {}
      : { combinations: request.combinations.map(({ parameters }) => parameters) }),
    zooms: progress.zooms.map((at) => ({ z: at.z, tiles: tilesOf(request, at), ...sumsOf((name) => at[name]) })),
  };
}

export const parameterSetsOf = ({ parametersChosen }: JobRequest): JobView["parameterSets"] =>
  parametersChosen?.map((set) => setDocument(new Map(set))) ?? null;

function termsView({
  priority,
  rateLimit,
  runWindow,
}: JobTerms): Pick<JobView, "priority" | "rateLimit" | "runWindow"> {
  if (runWindow === null) return { priority, rateLimit, runWindow };
  const { start: from, end: to } = windowTimes(runWindow.window);
  return { priority, rateLimit, runWindow: { from, to, timeZone: runWindow.timeZone } };
}

const tilesOf = ({ type }: JobRequest, { total, stored, skipped, unchanged, failed, deleted }: Counts): JobTiles => ({
  total,
  stored: stored + unchanged,
  skipped,
  failed,
  ...(type === "reseed" ? { unchanged } : {}),
  ...(type === "truncate" ? { deleted } : {}),
});

const roundedRate = ({ tilesPerSecond, timeLeft }: JobRate): JobRate => ({
  tilesPerSecond: tilesPerSecond === null ? null : Math.round(tilesPerSecond * 100) / 100,
  timeLeft,
});

/** Returns the area that limits a job, as GeoJSON. Null if the job has no area. */
export function areaView(selection: Selection | undefined): AreaView | null {
  if (selection?.kind !== "area") return null;
  return {
    type: "MultiPolygon",
    coordinates: selection.polygons.map((polygon) =>
      polygon.map((ring) => {
        const corners = cornersOf(ring);
        return [...corners, ...corners.slice(0, 1)];
      }),
    ),
  };
}
