import { type Layer, metatileFor } from "../layer/layer.ts";
import type { SeedRange } from "../quota/eviction.ts";
import { combinationsOf } from "./combination.ts";
import type { JobRequest } from "./job-request.ts";

/** What a seed stores or counts as stored, for the quota, which spares it; nothing for a truncate. */
export function seedRangesOf(request: JobRequest, configured: Layer | undefined): SeedRange[] {
  const { layer, format } = request;
  if (request.type === "truncate" || format === null) return [];
  const [width, height] = request.metatile ?? metatileFor(configured, format);
  // A metatile at the border is stored beyond it.
  return request.ranges.flatMap(({ gridSet, rects }) => {
    const wider = rects.map((r) => ({
      z: r.z,
      minX: r.minX - width + 1,
      minY: r.minY - height + 1,
      maxX: r.maxX + width - 1,
      maxY: r.maxY + height - 1,
    }));
    const combinations = combinationsOf(request) ?? [];
    return combinations.map(({ parametersId }) => ({ layer, gridSet, format, parametersId, rects: wider }));
  });
}
