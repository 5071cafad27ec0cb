import * as z from "zod";
import type { ExportPage, ExportPageRequest } from "../../../coordinator/copy/export-service.ts";
import { asTileY, type TileIndex } from "../../../grid/grid-set.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import { findSubset } from "../../../layer/layer.ts";
import { Slices } from "../../../lib/process/slices.ts";
import { badField, type Refusal, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { limitConcurrency } from "../../limit-concurrency.ts";
import type { Exchange, Reply, RouteOptions } from "../../resource.ts";
import { operation } from "../api-operation.ts";
import { jobRequestSchema } from "../jobs/job-document.ts";
import { decodeJobs } from "../jobs/job-request-codec.ts";
import { planRequested } from "../jobs/jobs-route.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { encodePack, PACK_TYPE, packJson, parseTileName } from "./tile-pack.ts";

/** The limits of one page. */
const MOST_TILES = 4_096;
const MOST_BYTES = 8 * 1024 * 1024;
/** The most concurrent exports of one process. Each has a whole page in memory. */
const MOST_AT_ONCE = 4;

const { layer, gridSet, srs, bounds, boundsCrs, area, areaCrs, tiles, zoomStart, zoomStop, format, parameters } =
  jobRequestSchema.shape;

/**
 * The tiles of a layer in one grid set, format and combination of parameters, with the field names of a seed request.
 */
export const tileExportSchema = z.strictObject({
  layer: layer.unwrap(),
  ...{ gridSet, srs, bounds, boundsCrs, area, areaCrs, tiles, zoomStart, zoomStop, format, parameters },
  after: z.string().exactOptional().meta({ description: "`next` of the page before; absent: the first page" }),
  mostTiles: z.int().min(1).max(MOST_TILES).default(MOST_TILES).meta({ default: MOST_TILES }),
});

type Parts = Pick<RouteOptions, "operations" | "configured" | "clock">;

const bounded = limitConcurrency(MOST_AT_ONCE, "pages are being exported");

/** An export changes nothing, so it needs only the right to read. */
export const exportOperations = [
  operation(
    "POST /tiles/export",
    "exportTiles",
    "Returns a page of the stored tiles of a range, with their bytes. Renders nothing",
    {
      need: "read",
      body: { TileExportRequest: tileExportSchema },
      answers: {
        200: packJson(
          'A line of JSON, {"tiles": [["z/x/y", bytes], …], "next": "z/x/y" or null, "missing", "complete"}, then the bytes',
        ),
      },
      failures: [404, 422],
    },
    (parts, exchange) => bounded(() => answerTo(exchange, parts)),
  ),
];

async function answerTo(exchange: Exchange, parts: Parts): Promise<Reply> {
  const body = await exchange.body((bytes) => parseObject(bytes, "tile export"));
  if (!body.ok) return body;
  const planned = await plan(body.value, exchange, parts);
  if (!planned.ok) return planned;
  const { request, subset } = planned.value;
  const page = await parts.operations.exportTiles(request, exchange.signal);
  return page.ok ? { status: 200, type: PACK_TYPE, body: packOf(page.value, subset) } : page;
}

interface PlannedExport {
  readonly request: ExportPageRequest;
  readonly subset: GridSubset;
}

/** Plans the range of a document like the range of a seed. */
async function plan(
  document: Readonly<Record<string, unknown>>,
  { catalogue, signal }: Exchange,
  parts: Pick<Parts, "configured" | "clock">,
): Promise<Result<PlannedExport, Refusal>> {
  const { after: afterName, mostTiles, ...range } = document;
  const own = decodeBy(tileExportSchema, withoutNulls(document));
  if (!own.ok) return own;
  const decoded = await new Slices(parts.clock, signal).run(decodeJobs({ ...range, type: "seed" }));
  if (!decoded.ok) return decoded;
  if ("many" in decoded.value) return refuse(badField("layer", "the name of one layer", own.value.layer));
  const planned = await planRequested(decoded.value, catalogue, parts, signal);
  if (!planned.ok) return planned;
  const { layer: name, gridSet: grid, format: type, parametersId, ranges, selection } = planned.value;
  const known = catalogue.layers.get(name);
  const found = known === undefined || grid === null ? undefined : findSubset(known, grid);
  if (found === undefined) return refuse(unknownLayer(name, catalogue.layers));
  if (grid === null || type === null || parametersId === null)
    return refuse(badField("parameters", "one value of each parameter", own.value.parameters ?? null));
  const after = own.value.after === undefined ? ok(undefined) : indexOf(own.value.after, found);
  if (!after.ok) return after;
  const request = {
    tileSet: { layer: name, gridSet: grid, format: type, parametersId },
    rects: ranges.find(({ gridSet: id }) => id === grid)?.rects ?? [],
    selection,
    after: after.value,
    mostTiles: own.value.mostTiles,
    mostBytes: MOST_BYTES,
  };
  return ok({ request, subset: found });
}

/** Returns the tile with a name at a level of the grid set. */
function indexOf(name: string, { gridSet: grid }: GridSubset): Result<TileIndex, Refusal> {
  const at = parseTileName(name);
  const matrix = at === undefined ? undefined : grid.matrices[at.z];
  if (at === undefined || matrix === undefined || at.x >= matrix.matrixWidth || at.fromTop >= matrix.matrixHeight)
    return refuse(badField("after", `a tile of ${grid.id}, z/x/y with y from the top`, name));
  return ok({ z: at.z, x: at.x, y: asTileY(matrix.matrixHeight - 1 - at.fromTop) });
}

function packOf({ tiles: exported, missing, next, complete }: ExportPage, { gridSet: grid }: GridSubset): Uint8Array {
  const nameOf = ({ z, x, y }: TileIndex): string => `${z}/${x}/${(grid.matrices[z]?.matrixHeight ?? 0) - 1 - y}`;
  return encodePack(
    exported.map((tile) => ({ name: nameOf(tile), bytes: tile.bytes })),
    { next: next === null ? null : nameOf(next), missing, complete },
  );
}
