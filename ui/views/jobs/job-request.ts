import { JOB_OPTIONS, optionFlags } from "../../core/model/job-options.ts";
import type { Job } from "../../core/model/jobs.ts";
import { nuthatchCommand, optionWords, parameterWords } from "../../core/server/command.ts";
import { jsonText } from "../../core/server/json.ts";

type Fields = Readonly<Record<string, unknown>>;

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
    ...optionsOf(job),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Returns the options with which the request of the job differed from the standard. */
function optionsOf(job: Job): Fields {
  const values: ReadonlyMap<string, unknown> = new Map(Object.entries(job));
  const own = JOB_OPTIONS.filter(
    ({ name, types, standard }) =>
      types.includes(job.type) &&
      // A request with only a percentage of failures has no number of them, which the document shows as null.
      (values.get(name) !== standard || (name === "maxFailures" && job.maxFailurePercent !== null)),
  );
  return Object.fromEntries(own.map(({ name }) => [name, values.get(name) ?? null]));
}

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
  return nuthatchCommand(
    job.type,
    job.layer,
    ...optionWords({
      "grid-set": job.gridSet,
      format: job.format,
      zoom: `${job.zoomStart}-${job.zoomStop}`,
      bounds: job.bounds?.join(","),
    }),
    ...parameterWords(job.parameters),
    ...optionFlags(optionsOf(job)),
  );
}
