import * as z from "zod";
import {
  asZoom,
  type Extent,
  extentText,
  intersectRects,
  rectCount,
  rectOf,
  type TileRect,
} from "../../../grid/grid-set.ts";
import { coverageAt, type GridSubset, subsetExtent } from "../../../layer/grid-subset.ts";
import { text } from "../../../lib/document-fields.ts";
import { badField, type Refusal, unknownJob } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { operation } from "../api-operation.ts";
import { decodeQuery, id } from "../query-fields.ts";
import { selectTileSet, tileSetFields } from "./requested-tile-set.ts";

/** The most tiles of a coverage map: more than any screen shows, in at most 65,536 cells. */
const MOST_TILES = 16_777_216n;

const levelsQuery = z.object(tileSetFields);
const coverageQuery = z.object({
  ...tileSetFields,
  z: text.meta({ description: "The level, by its number from 0" }),
  bbox: text
    .exactOptional()
    .meta({ description: "minx,miny,maxx,maxy in units of the grid set. Absent: the coverage" }),
  job: id("the id of a job").meta({ description: "Shows the failed tiles of this job" }),
});

export const coverageOperations = [
  operation(
    "GET /coverage",
    "getCoverage",
    "Returns the stored, stale, failed and recently evicted tiles of a box, and tiles that are being rendered",
    { openQuery: coverageQuery, answer: "Coverage", failures: [404] },
    async ({ operations }, exchange) => {
      const query = decodeQuery(coverageQuery, exchange);
      if (!query.ok) return query;
      const { job } = query.value;
      const requested = selectTileSet(query.value, coverageQuery, exchange);
      if (!requested.ok) return requested;
      const { tileSet, subset } = requested.value;
      const rect = rectangle(query.value, subset);
      if (!rect.ok) return rect;
      if (job !== undefined && (await operations.job(job)) === undefined) return refuse(unknownJob(job));
      return ok(await operations.coverage({ tileSet, rect: rect.value, job }, exchange.signal));
    },
  ),
  operation(
    "GET /coverage/levels",
    "getCoverageLevels",
    "Returns how many tiles of each level are stored, stale or failed",
    { openQuery: levelsQuery, answer: "CoverageLevels", failures: [404] },
    async ({ operations }, exchange) => {
      const query = decodeQuery(levelsQuery, exchange);
      if (!query.ok) return query;
      const requested = selectTileSet(query.value, levelsQuery, exchange);
      if (!requested.ok) return requested;
      return ok({ levels: await operations.coverageLevels(requested.value.tileSet, exchange.signal) });
    },
  ),
];

/** Returns the tiles of a box at one level, within the layer's coverage. */
function rectangle({ z: level, bbox }: z.output<typeof coverageQuery>, subset: GridSubset): Result<TileRect, Refusal> {
  const { zoomStart, zoomStop, gridSet } = subset;
  const zoom = /^\d{1,3}$/.test(level) ? Number(level) : Number.NaN;
  if (!(zoom >= zoomStart && zoom <= zoomStop))
    return refuse(badField("z", `a level of the layer from ${zoomStart} to ${zoomStop}`, level));
  const whole = coverageAt(subset, asZoom(zoom));
  const box = bbox === undefined ? undefined : parseBox(bbox);
  if (bbox !== undefined && box === undefined)
    return refuse(badField("bbox", "minx,miny,maxx,maxy with min < max, in units of the grid set", bbox));
  const inBox = box === undefined ? whole : rectOf(gridSet, asZoom(zoom), box);
  const rect = whole === undefined || inBox === undefined ? undefined : intersectRects(whole, inBox);
  if (rect === undefined)
    return refuse(badField("bbox", `a box that overlaps the layer's ${extentText(subsetExtent(subset))}`, bbox));
  if (rectCount(rect) > MOST_TILES)
    return refuse(badField("bbox", `a box of at most ${MOST_TILES} tiles of level ${zoom}`, bbox ?? null));
  return ok(rect);
}

function parseBox(value: string): Extent | undefined {
  const [minX, minY, maxX, maxY, ...more] = value
    .split(",")
    .map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (minX === undefined || minY === undefined || maxX === undefined || maxY === undefined || more.length > 0)
    return undefined;
  const isBox = [minX, minY, maxX, maxY].every(Number.isFinite) && minX < maxX && minY < maxY;
  return isBox ? { minX, minY, maxX, maxY } : undefined;
}
