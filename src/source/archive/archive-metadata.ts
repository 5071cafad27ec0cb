import type { Extent } from "../../grid/grid-set.ts";
import type { VectorLayer } from "../../layer/layer.ts";
import { isMap } from "../../lib/is-map.ts";

/** The most layers that are read. No known archive has this many. Further layers are ignored. */
const MOST_LAYERS = 1000;
const MOST_FIELDS = 1000;

/**
 * Returns the `vector_layers` in the metadata of MBTiles or PMTiles that TileJSON can describe. Undefined if the
 * metadata has no such layers.
 */
export function vectorLayersOf(metadata: unknown): readonly VectorLayer[] | undefined {
  const list = isMap(metadata) ? metadata["vector_layers"] : undefined;
  if (!Array.isArray(list)) return undefined;
  const layers = list.slice(0, MOST_LAYERS).flatMap((item: unknown) => {
    const layer = isMap(item) ? vectorLayer(item) : undefined;
    return layer === undefined ? [] : [layer];
  });
  return layers.length === 0 ? undefined : layers;
}

function vectorLayer(item: Readonly<Record<string, unknown>>): VectorLayer | undefined {
  const { id, fields, description, minzoom, maxzoom } = item;
  if (typeof id !== "string") return undefined;
  const named = isMap(fields) ? Object.entries(fields).slice(0, MOST_FIELDS) : [];
  return {
    id,
    fields: Object.fromEntries(named.map(([name, kind]) => [name, String(kind)])),
    ...(typeof description === "string" && description !== "" ? { description } : {}),
    ...(typeof minzoom === "number" ? { minzoom } : {}),
    ...(typeof maxzoom === "number" ? { maxzoom } : {}),
  };
}

/** Returns west, south, east, north as an extent within the world. Undefined if the box has no area. */
export function boundsOf(numbers: readonly number[]): Extent | undefined {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = numbers;
  const minX = Math.max(-180, west);
  const minY = Math.max(-90, south);
  const maxX = Math.min(180, east);
  const maxY = Math.min(90, north);
  return minX < maxX && minY < maxY ? { minX, minY, maxX, maxY } : undefined;
}

/** Returns whether an archive can have this first and last level. */
export const areLevels = (first: number, last: number): boolean =>
  Number.isInteger(first) && Number.isInteger(last) && first >= 0 && first <= last && last <= 30;

/** The most characters of an attribution. The longest known attribution has some hundred. */
const MOST_ATTRIBUTION = 2000;

/**
 * Returns the attribution in the metadata of an archive, without control characters. Undefined if the metadata has no
 * attribution.
 */
export function attributionOf(given: unknown): string | undefined {
  if (typeof given !== "string") return undefined;
  const text = given.replace(/\p{Cc}+/gu, " ").trim();
  return text === "" || text.length > MOST_ATTRIBUTION ? undefined : text;
}
