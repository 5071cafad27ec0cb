import type { Extent } from "../../../grid/grid-set.ts";
import type { BatchRequest } from "../../../plan/plan-batch.ts";
import type { RequestedArea, RequestedTile, SeedRequest } from "../../../plan/seed-request.ts";
import { setDocument } from "../../../plan/value-choice.ts";
import type { ScheduledJob } from "../../../schedule/schedule.ts";
import { GEOJSON_CRS } from "../jobs/area-fields.ts";
import { termsDocument } from "../jobs/job-terms-codec.ts";

/**
 * The document that asks for the jobs of a schedule: may be sent again. Undefined fields are left out as it is written.
 * `limit` is no field of a request: what has been left without its area is refused, and does not become a job of everything.
 */
export const scheduledJobDocument = ({ many, confirmed, limit }: ScheduledJob) => {
  const { request } = many;
  return {
    ...layersDocument(many),
    type: request.type,
    gridSet: request.gridSetId,
    srs: request.srs,
    gridSets: many.gridSets,
    format: request.format,
    formats: many.formats,
    ...parametersDocument(many),
    bounds: boundsDocument(request.bounds),
    ...areaDocument(request.area),
    tiles: request.tiles?.map(tileName),
    limit,
    zoomStart: request.zoomStart,
    zoomStop: request.zoomStop,
    threadCount: request.threadCount,
    tileFailureRetryCount: request.tileFailureRetryCount,
    tileFailureRetryWaitTime: request.tileFailureRetryWaitMs,
    totalFailuresBeforeAborting: request.totalFailuresBeforeAborting,
    maxFailurePercent: request.maxFailurePercent,
    onlyExisting: request.onlyExisting,
    olderThan: request.olderThan?.text,
    order: request.order,
    ...termsDocument(request.terms),
    supersede: request.supersede,
    confirm: confirmed ? true : undefined,
  };
};

const layersDocument = ({ layers, layersAre }: BatchRequest) =>
  layersAre === "names" ? { layer: layers[0] } : { layers };

const parametersDocument = ({ request: { parameters }, parameterSets }: BatchRequest) => ({
  parameters: parameters.size === 0 ? undefined : Object.fromEntries(parameters),
  parameterSets: typeof parameterSets === "object" ? parameterSets.map(setDocument) : parameterSets,
});

const boundsDocument = (bounds: Extent | undefined) =>
  bounds === undefined ? undefined : [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY];

/** As GeoJSON where it has a CRS; one in the CRS of the grid set is text, which alone may be that. */
function areaDocument(area: SeedRequest["area"]) {
  if (area === undefined) return {};
  const { polygons, srs, bounds } = area;
  if (srs === "grid_set") return { area: wktOf(polygons) };
  if (bounds !== undefined) return { bounds: boundsDocument(bounds), boundsCrs: `EPSG:${srs}` };
  const coordinates = polygons.map((rings) => rings.map(closed));
  return {
    area: { type: "MultiPolygon", coordinates },
    areaCrs: srs === GEOJSON_CRS ? undefined : `EPSG:${srs}`,
  };
}

function wktOf(polygons: RequestedArea["polygons"]): string {
  const ringText = (ring: RequestedArea["polygons"][number][number]): string =>
    `(${closed(ring)
      .map(([x, y]) => `${x} ${y}`)
      .join(",")})`;
  return `MULTIPOLYGON(${polygons.map((rings) => `(${rings.map(ringText).join(",")})`).join(",")})`;
}

const closed = <T>(ring: readonly T[]): readonly T[] => [...ring, ...ring.slice(0, 1)];

const tileName = ({ z, x, y }: RequestedTile): string => `${z}/${x}/${y}`;
