import * as z from "zod";
import { EXISTING, type ImportedTile } from "../../../coordinator/copy/import-service.ts";
import { asTileY, rectHolds } from "../../../grid/grid-set.ts";
import { coverageAt } from "../../../layer/grid-subset.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { limitConcurrency } from "../../limit-concurrency.ts";
import type { Exchange, RouteOptions } from "../../resource.ts";
import { type Outcome, operation } from "../api-operation.ts";
import { type RequestedTileSet, selectTileSet, tileSetFields } from "../coverage/requested-tile-set.ts";
import type { Documents } from "../documents/documents.ts";
import { decodeQuery } from "../query-fields.ts";
import { receivedTile } from "./received-tile.ts";
import { decodePack, type PackedTile, packJson, parseTileName } from "./tile-pack.ts";

/** The limits of one request. */
export const MOST_IMPORTED_TILES = 1_000;
export const MOST_IMPORTED_BYTES = 16 * 1024 * 1024;
/** The most concurrent imports of one process. Each has its body in memory. */
const MOST_AT_ONCE = 4;
/** The most reasons in one answer. Further refused tiles are only counted. */
const MOST_REASONS = 100;

const importQuery = z.object({
  ...tileSetFields,
  existing: z
    .enum(EXISTING)
    .default("replace")
    .meta({ description: "keep: stored tiles are not replaced", default: "replace" }),
});

const bounded = limitConcurrency(MOST_AT_ONCE, "imports are being stored");

/** The answer of an import names each invalid tile; valid tiles are stored. */
export const importOperations = [
  operation(
    "POST /tiles/import",
    "importTiles",
    "Stores tiles in a layer",
    {
      need: "administer",
      openQuery: importQuery,
      openBody: {
        required: true,
        ...packJson('A line of JSON, {"tiles": [["z/x/y", bytes], …]}, then the bytes; 1,000 tiles and 16 MiB at most'),
      },
      answer: "TileImport",
      failures: [400, 404, 413, 503, 507],
    },
    ({ operations }, exchange) => bounded(() => answerTo(exchange, operations)),
  ),
];

async function answerTo(
  exchange: Exchange,
  operations: RouteOptions["operations"],
): Promise<Outcome<Documents["TileImport"]>> {
  const query = decodeQuery(importQuery, exchange);
  if (!query.ok) return query;
  const requested = selectTileSet(query.value, importQuery, exchange);
  if (!requested.ok) return requested;
  const packed = await exchange.body(packOf, MOST_IMPORTED_BYTES);
  if (!packed.ok) return packed;
  const { tileSet, parameters } = requested.value;
  const { tiles, refused } = sort(packed.value, requested.value);
  const { existing } = query.value;
  const imported = await operations.importTiles({ tileSet, parameters: parameters.values, tiles, existing });
  if (!imported.ok) return imported;
  const reasons = refused.slice(0, MOST_REASONS);
  return { ...ok({ ...imported.value, refused: refused.length, reasons }), repeats: `import ${tileSet.layer}` };
}

function packOf(body: Uint8Array): Result<readonly PackedTile[], Refusal> {
  const pack = decodePack(body, MOST_IMPORTED_TILES);
  return pack.ok ? ok(pack.value.tiles) : refuse({ code: "malformed", message: `body: ${pack.error}` });
}

/** Splits tiles into valid ones, and invalid ones with a reason. */
function sort(packed: readonly PackedTile[], { subset, format }: RequestedTileSet) {
  const tiles: ImportedTile[] = [];
  const refused: { readonly tile: string; readonly reason: string }[] = [];
  for (const { name, bytes } of packed) {
    const at = parseTileName(name);
    const rect = at === undefined ? undefined : coverageAt(subset, at.z);
    const y = asTileY(at === undefined ? 0 : (subset.gridSet.matrices[at.z]?.matrixHeight ?? 0) - 1 - at.fromTop);
    const tile = name.slice(0, 40);
    if (at === undefined) refused.push({ tile, reason: "expected z/x/y with y from the top" });
    else if (rect === undefined || !rectHolds(rect, at.x, y))
      refused.push({ tile, reason: `the layer does not offer it in ${subset.gridSet.id}` });
    else {
      const received = receivedTile(bytes, format, subset.gridSet);
      if (received.ok) tiles.push({ z: at.z, x: at.x, y, bytes: received.value });
      else refused.push({ tile, reason: received.error });
    }
  }
  return { tiles, refused };
}
