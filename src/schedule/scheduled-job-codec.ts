import type { RequestedChoice } from "../plan/parameters/value-choice.ts";
import type { BatchRequest } from "../plan/plan-batch.ts";
import type { SeedRequest } from "../plan/seed-request.ts";
import type { ScheduledJob } from "./schedule.ts";

/** Entries of a map, because JSON has no maps. */
type WrittenSet = readonly (readonly [string, string])[];

/** The area or tiles that limit a job. They may be nearly as large as a whole request. */
type SelectionFields = Pick<SeedRequest, "area" | "tiles">;

interface WrittenJob {
  readonly many: Omit<BatchRequest, "request" | "parameterSets">;
  readonly request: Omit<SeedRequest, "parameters" | "tiles">;
  readonly parameters: WrittenSet;
  readonly parameterSets?: readonly (readonly (readonly [string, RequestedChoice])[])[] | "*";
  readonly confirmed: boolean;
}

/** Encodes a schedule's job for the database. `selection` has large limits apart, so that lists need not read them. */
export function writeScheduledJob({ many, confirmed }: ScheduledJob): { job: string; selection: string | null } {
  const { request: whole, parameterSets, ...choices } = many;
  const { parameters, area, tiles, ...rest } = whole;
  // A bounding box is small, so it stays in the request.
  const request = area?.bounds === undefined ? rest : { ...rest, area };
  const selection: SelectionFields = {
    ...(area === undefined || area.bounds !== undefined ? {} : { area }),
    ...(tiles === undefined ? {} : { tiles }),
  };
  const job: WrittenJob = {
    many: choices,
    request,
    parameters: [...parameters],
    ...(parameterSets === undefined
      ? {}
      : { parameterSets: parameterSets === "*" ? "*" : parameterSets.map((set) => [...set]) }),
    confirmed,
  };
  return {
    job: JSON.stringify(job),
    selection: Object.keys(selection).length === 0 ? null : JSON.stringify(selection),
  };
}

/**
 * Decodes a job that `writeScheduledJob` has encoded. `selection` is null if the job has no large limit, or to omit it.
 */
export function readScheduledJob(written: string, selection: string | null): ScheduledJob {
  // `writeScheduledJob` has written both, so they need no validation.
  const { many, request, parameters, parameterSets, confirmed }: WrittenJob = JSON.parse(written);
  const limits: SelectionFields = selection === null ? {} : JSON.parse(selection);
  return {
    many: {
      ...many,
      request: { ...request, ...limits, parameters: new Map(parameters) },
      ...(parameterSets === undefined
        ? {}
        : { parameterSets: parameterSets === "*" ? "*" : parameterSets.map((set) => new Map(set)) }),
    },
    confirmed,
  };
}
