import { rectHolds, type TileRect, type TileX, type TileY, type Zoom } from "../../grid/grid-set.ts";
import { indexOf } from "../../grid/selection.ts";
import { isSelected } from "../../grid/tile-selection.ts";
import { decodeJobs } from "../../http/api/jobs/job-request-codec.ts";
import { type Layer, STANDARD_LAYER_JOBS } from "../../layer/layer.ts";
import { atOnce } from "../../lib/process/slices.ts";
import { type Refusal, refusalMessage } from "../../lib/refusal.ts";
import type { Result } from "../../lib/result.ts";
import type { JobOptions } from "../../plan/job/job-options.ts";
import type { JobRequest } from "../../plan/job/job-request.ts";
import { API_RULES, planSeedInSteps } from "../../plan/plan-job.ts";
import { CommandFailure, EXIT } from "../exit.ts";

/** Required by the planning. They do not affect a range. */
const OPTIONS: JobOptions = {
  maxRunningTasks: 1,
  maxThreadCount: 1,
  outageLimitSeconds: 0,
  historyDays: 1,
  historyJobs: 1,
  historyMiB: 1,
  confirmTiles: 1,
};

/** The tiles of one tile set that a command processes. */
export interface PlannedRange {
  readonly request: JobRequest;
  /** Returns whether a tile is in the range, y from the bottom. */
  readonly holds: (z: Zoom, x: TileX, y: TileY) => boolean;
}

/** Plans the range of a job request like a server, but without one. `nowMs` is in ms since 1970. @throws CommandFailure */
export function plannedRange(document: object, layer: Layer, nowMs: number): PlannedRange {
  const decoded = required(atOnce(decodeJobs({ ...document, type: "seed" })));
  if ("many" in decoded) throw new CommandFailure("expected one grid set, format and parameters", EXIT.usage);
  const plan = planSeedInSteps(decoded.request, { ...layer, jobs: STANDARD_LAYER_JOBS }, OPTIONS, {
    rules: API_RULES,
    nowMs,
  });
  const request = required(atOnce(plan));
  const rects = new Map<number, TileRect>(
    request.ranges.flatMap((range) => range.rects.map((rect) => [rect.z, rect] as const)),
  );
  const selection = request.selection === undefined ? undefined : indexOf(request.selection);
  return {
    request,
    holds(z, x, y) {
      const rect = rects.get(z);
      if (rect === undefined || !rectHolds(rect, x, y)) return false;
      return selection === undefined || isSelected(selection, z, x, y);
    },
  };
}

function required<T>(result: Result<T, Refusal>): T {
  if (result.ok) return result.value;
  throw new CommandFailure(refusalMessage(result.error), EXIT.usage);
}
