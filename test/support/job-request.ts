import type { JobRequest } from "../../src/plan/job-request.ts";

/** A job's request for tests that look at other things; `more`: what they look at. */
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
  threadCount: 1,
  retryCount: 0,
  retryWaitMs: 0,
  failureLimit: 1,
  ownFailurePolicy: false,
  ...more,
});

/** Several combinations of parameters instead of one. */
export const combinations = (
  count: number,
): Pick<JobRequest, "parameters" | "parametersId"> & Required<Pick<JobRequest, "combinations">> => ({
  parameters: null,
  parametersId: null,
  combinations: Array.from({ length: count }, (_, n) => ({ parameters: { STYLES: `s${n}` }, parametersId: `id${n}` })),
});
