import type { Clock } from "../lib/time/clock.ts";
import type { TestOrder, TestRender } from "../render/renderer/test-render.ts";
import { upstreamIdOf } from "../render/upstream/upstream-limits.ts";
import { tileEtag } from "./etag.ts";
import { failureOf } from "./tile-failure.ts";
import type { TileFailure, TileOutcome, TileRequest } from "./tile-reader.ts";

/** The most tiles that one process renders concurrently past the cache. Each waits for a connection of an upstream. */
const MOST_AT_ONCE = 16;

const BUSY: TileFailure = {
  code: "upstream_busy",
  message: "Too many tiles are being rendered without the cache.",
  retryAfterSeconds: 5,
};

/**
 * Renders tiles past the cache, one tile per render, without reading from the store or storing (`cacheBypassAllowed`).
 */
export class UncachedTiles {
  readonly #clock: Clock;
  readonly #render: (order: TestOrder, gone: AbortSignal) => Promise<TestRender | undefined>;
  #rendering = 0;

  constructor(clock: Clock, render: (order: TestOrder, gone: AbortSignal) => Promise<TestRender | undefined>) {
    this.#clock = clock;
    this.#render = render;
  }

  async render(request: TileRequest, gone: AbortSignal): Promise<TileOutcome> {
    if (this.#rendering >= MOST_AT_ONCE) return { kind: "failure", failure: BUSY };
    this.#rendering++;
    try {
      return outcomeOf(await this.#render(orderOf(request), gone), this.#clock.now());
    } finally {
      this.#rendering--;
    }
  }
}

const orderOf = ({ layer, subset, format, parameters, index }: TileRequest): TestOrder => ({
  layer: layer.name,
  upstream: upstreamIdOf(layer.source),
  gridSet: subset.gridSet.id,
  format: format.mimeType,
  parameters: parameters.values,
  tile: index,
});

function outcomeOf(rendered: TestRender | undefined, nowMs: number): TileOutcome {
  if (rendered === undefined) return { kind: "failure", failure: failureOf({ kind: "layer_removed" }) };
  const { tile, error } = rendered;
  if (tile === undefined)
    return {
      kind: "failure",
      failure: failureOf({
        kind: "failed",
        failure: error?.failure ?? "empty",
        message: error?.message ?? "the answer is empty",
        retryAfterMs: undefined,
      }),
    };
  const modifiedMs = Math.floor(nowMs / 1000) * 1000;
  return {
    kind: "tile",
    tile: { bytes: tile, etag: tileEtag(tile), modifiedMs, writtenMs: nowMs, cacheResult: "MISS", forwarded: "bypass" },
  };
}
