import type { BatchRequest } from "../plan/plan-batch.ts";
import type { SeedRequest } from "../plan/seed-request.ts";
import type { RequestedChoice } from "../plan/value-choice.ts";
import type { ScheduledJob } from "./schedule.ts";

/** JSON has no maps. */
type WrittenSet = readonly (readonly [string, string])[];

/** What a job is limited to: it may be nearly as large as a request. */
type Place = Pick<SeedRequest, "area" | "tiles">;

interface WrittenJob {
  readonly many: Omit<BatchRequest, "request" | "parameterSets">;
  readonly request: Omit<SeedRequest, "parameters" | "tiles">;
  readonly parameters: WrittenSet;
  readonly parameterSets?: readonly (readonly (readonly [string, RequestedChoice])[])[] | "*";
  readonly confirmed: boolean;
}

/** A schedule's job as the database keeps it: what may be large by itself, so that lists need not read it. */
export function writeScheduledJob({ many, confirmed }: ScheduledJob): { job: string; place: string | null } {
  const { request: whole, parameterSets, ...choices } = many;
  const { parameters, area, tiles, ...rest } = whole;
  // A box is small.
  const request = area?.bounds === undefined ? rest : { ...rest, area };
  const place: Place = {
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
  return { job: JSON.stringify(job), place: Object.keys(place).length === 0 ? null : JSON.stringify(place) };
}

/** `writeScheduledJob` the other way. `place`: null where it has none, or is to be left without it. */
export function readScheduledJob(written: string, place: string | null): ScheduledJob {
  // Both were written by this file.
  const { many, request, parameters, parameterSets, confirmed }: WrittenJob = JSON.parse(written);
  const limits: Place = place === null ? {} : JSON.parse(place);
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
