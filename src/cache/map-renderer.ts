import { setMaxListeners } from "node:events";
import { asTileIndex, type Extent, type TileIndex, type TileRect, tileExtent, type Zoom } from "../grid/grid-set.ts";
import type { Composed, ComposedLayer, Composition } from "../image/compose.ts";
import type { ImageFormat } from "../layer/format.ts";
import { DEFAULT_ENCODING, encodingOptions } from "../layer/picture/encoding.ts";
import type { Resampling } from "../layer/picture/resampling.ts";
import type { LayerName } from "../layer/tile-set.ts";
import { defined } from "../lib/defined.ts";
import type { MapRefused, Renderers } from "../render/renderers.ts";
import { tileEtag } from "./etag.ts";
import type { Requester, ServedTile, TileFailure, TileReader, TileRequest } from "./tile-reader.ts";

/** One layer of a map, composed of the tiles of one level. */
export interface MapLayer extends Omit<TileRequest, "index" | "format"> {
  /** The format of the tiles. The format of the map may be another. */
  readonly format: ImageFormat;
  /** The tiles that overlap the extent, all inside the layer's coverage. Undefined if no tile overlaps it. */
  readonly rect: TileRect | undefined;
  readonly z: Zoom;
  readonly resampling: Resampling;
}

/** A picture without tiles. */
export type PlainPicture = Pick<Composition, "width" | "height" | "format" | "background">;

/** A map of any extent and size. */
export interface MapRequest extends PlainPicture {
  /** The lowest layer comes first. */
  readonly layers: readonly [MapLayer, ...MapLayer[]];
  /** The extent of the map, in the units of the CRS that the grid sets of all layers have. */
  readonly extent: Extent;
}

type OldestTile = Pick<ServedTile, "modifiedMs" | "isStale" | "detail">;

export type MapOutcome =
  | {
      readonly kind: "map";
      readonly bytes: Uint8Array;
      readonly etag: string;
      /** For each layer, the time of its oldest tile; stale if any tile is stale. Undefined without tiles. */
      readonly oldest: readonly (OldestTile | undefined)[];
    }
  | { readonly kind: "failure"; readonly failure: TileFailure };

type MapTile = ComposedLayer["tiles"][number] & { readonly index: TileIndex; readonly tile: ServedTile };

/** A layer of a map with the tiles that were read. */
interface ReadLayer {
  readonly of: MapLayer;
  readonly window: Window;
  readonly tiles: readonly MapTile[];
}

function oldestOf({ tiles }: ReadLayer): OldestTile | undefined {
  const [first] = tiles;
  if (first === undefined) return undefined;
  const modifiedMs = tiles.reduce((least, { tile }) => Math.min(least, tile.modifiedMs), first.tile.modifiedMs);
  const isStale = tiles.some(({ tile }) => tile.isStale === true || tile.detail === "cut-off");
  return { modifiedMs, ...(isStale ? { isStale: true } : {}) };
}

export interface MapRendererParts {
  readonly tiles: TileReader;
  readonly compose: Renderers["compose"];
  /** The most layers of concurrent maps. Each holds up to 256 tiles in memory and waits for missing tiles. */
  readonly most: number;
}

/**
 * Renders plain WMS maps from tiles. Reads the tiles like any user, so that missing tiles are rendered, and lets a
 * renderer compose the map.
 */
export class MapRenderer {
  readonly #parts: MapRendererParts;
  #rendering = 0;

  constructor(parts: MapRendererParts) {
    this.#parts = parts;
  }

  /**
   * Renders a map. If one tile fails, the whole map fails, because a user cannot see that a part of a map is missing.
   * The map has a hole where the source reports that it has no tile, or where a request filter refuses the tile. If too
   * many layers are being rendered, the map is refused before any tile is read. A map that has more layers than are
   * permitted is rendered when no other map is.
   */
  async render(request: MapRequest, requester: Requester): Promise<MapOutcome> {
    const { length } = request.layers;
    if (this.#rendering > 0 && this.#rendering + length > this.#parts.most)
      return { kind: "failure", failure: TOO_MANY };
    this.#rendering += length;
    try {
      return await this.#render(request, requester);
    } finally {
      this.#rendering -= length;
    }
  }

  /**
   * Renders a picture without tiles.
   * @param text is written into the picture; undefined for none
   * @returns undefined if too many maps are being composed, or if the client has disconnected
   */
  async renderPlain(
    { width, height, format, background }: PlainPicture,
    text: string | undefined,
    gone: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const composition = { layers: [], width, height, format, ...DEFAULT_ENCODING, ...defined({ background, text }) };
    try {
      const composed = await this.#parts.compose(composition, gone);
      return composed.kind === "picture" ? composed.bytes : undefined;
    } catch (error) {
      if (gone.aborted) return undefined;
      throw error;
    }
  }

  async #render(request: MapRequest, requester: Requester): Promise<MapOutcome> {
    const { gone } = requester;
    // Each tile of the map may wait for the same signal.
    setMaxListeners(0, gone);
    const reads = request.layers.map((layer) => this.#read(layer, request, requester));
    const layers: ReadLayer[] = [];
    for (const read of await Promise.all(reads)) {
      if ("code" in read) return { kind: "failure", failure: read };
      layers.push(read);
    }
    if (gone.aborted) return { kind: "failure", failure: NOBODY_WAITS };
    const composition: Composition = {
      layers: layers.map(composedLayer),
      width: request.width,
      height: request.height,
      format: request.format,
      ...encodingOptions(request.layers[0].layer),
      ...defined({ background: request.background }),
    };
    let composed: Composed | MapRefused;
    try {
      composed = await this.#parts.compose(composition, gone);
    } catch (error) {
      if (gone.aborted) return { kind: "failure", failure: NOBODY_WAITS };
      throw error;
    }
    if (composed.kind === "refused")
      return { kind: "failure", failure: { ...TOO_MANY, retryAfterSeconds: composed.retryAfterSeconds } };
    if (composed.kind === "damaged") {
      const { of, tiles } = layers[composed.layer] ?? {};
      const { layer, z } = of ?? request.layers[0];
      const index = tiles?.[composed.tile]?.index ?? asTileIndex({ x: 0, y: 0, z });
      return { kind: "failure", failure: damaged(layer.name, index, composed.message) };
    }
    const { bytes } = composed;
    return { kind: "map", bytes, etag: tileEtag(bytes), oldest: layers.map(oldestOf) };
  }

  /** Reads the tiles of a layer. Returns the first failure if a tile fails. */
  async #read(of: MapLayer, request: MapRequest, requester: Requester): Promise<ReadLayer | TileFailure> {
    const { layer, subset, format, parameters, rect, z } = of;
    const window = windowOf(of, request);
    const reads: Promise<MapTile | TileFailure | undefined>[] = [];
    for (let y = rect?.minY ?? 0; y <= (rect?.maxY ?? -1); y++) {
      for (let x = rect?.minX ?? 0; x <= (rect?.maxX ?? -1); x++) {
        const index = asTileIndex({ x, y, z });
        const { left, top } = window.offsetOf(tileExtent(subset.gridSet, index));
        reads.push(
          Promise.resolve(this.#parts.tiles.read({ layer, subset, format, parameters, index }, () => requester)).then(
            (outcome) =>
              outcome.kind === "tile"
                ? { left, top, bytes: outcome.tile.bytes, index, tile: outcome.tile }
                : outcome.kind === "failure"
                  ? outcome.failure
                  : undefined,
          ),
        );
      }
    }
    const tiles: MapTile[] = [];
    for (const read of await Promise.all(reads)) {
      if (read === undefined) continue;
      if (!("code" in read)) tiles.push(read);
      else if (read.code !== "no_tile") return read;
    }
    return { of, window, tiles };
  }
}

const composedLayer = ({ of, window, tiles }: ReadLayer): ComposedLayer => ({
  tiles: tiles.map(({ left, top, bytes }) => ({ left, top, bytes })),
  tileWidth: of.subset.gridSet.tileWidth,
  tileHeight: of.subset.gridSet.tileHeight,
  windowWidth: window.width,
  windowHeight: window.height,
  cut: window.cut,
  resampling: of.resampling,
});

/** The client has disconnected, so nobody reads this failure. */
const NOBODY_WAITS: TileFailure = { code: "client_gone", message: "The client has closed the connection." };

const TOO_MANY: TileFailure = {
  code: "too_many_maps",
  message: "Too many maps are being composed of tiles. Repeat the request later, or request tiles of the layer's grid.",
  retryAfterSeconds: 5,
};

function damaged(layer: LayerName, { x, y, z }: TileIndex, message: string): TileFailure {
  const position = `zoom ${z}, column ${x}, row ${y} from the bottom`;
  return {
    code: "damaged_tile",
    message: `A stored tile of layer ${layer} is damaged (${position}): ${message}. Truncate or reseed it.`,
  };
}

/** The pixels of a level of which a map is made. */
interface Window {
  readonly width: number;
  readonly height: number;
  readonly cut: ComposedLayer["cut"];
  /** Returns the position of a tile from the top left, in pixels. */
  offsetOf(tile: Extent): { readonly left: number; readonly top: number };
}

/**
 * Returns the window of a layer of a map. A map with a finer resolution than its level is cut at fractions of pixels.
 * For a coarser map, whole pixels are precise enough.
 */
function windowOf({ subset: { gridSet }, z }: MapLayer, { extent, width, height }: MapRequest): Window {
  const resolution = gridSet.matrices[z]?.resolution ?? 1;
  const spanX = (extent.maxX - extent.minX) / resolution;
  const spanY = (extent.maxY - extent.minY) / resolution;
  if (spanX >= width && spanY >= height)
    return {
      width: Math.max(1, Math.round(spanX)),
      height: Math.max(1, Math.round(spanY)),
      cut: undefined,
      offsetOf: (tile) => ({
        left: Math.round((tile.minX - extent.minX) / resolution),
        top: Math.round((extent.maxY - tile.maxY) / resolution),
      }),
    };
  // Positions are counted from a corner of the level's pixels.
  const corner = tileExtent(gridSet, asTileIndex({ x: 0, y: 0, z }));
  const left = (extent.minX - corner.minX) / resolution;
  const top = (corner.maxY - extent.maxY) / resolution;
  const [firstX, firstY] = [Math.floor(left), Math.floor(top)];
  return {
    width: Math.max(1, Math.ceil(left + spanX) - firstX),
    height: Math.max(1, Math.ceil(top + spanY) - firstY),
    cut: { left: left - firstX, top: top - firstY, width: spanX, height: spanY },
    offsetOf: (tile) => ({
      left: Math.round((tile.minX - corner.minX) / resolution) - firstX,
      top: Math.round((corner.maxY - tile.maxY) / resolution) - firstY,
    }),
  };
}
