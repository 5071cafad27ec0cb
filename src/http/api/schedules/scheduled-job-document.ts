import type { Extent } from "../../../grid/grid-set.ts";
import { encodeFields } from "../../../plan/job/job-fields.ts";
import { setDocument } from "../../../plan/parameters/value-choice.ts";
import type { BatchRequest } from "../../../plan/plan-batch.ts";
import type { RequestedArea, RequestedTile, SeedRequest } from "../../../plan/seed-request.ts";
import type { ScheduledJob } from "../../../schedule/schedule.ts";
import type { Documents } from "../documents/documents.ts";
import { GEOJSON_CRS } from "../jobs/area-fields.ts";
import { termsDocument } from "../jobs/job-terms-codec.ts";

/**
 * Returns the document that requests the jobs of a schedule. A client may send it back. The JSON text lacks undefined
 * fields.
 *
 * `limit` replaces an area or tiles that a list omits because of their size. No request accepts `limit`, so a document
 * from a list is refused if a client sends it back, and does not become a job of the whole layer.
 */
export const scheduledJobDocument = ({ many, confirmed, limit }: ScheduledJob): Documents["ScheduledJob"] => {
  const { request } = many;
  return {
    ...layersDocument(many),
    type: request.type,
    gridSet: request.gridSet,
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
    ...encodeFields(request),
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

const boundsDocument = (bounds: Extent | undefined): readonly [number, number, number, number] | undefined =>
  bounds === undefined ? undefined : [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY];

/**
 * Returns the fields of an area: GeoJSON for an area with a CRS, and WKT for an area in the CRS of the grid set, which
 * GeoJSON cannot express.
 */
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
