import { LRUCache } from "lru-cache";
import { asZoom, type GridSetName, rectExtent, type TileRect, type Zoom } from "../grid/grid-set.ts";
import { type Mask, MOST_MASK_PIXELS, maskSize } from "../layer/filter/filter-mask.ts";
import type { RasterFilter } from "../layer/filter/request-filter.ts";
import type { GridSubset } from "../layer/grid-subset.ts";
import { findSubset, type Layer } from "../layer/layer.ts";
import type { LayerName } from "../layer/tile-set.ts";
import type { Logger } from "../lib/process/logger.ts";
import type { UserRenders } from "../render/user-renders.ts";
import type { MaskRequest } from "../source/source.ts";
import { failureOf } from "./tile-failure.ts";
import type { TileFailure } from "./tile-reader.ts";

/** One raster of a filter. */
export interface MaskPlace {
  readonly layer: Layer;
  readonly filter: RasterFilter;
  readonly subset: GridSubset;
  readonly z: Zoom;
}

/** The rasters of a filter to load again. */
export interface MaskRenewal {
  readonly layer: LayerName;
  readonly filter: string;
  readonly gridSet: GridSetName;
  readonly zoomStart: Zoom;
  readonly zoomStop: Zoom;
}

type Loaded =
  | { readonly kind: "mask"; readonly mask: Mask }
  | { readonly kind: "failure"; readonly failure: TileFailure };

interface Entry {
  readonly loaded: Loaded;
  /** The time in ms of the monotonic clock after which a failed raster is loaded again. */
  readonly untilMs: number;
}

/** The most bytes of rasters in memory. */
const MOST_BYTES = 64 * 2 ** 20;
/** The bytes of an entry in addition to its bits. */
const ENTRY_BYTES = 512;
/** A raster that could not be loaded is not requested again for this time. */
const FAILED_MS = 10_000;
/** The client name by which requests for rasters take turns with users. */
const CLIENT = "request filters";

const NEVER_GONE = new AbortController().signal;

/** Returns the request for a raster. Undefined if the raster has too many pixels, or the subset lacks the level. */
export function maskRequest({ filter, subset, z }: Omit<MaskPlace, "layer">): MaskRequest | undefined {
  const size = maskSize(subset, z);
  if (size === undefined || size.width * size.height > MOST_MASK_PIXELS) return undefined;
  const { rect, width, height } = size;
  const { gridSet } = subset;
  return { kind: "mask", filter, gridSet, extent: rectExtent(gridSet, rect), width, height, z };
}

/** The rasters of request filters, which renderers decode. Each raster is loaded by the first request that needs it. */
export class Masks {
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ loaded }) => ENTRY_BYTES + (loaded.kind === "mask" ? loaded.mask.bits.byteLength : 0),
  });
  readonly #loading = new Map<string, Promise<Loaded>>();
  readonly #query: UserRenders["queryUpstream"];
  readonly #now: () => number;
  readonly #log: Logger;

  /** @param parts.now returns ms of the monotonic clock */
  constructor(parts: {
    readonly query: UserRenders["queryUpstream"];
    readonly now: () => number;
    readonly log: Logger;
  }) {
    this.#query = parts.query;
    this.#now = parts.now;
    this.#log = parts.log;
  }

  get(place: MaskPlace): Loaded | Promise<Loaded> {
    const key = keyOf(place.layer.name, place.filter.name, place.subset.gridSet.id, place.z);
    const entry = this.#entries.get(key);
    if (entry !== undefined && (entry.loaded.kind === "mask" || this.#now() < entry.untilMs)) return entry.loaded;
    return this.#loading.get(key) ?? this.#load(key, place);
  }

  /** Loads rasters again. If a raster cannot be loaded, the present raster stays in use. */
  async renew(layer: Layer | undefined, { filter: name, gridSet, zoomStart, zoomStop }: MaskRenewal): Promise<void> {
    const filter = layer?.requestFilters?.find((one) => one.name === name);
    const subset = layer && findSubset(layer, gridSet);
    if (layer === undefined || subset === undefined || filter === undefined || filter.type === "circle") return;
    const last = Math.min(zoomStop, filter.zoomStop, subset.zoomStop);
    for (let z = asZoom(Math.max(zoomStart, filter.zoomStart, subset.zoomStart)); z <= last; z++)
      await this.#load(keyOf(layer.name, name, gridSet, z), { layer, filter, subset, z });
  }

  /** Loads the rasters of filters with `preload`, one after the other. */
  async preload(layers: Iterable<Layer>): Promise<void> {
    for (const layer of layers) {
      for (const filter of layer.requestFilters ?? []) {
        if (filter.type === "circle" || !filter.preload) continue;
        for (const subset of layer.gridSubsets) {
          const last = Math.min(filter.zoomStop, subset.zoomStop);
          for (let z = asZoom(Math.max(filter.zoomStart, subset.zoomStart)); z <= last; z++)
            await this.get({ layer, filter, subset, z });
        }
      }
    }
  }

  /** Releases the rasters of a layer whose definition has changed. */
  clear(layer: LayerName): void {
    const prefix = `${layer}\n`;
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#entries.delete(key);
    for (const key of this.#loading.keys()) if (key.startsWith(prefix)) this.#loading.delete(key);
  }

  #load(key: string, place: MaskPlace): Promise<Loaded> {
    const loading = this.#request(place).then((loaded) => {
      // A later load, or a change of the layer, has replaced this load.
      if (this.#loading.get(key) !== loading) return loaded;
      const before = this.#entries.get(key)?.loaded;
      const kept = loaded.kind === "failure" && before?.kind === "mask" ? before : loaded;
      this.#entries.set(key, { loaded: kept, untilMs: this.#now() + FAILED_MS });
      if (loaded.kind === "failure")
        this.#log.warn("a raster of a request filter cannot be loaded", {
          layer: place.layer.name,
          filter: place.filter.name,
          gridSet: place.subset.gridSet.id,
          z: place.z,
          reason: loaded.failure.message,
        });
      return kept;
    });
    this.#loading.set(key, loading);
    const ended = (): void => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key);
    };
    loading.then(ended, ended);
    return loading;
  }

  async #request(place: MaskPlace): Promise<Loaded> {
    const { layer, filter, subset, z } = place;
    const failed = (failure: TileFailure): Loaded => {
      const message = `The request filter ${filter.name} has no raster of ${subset.gridSet.id}, level ${z}: ${failure.message}`;
      return { kind: "failure", failure: { ...failure, message } };
    };
    const request = maskRequest(place);
    if (request === undefined)
      return failed({ code: "upstream_failed", message: `it has more than ${MOST_MASK_PIXELS} pixels` });
    const answer = await this.#query(layer, request, CLIENT, NEVER_GONE);
    if (answer.kind !== "info") return failed(failureOf(answer, request.kind));
    const { width, height } = request;
    return { kind: "mask", mask: { width, height, bits: answer.info.bytes } };
  }
}

const keyOf = (layer: LayerName, filter: string, gridSet: GridSetName, z: Zoom): string =>
  [layer, filter, gridSet, z].join("\n");

/** Returns the tiles of a raster. Undefined if the subset lacks the level. */
export const maskRect = ({ subset, z }: Pick<MaskPlace, "subset" | "z">): TileRect | undefined =>
  maskSize(subset, z)?.rect;
