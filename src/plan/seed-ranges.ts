import { type Layer, metatileFor } from "../layer/layer.ts";
import type { SeedRange } from "../quota/eviction.ts";
import { combinationsOf } from "./combination.ts";
import type { JobRequest } from "./job-request.ts";

/** Returns the ranges that a seed stores or counts as stored, which eviction spares. Empty for a truncate. */
export function seedRangesOf(request: JobRequest, configured: Layer | undefined): SeedRange[] {
  const { layer, format } = request;
  if (request.type === "truncate" || format === null) return [];
  const [width, height] = request.metatile ?? metatileFor(configured, format);
  // A metatile at the border also stores tiles beyond the range.
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
