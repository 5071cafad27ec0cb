import { parameterSetsOf } from "../../jobs/view/job-view.ts";
import { addCounts, type Estimated } from "../../plan/estimate/estimate.ts";
import { addGrowth, fitsOf, type Growth, type GrowthLimits, NO_GROWTH } from "../../plan/estimate/store-growth.ts";
import type { EstimatesView } from "../../plan/job/job-documents.ts";
import type { JobRequest } from "../../plan/job/job-request.ts";

/** Sums the estimates of several jobs. The time is the sum of the times, because the jobs run one after the other. */
export function estimateBatch(
  parts: readonly { readonly request: JobRequest; readonly estimated: Estimated }[],
  limits: GrowthLimits,
): EstimatesView {
  const views = parts.map(({ estimated }) => estimated.view);
  const seconds = views.reduce<number | null>((sum, view) => addNumbers(sum, view.seconds), 0);
  const byLayer = new Map<string, Growth>();
  for (const { request, estimated } of parts)
    byLayer.set(request.layer, addGrowth(byLayer.get(request.layer) ?? NO_GROWTH, estimated.growth));
  return {
    tiles: views.reduce((sum, { tiles }) => sum + tiles, 0n),
    kept: views.reduce<bigint | null>((sum, { kept }) => addCounts(sum, kept), 0n),
    missing: views.reduce<bigint | null>((sum, { missing }) => addCounts(sum, missing), 0n),
    bytes: views.reduce<bigint | null>((sum, { bytes }) => addCounts(sum, bytes), 0n),
    bytesOnDisk: views.reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0n),
    inodes: views.reduce((sum, { inodes }) => sum + inodes, 0n),
    ...fitsOf(byLayer, limits),
    seconds: seconds === null ? null : Math.min(Number.MAX_SAFE_INTEGER, seconds),
    jobs: parts.map(({ request, estimated }) => {
      const { layer, gridSet, format, parameters, zoomStart, zoomStop } = request;
      const parameterSets = parameterSetsOf(request);
      return { layer, gridSet, format, parameters, parameterSets, zoomStart, zoomStop, ...estimated.view };
    }),
  };
}

const addNumbers = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
