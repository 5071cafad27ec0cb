import type { LayerName } from "../../layer/tile-set.ts";
import { Slices } from "../../lib/process/slices.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result } from "../../lib/result.ts";
import { type Estimated, type EstimateSources, estimate } from "../../plan/estimate/estimate.ts";
import { estimateTruncate } from "../../plan/estimate/estimate-truncate.ts";
import type { JobCounter } from "../../plan/job/job-counter.ts";
import type { EstimatesView, EstimateView, JobView } from "../../plan/job/job-documents.ts";
import type { JobPage, JobRequest } from "../../plan/job/job-request.ts";
import type { BuildContext, CountedParts } from "../coordinator-parts.ts";
import { estimateBatch } from "./estimate-batch.ts";

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
