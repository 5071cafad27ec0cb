import { parameterSetsOf } from "../../jobs/view/job-view.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { Slices } from "../../lib/process/slices.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result } from "../../lib/result.ts";
import { addCounts, type Estimated, type EstimateSources, estimate } from "../../plan/estimate/estimate.ts";
import { estimateTruncate } from "../../plan/estimate/estimate-truncate.ts";
import { addGrowth, fitsOf, type Growth, type GrowthLimits, NO_GROWTH } from "../../plan/estimate/store-growth.ts";
import type { JobCounter } from "../../plan/job/job-counter.ts";
import type { EstimatesView, EstimateView, JobView } from "../../plan/job/job-documents.ts";
import type { JobPage, JobRequest } from "../../plan/job/job-request.ts";
import type { BuildContext, CountedParts } from "../coordinator-parts.ts";

export interface EstimateServiceParts extends CountedParts, Pick<BuildContext, "store" | "eviction" | "clock"> {
  readonly counter: JobCounter;
  /** Returns whether all tiles of a layer have been counted. */
  readonly isCounted: (layer: LayerName) => boolean;
  readonly jobs: (filter: JobPage) => Promise<readonly JobView[]>;
}

/** The number of the layer's last jobs whose rate an estimate uses. */
const JOBS_TO_JUDGE = 20;

/** Estimates the tiles, bytes and time of jobs before they are made. */
export class EstimateService {
  readonly #parts: EstimateServiceParts;

  constructor(parts: EstimateServiceParts) {
    this.#parts = parts;
  }

  /** Estimates a job. @throws the reason of the signal */
  async estimate(request: JobRequest, signal: AbortSignal): Promise<Result<EstimateView, Refusal>> {
    await this.#parts.recounted();
    const estimated = await this.#estimated(request, new Slices(this.#parts.clock, signal));
    return estimated.ok ? ok(estimated.value.view) : estimated;
  }

  /** Estimates several jobs together. @throws the reason of the signal */
  async estimateAll(requests: readonly JobRequest[], signal: AbortSignal): Promise<Result<EstimatesView, Refusal>> {
    await this.#parts.recounted();
    const slices = new Slices(this.#parts.clock, signal);
    const parts = [];
    for (const request of requests) {
      const estimated = await this.#estimated(request, slices);
      if (!estimated.ok) return estimated;
      parts.push({ request, estimated: estimated.value });
    }
    return ok(estimateBatch(parts, await this.#limits()));
  }

  async #estimated(request: JobRequest, slices: Slices): Promise<Result<Estimated, Refusal>> {
    const { counter, catalogue, isCounted, jobs, store } = this.#parts;
    const { layer } = request;
    const totals = await counter.count(request, slices);
    if (!totals.ok) return totals;
    const sources: EstimateSources = {
      ...(await this.#limits()),
      totals: totals.value,
      layer: catalogue().layers.get(layer),
      isCounted: isCounted(layer),
      jobs: await jobs({ layer, limit: JOBS_TO_JUDGE }),
    };
    // Many short requests would block the coordinator, so it yields between them.
    if (slices.isOver) await slices.next();
    return ok(
      await slices.run(
        request.type === "truncate" ? estimateTruncate(request, { ...sources, store }) : estimate(request, sources),
      ),
    );
  }

  async #limits() {
    const { ledger, quota, diskSpace, store, eviction } = this.#parts;
    const space = await diskSpace();
    return { ledger, quota: quota(), options: eviction(), space, blockBytes: store.allocated(1) };
  }
}

/** Sums the estimates of several jobs. The time is the sum of the times, because the jobs run one after the other. */
function estimateBatch(
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
