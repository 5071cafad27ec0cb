import { nuthatchCommand } from "../../core/command.ts";
import type { Job } from "../../core/jobs.ts";
import { jsonText } from "../../core/json.ts";

type Fields = Readonly<Record<string, unknown>>;

const NORMAL_PRIORITY = 10;
const NORMAL_MAX_FAILURES = 1_000;

/**
 * Returns the body of a POST to `/api/v1/jobs` that repeats a job. Lists of tiles are not in the document of the job.
 */
export function requestOf(job: Job): Fields {
  const { type, layer, gridSet, format, parameters, parameterSets, combinations, bounds, area, limit } = job;
  const fields: Fields = {
    layer,
    type,
    gridSet,
    format,
    zoomStart: job.zoomStart,
    zoomStop: job.zoomStop,
    parameters: parameters !== null && Object.keys(parameters).length > 0 ? parameters : null,
    parameterSets: parameters === null && type !== "truncate" ? (parameterSets ?? combinations ?? null) : null,
    ...(limit === "area" && area !== null && area !== undefined ? { area, areaCrs: crsOf(gridSet) } : { bounds }),
    priority: job.priority === NORMAL_PRIORITY ? null : job.priority,
    rateLimit: job.rateLimit,
    runWindow: job.runWindow,
    onlyExisting: job.onlyExisting || null,
    olderThan: job.olderThan,
    order: job.order === "by-zoom" ? null : job.order,
    maxFailurePercent: job.maxFailurePercent,
    maxFailures: ownMaxFailures(job),
    threadCount: job.threadCount === 1 ? null : job.threadCount,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Returns the number of failures in the request. Null if the request has only a percentage. */
const ownMaxFailures = ({ type, maxFailures, maxFailurePercent }: Job): number | null =>
  type === "truncate" || (maxFailurePercent === null && maxFailures === NORMAL_MAX_FAILURES) ? null : maxFailures;

/** Returns the CRS of an area, if the grid set is named after its CRS. */
const crsOf = (gridSet: string | null): string | null =>
  gridSet !== null && /^EPSG:\d+$/.test(gridSet) ? gridSet : null;

/** Returns the query with which the form for a new job, or for a schedule, shows the fields of a job. */
export function formQuery(fields: Fields): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    query.set(name, typeof value === "object" && !Array.isArray(value) ? jsonText(value) : String(value));
  return query.toString();
}

/** Returns the command line that repeats a job. Undefined if it needs a file or a pattern. */
export function commandOf(job: Job): string | undefined {
  if (job.limit !== null || job.parameters === null) return undefined;
  const flag = (name: string, value: unknown): string[] =>
    value === null || value === undefined ? [] : [`--${name}`, String(value)];
  return nuthatchCommand(
    job.type,
    job.layer,
    ...flag("grid-set", job.gridSet),
    ...flag("format", job.format),
    ...flag("zoom", `${job.zoomStart}-${job.zoomStop}`),
    ...flag("bounds", job.bounds?.join(",")),
    ...Object.entries(job.parameters).flatMap(([key, value]) => flag("parameter", `${key}=${value}`)),
    ...flag("rate-limit", job.rateLimit),
    ...flag("priority", job.priority === NORMAL_PRIORITY ? null : job.priority),
    ...flag("threads", job.threadCount === 1 ? null : job.threadCount),
    ...flag("max-failures", ownMaxFailures(job)),
    ...flag("max-failure-percent", job.maxFailurePercent),
    ...(job.onlyExisting ? ["--only-existing"] : []),
    ...flag("older-than", job.olderThan),
  );
}
