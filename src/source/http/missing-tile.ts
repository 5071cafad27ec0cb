import type { UpstreamAnswer } from "./image-response.ts";
import { exceptionCodes } from "./response-text.ts";
import type { HttpSourceOptions } from "./servers.ts";

/**
 * The statuses by which each kind of source reports that it has no tile. A WMS renders every extent, so its 404 means a
 * wrong address.
 */
const STATUSES: Readonly<Record<HttpSourceOptions["type"], readonly number[]>> = {
  wms: [204],
  xyz: [204, 404],
  wmts: [204, 404],
  arcgis: [204, 404],
};

/** The exception code of a WMTS for a tile outside of a layer's limits (OGC 07-057r7, table 24). */
const OUT_OF_RANGE = "TileOutOfRange";

/** How the answers of a source report that it has no tile. */
export interface MissingTiles {
  /** Returns whether an answer reports a missing tile, by its status or by a WMTS exception. */
  isSaidBy(answer: UpstreamAnswer): boolean;
  /** Whether a vector tile of 0 bytes reports a missing tile. */
  readonly areEmptyTiles: boolean;
}

export function missingTilesOf({ type, missing }: Pick<HttpSourceOptions, "type" | "missing">): MissingTiles {
  if (missing?.length === 0) return { isSaidBy: () => false, areEmptyTiles: false };
  const statuses: ReadonlySet<number> = new Set([...STATUSES[type], ...(missing ?? [])]);
  return {
    isSaidBy: ({ status, contentType, body }) =>
      statuses.has(status) ||
      (type === "wmts" && isMarkup(body) && exceptionCodes(body, contentType).includes(OUT_OF_RANGE)),
    areEmptyTiles: true,
  };
}

/** Returns whether a body begins like XML. A picture does not, and is not searched for an exception. */
const isMarkup = (body: Uint8Array): boolean =>
  Buffer.from(body.subarray(0, 64))
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .trimStart()
    .startsWith("<");
