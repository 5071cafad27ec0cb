import { decidingPixels, hasData, isInCircle } from "../layer/filter/filter-mask.ts";
import type { RasterFilter, RequestFilter } from "../layer/filter/request-filter.ts";
import { type Masks, maskRect } from "./masks.ts";
import type { RequesterOf, TileOutcome, TileReader, TileRequest } from "./tile-reader.ts";

/** Applies the request filters of layers before their tiles are read. */
export class FilteredReader implements TileReader {
  readonly #reader: TileReader;
  readonly #masks: Pick<Masks, "get">;

  constructor(reader: TileReader, masks: Pick<Masks, "get">) {
    this.#reader = reader;
    this.#masks = masks;
  }

  read(request: TileRequest, requester: RequesterOf): TileOutcome | Promise<TileOutcome> {
    const { requestFilters } = request.layer;
    if (requestFilters === undefined) return this.#reader.read(request, requester);
    return this.#readThrough(requestFilters, request, requester);
  }

  /** Applies the filters in their order, and reads a tile that passes all of them. */
  #readThrough(
    filters: readonly RequestFilter[],
    request: TileRequest,
    requester: RequesterOf,
  ): TileOutcome | Promise<TileOutcome> {
    for (const [i, filter] of filters.entries()) {
      const refusal = this.#refusalOf(filter, request);
      if (refusal instanceof Promise)
        return refusal.then((known) => known ?? this.#readThrough(filters.slice(i + 1), request, requester));
      if (refusal !== undefined) return refusal;
    }
    return this.#reader.read(request, requester);
  }

  /** Returns the outcome for a tile that a filter refuses. Undefined if the filter serves the tile. */
  #refusalOf(filter: RequestFilter, request: TileRequest): TileOutcome | undefined | Promise<TileOutcome | undefined> {
    if (filter.type === "circle")
      return isInCircle(request.subset, request.index)
        ? undefined
        : { kind: "filtered", filter: filter.name, debug: false };
    return this.#refusalByRaster(filter, request);
  }

  #refusalByRaster(
    filter: RasterFilter,
    { layer, subset, index }: TileRequest,
  ): TileOutcome | undefined | Promise<TileOutcome | undefined> {
    const pixels = decidingPixels(filter, subset, index);
    const coverage = pixels && maskRect({ subset, z: pixels.z });
    if (pixels === undefined || coverage === undefined) return undefined;
    const decide = (loaded: Awaited<ReturnType<Masks["get"]>>): TileOutcome | undefined => {
      if (loaded.kind === "failure") return loaded;
      return hasData(loaded.mask, coverage, pixels)
        ? undefined
        : { kind: "filtered", filter: filter.name, debug: filter.debug };
    };
    const loaded = this.#masks.get({ layer, filter, subset, z: pixels.z });
    return loaded instanceof Promise ? loaded.then(decide) : decide(loaded);
  }
}
