import { LRUCache } from "lru-cache";
import PQueue from "p-queue";
import { rectHolds } from "../grid/grid-set.ts";
import type { ComposedLayer, Composition } from "../image/compose.ts";
import { type Catalogue, partsOf } from "../layer/catalogue.ts";
import { allValues, parseParameters } from "../layer/filter/parameter-filter.ts";
import type { ImageFormat } from "../layer/format.ts";
import { coverageAt } from "../layer/grid-subset.ts";
import { findSubset, type Layer } from "../layer/layer.ts";
import { encodingOptions } from "../layer/picture/encoding.ts";
import { formatOfParts } from "../layer/picture/picture-format.ts";
import { STANDARD_RESAMPLING } from "../layer/picture/resampling.ts";
import type { TileSet } from "../layer/tile-set.ts";
import { defined } from "../lib/defined.ts";
import type { Renderers } from "../render/renderers.ts";
import { tileEtag } from "./etag.ts";
import {
  type Requester,
  type RequesterOf,
  type ServedTile,
  type TileFailure,
  type TileOutcome,
  type TileReader,
  type TileRequest,
  tileSetOf,
} from "./tile-reader.ts";

export interface GroupReaderParts {
  /** Reads the tiles of all layers that are no groups. */
  readonly tiles: TileReader;
  readonly catalogue: () => Catalogue;
  readonly compose: Renderers["compose"];
}

/** The most bytes of composed tiles in memory. */
const MOST_BYTES = 32 * 1024 * 1024;
/** How many tiles of groups one process composes at once, and how many wait. */
const AT_ONCE = 4;
const MOST_WAITING = 1024;

const BUSY: TileFailure = {
  code: "too_many_maps",
  message: "Too many tiles of groups are being composed. Repeat the request later.",
  retryAfterSeconds: 5,
};

/**
 * Composes the tiles of groups from the tiles of their layers. A group stores nothing: what happens to the tiles of its
 * layers (a truncation, a seed, an expiry) shows in the group at once. A composed tile stays in memory under the tags of
 * its parts, so it is used only for the same parts.
 */
export class GroupReader implements TileReader {
  readonly #parts: GroupReaderParts;
  readonly #queue = new PQueue({ concurrency: AT_ONCE });
  readonly #composed = new LRUCache<string, Uint8Array>({
    maxSize: MOST_BYTES,
    sizeCalculation: (bytes, key) => bytes.byteLength + key.length,
  });
  /** The compositions in progress, by the same keys. */
  readonly #composing = new Map<string, Promise<Uint8Array | TileFailure>>();

  constructor(parts: GroupReaderParts) {
    this.#parts = parts;
  }

  read(request: TileRequest, requester: RequesterOf): TileOutcome | Promise<TileOutcome> {
    return request.layer.source.type === "group"
      ? this.#read(request, requester())
      : this.#parts.tiles.read(request, requester);
  }

  async #read(request: TileRequest, requester: Requester): Promise<TileOutcome> {
    const { layer, format } = request;
    if (format.kind !== "image") throw new RangeError(`group ${layer.name} has a format that is not a picture's`);
    const parts = partRequests(this.#parts.catalogue(), request, format);
    if ("code" in parts) return { kind: "failure", failure: parts };
    const outcomes = await Promise.all(parts.map((part) => this.#parts.tiles.read(part, () => requester)));
    const failed = outcomes.find((one) => one.kind === "failure" && one.failure.code !== "no_tile");
    if (failed !== undefined) return failed;
    const tiles = outcomes.flatMap((one) => (one.kind === "tile" ? [one.tile] : []));
    const [first] = tiles;
    if (first === undefined) return outcomes[0] ?? { kind: "failure", failure: NOTHING };
    const bytes = await this.#compose(tiles, request, format);
    if ("code" in bytes) return { kind: "failure", failure: bytes };
    return { kind: "tile", tile: servedTile(tiles, bytes) };
  }

  #compose(
    tiles: readonly ServedTile[],
    { layer, subset }: TileRequest,
    format: ImageFormat,
  ): Promise<Uint8Array | TileFailure> {
    const options = encodingOptions(layer);
    const tags = tiles.map(({ etag }) => etag).join();
    const key = `${format.mimeType} ${JSON.stringify(options)} ${tags}`;
    const known = this.#composed.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const inProgress = this.#composing.get(key);
    if (inProgress !== undefined) return inProgress;
    if (this.#queue.size >= MOST_WAITING) return Promise.resolve(BUSY);
    const { tileWidth, tileHeight } = subset.gridSet;
    const size = { tileWidth, tileHeight, windowWidth: tileWidth, windowHeight: tileHeight };
    const composition: Composition = {
      layers: tiles.map(
        ({ bytes }): ComposedLayer => ({
          tiles: [{ left: 0, top: 0, bytes }],
          ...size,
          cut: undefined,
          resampling: STANDARD_RESAMPLING,
        }),
      ),
      width: tileWidth,
      height: tileHeight,
      format,
      ...options,
    };
    // Other clients may wait for the same tile, so the end of one client does not end the composition.
    const signal = new AbortController().signal;
    const composing = this.#queue.add(async (): Promise<Uint8Array | TileFailure> => {
      const composed = await this.#parts.compose(composition, signal);
      if (composed.kind === "refused") return { ...BUSY, retryAfterSeconds: composed.retryAfterSeconds };
      if (composed.kind === "damaged")
        return {
          code: "damaged_tile",
          message: `A stored tile of a layer of group ${layer.name} is damaged: ${composed.message}`,
        };
      this.#composed.set(key, composed.bytes);
      return composed.bytes;
    });
    this.#composing.set(key, composing);
    return composing.finally(() => this.#composing.delete(key));
  }
}

const NOTHING: TileFailure = { code: "no_tile", message: "There is no tile here: no layer of the group has one" };

/** Returns the tile sets of which the tile of a group is composed. Empty for a layer that is no group. */
export function partTileSets(catalogue: Catalogue, request: TileRequest): readonly TileSet[] {
  const { layer, format } = request;
  if (layer.source.type !== "group" || format.kind !== "image") return [];
  const parts = partRequests(catalogue, request, format);
  return "code" in parts ? [] : parts.map(tileSetOf);
}

/** Returns the requests for the tiles of which the tile of a group is composed, the lowest first. */
function partRequests(
  catalogue: Catalogue,
  request: TileRequest,
  format: ImageFormat,
): readonly TileRequest[] | TileFailure {
  const parts: TileRequest[] = [];
  for (const part of partsOf(catalogue, request.layer)) {
    const own = partRequest(part, request, formatOfParts(part, format, parts.length > 0));
    if (own === "elsewhere") continue;
    if ("code" in own) return own;
    parts.push(own);
  }
  return parts;
}

/** Returns the request for the tile of a layer of a group. `elsewhere`: the layer does not offer the tile. */
function partRequest(
  layer: Layer,
  { layer: group, subset: { gridSet }, index, parameters }: TileRequest,
  format: TileRequest["format"] | undefined,
): TileRequest | TileFailure | "elsewhere" {
  const subset = findSubset(layer, gridSet.id);
  const coverage = subset && coverageAt(subset, index.z);
  if (subset === undefined || format === undefined || coverage === undefined || !rectHolds(coverage, index.x, index.y))
    return "elsewhere";
  const values = new Map(Object.entries(allValues(group.parameterFilters, parameters.values)));
  const own = parseParameters(layer.parameterFilters, values, "ignore");
  if (!own.ok)
    return { code: "no_tile", message: `There is no tile here: layer ${layer.name} lacks these values of parameters` };
  return { layer, subset, format, parameters: own.value, index };
}

/** Returns a tile with the time of its newest part, and the marks of any part. */
function servedTile(parts: readonly ServedTile[], bytes: Uint8Array): ServedTile {
  const detail = parts.find((part) => part.detail !== undefined)?.detail;
  return {
    bytes,
    etag: tileEtag(bytes),
    modifiedMs: Math.max(...parts.map(({ modifiedMs }) => modifiedMs)),
    writtenMs: Math.max(...parts.map(({ writtenMs }) => writtenMs)),
    cacheResult: parts.every(({ cacheResult }) => cacheResult === "HIT") ? "HIT" : "MISS",
    forwarded: parts.find(({ forwarded }) => forwarded !== undefined)?.forwarded,
    ...(parts.some(({ isStale }) => isStale === true) ? { isStale: true as const } : {}),
    ...defined({ detail }),
  };
}
