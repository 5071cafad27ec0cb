import type { UpstreamAnswer } from "./image-response.ts";
import { exceptionCodes } from "./response-text.ts";
import type { HttpSourceOptions } from "./servers.ts";

/** The statuses that say that there is no tile. A WMS renders every extent, so its 404 is that of a wrong address. */
const STATUSES: Readonly<Record<HttpSourceOptions["type"], readonly number[]>> = {
  wms: [204],
  xyz: [204, 404],
  wmts: [204, 404],
  arcgis: [204, 404],
};

/** The code of a WMTS for a tile outside of a layer's limits (OGC 07-057r7, table 24). */
const OUT_OF_RANGE = "TileOutOfRange";

/** How the answers of a source say that there is no tile. */
export interface MissingTiles {
  /** Returns whether an answer says so by its status, or by an exception of a WMTS. */
  isSaidBy(answer: UpstreamAnswer): boolean;
  /** Whether a vector tile of 0 bytes says so. */
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

/** Returns whether a body begins as XML does. A picture does not, and is not searched. */
const isMarkup = (body: Uint8Array): boolean =>
  Buffer.from(body.subarray(0, 64))
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .trimStart()
    .startsWith("<");
