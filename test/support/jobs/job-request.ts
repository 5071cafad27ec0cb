import type { JobRequest } from "../../../src/plan/job/job-request.ts";

/** Returns a job request with defaults; `more` has the fields that the test is about. */
export const jobRequest = (more: Partial<JobRequest> = {}): JobRequest => ({
  type: "seed",
  layer: "a",
  gridSet: "g",
  format: "image/png",
  parameters: {},
  parametersId: "",
  bounds: null,
  zoomStart: 0,
  zoomStop: 0,
  ranges: [],
  metatile: [1, 1],
  threadCount: 1,
  retryCount: 0,
  retryWaitMs: 0,
  maxFailures: 1,
  ownFailurePolicy: false,
  ...more,
});

/** Returns fields that give a job request several combinations of parameters instead of one. */
export const combinations = (
  count: number,
): Pick<JobRequest, "parameters" | "parametersId"> & Required<Pick<JobRequest, "combinations">> => ({
  parameters: null,
  parametersId: null,
  combinations: Array.from({ length: count }, (_, n) => ({ parameters: { STYLES: `s${n}` }, parametersId: `id${n}` })),
});
