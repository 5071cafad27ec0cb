import * as z from "zod";
import { latitudeAt, longitudeAt } from "../../../grid/crs/web-mercator.ts";
import { canonicalSrs, type GridSet, tileExtent } from "../../../grid/grid-set.ts";
import type { FailedTile, FailedTilePage } from "../../../jobs/record/failed-tile-store.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { findSubset } from "../../../layer/layer.ts";
import { badField, unknownJob } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import { jsonText } from "../../../lib/text/json-text.ts";
import type { JobView } from "../../../plan/job/job-documents.ts";
import type { Reply } from "../../resource.ts";
import { documentAnswer, numberedOperation } from "../api-operation.ts";
import { answer } from "../openapi/openapi-parts.ts";
import { page } from "../query-fields.ts";
import { crsOf, ringOf } from "./job-parts-route.ts";

const GEOJSON_TYPE = "application/geo+json";

const failuresQuery = z.object({
  ...page({ most: 10_000, standard: 1_000, cursor: "what next of the page before says" }),
  format: z.enum(["json", "geojson"], { error: "json or geojson" }).exactOptional(),
  crs: z
    .enum(["native"], { error: "native (the CRS of the grid set), or none for longitude and latitude" })
    .exactOptional()
    .meta({ description: "Of GeoJSON. native: the CRS of the grid set; absent: longitude and latitude" }),
});

export const failureOperations = [
  numberedOperation(
    "GET /jobs/{id}/failures",
    "listFailures",
    "Lists the failed tiles of a job in the order of their failures, y from the bottom; as GeoJSON with format=geojson or by Accept",
    {
      query: failuresQuery,
      answers: {
        200: {
          description: "OK",
          content: { ...answer("Failures").content, [GEOJSON_TYPE]: { schema: { type: "object" } } },
        },
      },
      failures: [404],
    },
    async ({ operations }, { key: id, fields: { limit, after = 0, format, crs }, headers, catalogue }) => {
      const job = await operations.job(id);
      const failures = await operations.failedTiles(id, { after, limit });
      if (job === undefined || failures === undefined) return refuse(unknownJob(id));
      const standard = headers.accept?.includes(GEOJSON_TYPE) ? "geojson" : "json";
      if ((format ?? standard) === "geojson") return geoJson(job, failures, crs, catalogue);
      return documentAnswer("Failures", {
        gridSet: job.gridSet,
        failures: failures.tiles.map((tile) => tileDocument(tile, job)),
        next: failures.next,
      });
    },
  ),
];

/**
 * Returns the failed tiles as GeoJSON: in longitude and latitude (RFC 7946), or in the CRS of the grid set, named in
 * `crs` as GDAL and OpenLayers expect it. `next` is a foreign member of the collection.
 */
function geoJson(
  job: JobView,
  { tiles, next }: FailedTilePage,
  crs: "native" | undefined,
  { layers }: Catalogue,
): Reply {
  const layer = layers.get(job.layer);
  const gridSet = layer === undefined ? undefined : findSubset(layer, job.gridSet ?? "")?.gridSet;
  if (gridSet === undefined) return refuse(badField("format", "json, as the layer has no such grid set", "geojson"));
  const project = crs === "native" ? asTheyAre : toDegrees(gridSet.srs);
  if (project === undefined)
    return refuse(badField("crs", `native, as the grid set has the CRS ${crsOf({ gridSet })}`, crs ?? null));
  const features = tiles.map((tile) => feature(tileDocument(tile, job), gridSet, project));
  return {
    status: 200,
    type: GEOJSON_TYPE,
    body: jsonText({
      type: "FeatureCollection",
      ...(crs === "native" ? { crs: { type: "name", properties: { name: crsOf({ gridSet }) } } } : {}),
      features,
      next,
    }),
  };
}

type Project = (x: number, y: number) => readonly [lon: number, lat: number];

const asTheyAre: Project = (x, y) => [x, y];

function toDegrees(srs: number): Project | undefined {
  switch (canonicalSrs(srs)) {
    case 4326:
      return asTheyAre;
    case 3857:
      return (x, y) => [longitudeAt(x), latitudeAt(y)];
    default:
      return undefined;
  }
}

type TileDocument = Omit<FailedTile, "combination"> & {
  readonly parameters?: Readonly<Record<string, string>> | undefined;
};

/** Returns the document of a failed tile. Includes its parameters if the job has several combinations of parameters. */
const tileDocument = ({ combination, ...tile }: FailedTile, { combinations }: JobView): TileDocument =>
  combinations === undefined ? tile : { ...tile, parameters: combinations[combination] };

/** Returns a tile as a GeoJSON feature. */
function feature(tile: TileDocument, gridSet: GridSet, project: Project): unknown {
  const { z, x, y } = tile;
  const ring = ringOf(tileExtent(gridSet, { z, x, y }));
  return {
    type: "Feature",
    properties: tile,
    geometry: { type: "Polygon", coordinates: [ring.map(([px, py]) => project(px, py))] },
  };
}
