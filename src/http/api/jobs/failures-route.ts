import { canonicalSrs, type GridSet, tileExtent } from "../../../grid/grid-set.ts";
import { latitudeAt, longitudeAt } from "../../../grid/web-mercator.ts";
import type { FailedTile, FailedTilePage } from "../../../jobs/failed-tile.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { findSubset } from "../../../layer/layer.ts";
import { jsonText } from "../../../lib/json-text.ts";
import { badField, unknownJob } from "../../../lib/refusal.ts";
import type { JobView } from "../../../plan/job-request.ts";
import { refusalProblem } from "../../errors.ts";
import type { Answer } from "../../reply.ts";
import type { Resource } from "../../resource.ts";
import { type ApiParts, documentAnswer, pageOf, reader } from "../api-parts.ts";

const GEOJSON_TYPE = "application/geo+json";

/** `jobs/ID/failures`: the failed tiles of a job, page by page. `format` or Accept selects JSON or GeoJSON. */
export function failuresResource({ operations, catalogue }: ApiParts, id: number): Resource {
  return reader(async ({ query, headers }) => {
    const page = pageOf(query, { standard: 1_000, most: 10_000 }, "what next of the page before says");
    if (!page.ok) return refusalProblem(page.error);
    const job = await operations.job(id);
    const failures = await operations.failedTiles(id, page.value.after ?? 0, page.value.limit);
    if (job === undefined || failures === undefined) return refusalProblem(unknownJob(id));
    const format = query.get("format") || (headers.accept?.includes(GEOJSON_TYPE) ? "geojson" : "json");
    switch (format) {
      case "json":
        return documentAnswer("Failures", {
          gridSet: job.gridSet,
          failures: failures.tiles.map((tile) => tileDocument(tile, job)),
          next: failures.next,
        });
      case "geojson":
        return geoJson(job, failures, catalogue());
      default:
        return refusalProblem(badField("format", "json or geojson", format));
    }
  });
}

/**
 * Returns the failed tiles as GeoJSON (RFC 7946), in longitude and latitude. `next` is a foreign member beside the
 * features.
 */
function geoJson(job: JobView, { tiles, next }: FailedTilePage, { layers }: Catalogue): Answer {
  const layer = layers.get(job.layer);
  const gridSet = layer === undefined ? undefined : findSubset(layer, job.gridSet ?? "")?.gridSet;
  const project = gridSet === undefined ? undefined : toDegrees(gridSet.srs);
  if (gridSet === undefined || project === undefined)
    return refusalProblem(
      badField("format", "json (GeoJSON is of grid sets in EPSG:4326 and web mercator that the layer has)", "geojson"),
    );
  const features = tiles.map((tile) => feature(tileDocument(tile, job), gridSet, project));
  return {
    status: 200,
    type: GEOJSON_TYPE,
    body: jsonText({ type: "FeatureCollection", features, next }),
  };
}

type Project = (x: number, y: number) => readonly [lon: number, lat: number];

function toDegrees(srs: number): Project | undefined {
  switch (canonicalSrs(srs)) {
    case 4326:
      return (x, y) => [x, y];
    case 3857:
      return (x, y) => [longitudeAt(x), latitudeAt(y)];
    default:
      return undefined;
  }
}

type TileDocument = Omit<FailedTile, "combination"> & {
  readonly parameters?: Readonly<Record<string, string>> | undefined;
};

/**
 * Returns the document of a failed tile. Includes the tile's parameters if the job has several combinations of
 * parameters.
 */
const tileDocument = ({ combination, ...tile }: FailedTile, { combinations }: JobView): TileDocument =>
  combinations === undefined ? tile : { ...tile, parameters: combinations[combination] };

/** Returns a tile as a GeoJSON feature. The ring is counterclockwise, as RFC 7946 requires. */
function feature(tile: TileDocument, gridSet: GridSet, project: Project): unknown {
  const { z, x, y } = tile;
  const { minX, minY, maxX, maxY } = tileExtent(gridSet, { z, x, y });
  const ring = [
    [minX, minY],
    [maxX, minY],
    [maxX, maxY],
    [minX, maxY],
    [minX, minY],
  ] as const;
  return {
    type: "Feature",
    properties: tile,
    geometry: { type: "Polygon", coordinates: [ring.map(([px, py]) => project(px, py))] },
  };
}
