import { type Area, rectAround, stepsOf } from "../grid/area.ts";
import { extentAround, type Polygon } from "../grid/area-parts.ts";
import { asTileRect, asZoom, intersectRects, type TileRect } from "../grid/grid-set.ts";
import { findSubset, type Layer } from "../layer/layer.ts";
import type { FeedSource } from "../layer/update-source.ts";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result } from "../lib/result.ts";
import type { JobOptions } from "./job/job-options.ts";
import type { JobRequest } from "./job/job-request.ts";
import { inFormat, planSeed } from "./plan-job.ts";
import { areaLevel, MOST_STEPS } from "./plan-selection.ts";
import type { JobType } from "./seed-request.ts";

/**
 * The number of tiles around the tiles that a changed area touches, because symbols and labels extend over the edges of
 * tiles. GeoWebCache takes every tile whose centre is nearer than one and a half tiles.
 */
const BUFFER = 1;

/**
 * Plans the jobs after a change of a layer's data in an area: a truncate of all parameters, and then seeds of the
 * default parameters. Returns no jobs if the layer has no tile there. Pure.
 * @param polygons in units of the source's grid set
 */
export function planUpdate(
  polygons: readonly Polygon[],
  { gridSet, format, operation, threadCount }: Omit<FeedSource, "url">,
  layer: Layer,
  options: JobOptions,
): Result<readonly JobRequest[], Refusal> {
  const limited = (type: JobType, formatOf: string | undefined): Result<JobRequest | undefined, Refusal> => {
    const request = { type, gridSet, parameters: new Map(), threadCount };
    const planned = planSeed(formatOf === undefined ? request : { ...request, format: formatOf }, layer, options);
    return planned.ok ? ok(inArea(planned.value, polygons, layer)) : planned;
  };
  const truncate = limited("truncate", format);
  if (!truncate.ok) return truncate;
  if (truncate.value === undefined) return ok([]);
  const jobs: JobRequest[] = [{ ...truncate.value, parameters: null, parametersId: null }];
  if (operation === "truncate") return ok(jobs);
  const formats = format === undefined ? layer.formats.map(({ mimeType }) => mimeType) : [format];
  const first = limited("seed", formats[0]);
  if (!first.ok) return first;
  if (first.value === undefined) return ok(jobs);
  for (const one of formats) {
    // The jobs share the ranges and the selection.
    const seed = inFormat(first.value, { type: "seed", format: one }, layer);
    if (!seed.ok) return seed;
    jobs.push(seed.value);
  }
  return ok(jobs);
}

/**
 * Limits a planned job of a whole grid set to the tiles in an area and around it. Undefined if there are no such tiles.
 */
function inArea(planned: JobRequest, polygons: readonly Polygon[], layer: Layer): JobRequest | undefined {
  const [range] = planned.ranges;
  const subset = range && findSubset(layer, range.gridSet);
  if (range === undefined || subset === undefined) return undefined;
  const bounds = extentAround(polygons);
  const levels = range.rects.map(({ z }) => areaLevel(subset, z));
  const rects = range.rects.flatMap((whole, i): TileRect[] => {
    const level = levels[i];
    const around = level && rectAround(bounds, level);
    const wide = around && {
      z: whole.z,
      minX: around.minX - BUFFER,
      minY: around.minY - BUFFER,
      maxX: around.maxX + BUFFER,
      maxY: around.maxY + BUFFER,
    };
    const rect = wide && intersectRects(asTileRect(wide), whole);
    return rect === undefined ? [] : [rect];
  });
  const zooms = rects.map(({ z }) => z);
  if (rects.length === 0) return undefined;
  const area: Area = { kind: "area", polygons, levels, buffer: BUFFER };
  const limited = {
    ...planned,
    bounds,
    zoomStart: asZoom(Math.min(...zooms)),
    zoomStop: asZoom(Math.max(...zooms)),
    ranges: [{ gridSet: range.gridSet, rects }],
  };
  // An area with too many edges is replaced by the box around it.
  return stepsOf(area) > MOST_STEPS ? limited : { ...limited, limit: area.kind, selection: area };
}
