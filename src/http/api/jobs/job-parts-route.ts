import { extentOf } from "../../../grid/extent.ts";
import type { Extent } from "../../../grid/grid-set.ts";
import { type GridSubset, subsetExtent } from "../../../layer/grid-subset.ts";
import { findSubset } from "../../../layer/layer.ts";
import { unknownJob } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import type { JobView } from "../../../plan/job/job-documents.ts";
import type { RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { numberedOperation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";

type Parts = Pick<RouteOptions, "operations">;

export const jobPartOperations = [
  numberedOperation(
    "GET /jobs/{id}/timeline",
    "getJobTimeline",
    "Lists the events of a job, the oldest first",
    { answers: "JobTimeline", failures: [404] },
    ({ operations }: Parts, id) =>
      reader(async () => {
        const timeline = await operations.jobTimeline(id);
        return timeline === undefined ? refuse(unknownJob(id)) : documentAnswer("JobTimeline", { timeline });
      }),
  ),
  numberedOperation(
    "GET /jobs/{id}/levels",
    "getJobLevels",
    "Returns the progress of each level of a job",
    { answers: "JobLevels", failures: [404] },
    ({ operations }: Parts, id) =>
      reader(async () => {
        const job = await operations.jobZooms(id);
        return job === undefined ? refuse(unknownJob(id)) : documentAnswer("JobLevels", { levels: levelsOf(job) });
      }),
  ),
  numberedOperation(
    "GET /jobs/{id}/area",
    "getJobArea",
    "Returns the area of a job, in the CRS of its grid set",
    { answers: "JobArea", failures: [404] },
    ({ operations }: Parts, id) =>
      reader(async ({ catalogue }) => {
        const job = await operations.job(id);
        if (job === undefined) return refuse(unknownJob(id));
        const layer = catalogue.layers.get(job.layer);
        const subset = layer === undefined ? undefined : findSubset(layer, job.gridSet ?? "");
        return documentAnswer("JobArea", areaOf(job, subset));
      }),
  ),
];

/** Returns the progress of each level of a job. */
const levelsOf = ({ type, zooms = [] }: Pick<JobView, "type" | "zooms">): Documents["JobLevels"]["levels"] =>
  zooms.map(({ z, tiles }) => {
    const { total, stored, skipped, failed, deleted = 0n } = tiles;
    return { z, total, processed: type === "truncate" ? deleted : stored + skipped + failed, failed };
  });

/**
 * Returns the area of a job in the CRS of its grid set: the requested area; else its bounds as a box; else the box of
 * the layer's coverage.
 * @param subset the grid subset; undefined if the layer no longer has it, or the job has several
 */
function areaOf({ area, bounds }: JobView, subset: GridSubset | undefined): Documents["JobArea"] {
  const crs = subset === undefined ? null : crsOf(subset);
  if (area !== null && area !== undefined) return { crs, geometry: area };
  const extent = bounds === null ? subset && subsetExtent(subset) : extentOf(bounds);
  if (extent === undefined) return { crs, geometry: null };
  return { crs, geometry: { type: "Polygon", coordinates: [ringOf(extent)] } };
}

export const crsOf = ({ gridSet }: Pick<GridSubset, "gridSet">): string => `EPSG:${gridSet.srs}`;

/** Returns the ring of a box, counterclockwise, as RFC 7946 requires. */
export const ringOf = ({ minX, minY, maxX, maxY }: Extent): readonly (readonly [number, number])[] => [
  [minX, minY],
  [maxX, minY],
  [maxX, maxY],
  [minX, maxY],
  [minX, minY],
];
