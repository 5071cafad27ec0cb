import type { TileX, TileY, Zoom } from "../../grid/grid-set.ts";
import { type LayerName, type TileSet, tileSetKey } from "../../layer/tile-set.ts";
import type { LedgerAccess } from "../ledger-access.ts";
import type { MemoryTiles } from "../memory-tiles.ts";
import { type RenderFailure, type RenderOrder, tileSetsOf, type WrittenTile } from "../render-order.ts";
import { toFailure } from "../render-result.ts";
import type { InfoResult, ProbeResult, RendererResult } from "../renderers.ts";
import type { Permit } from "../upstream/connection-permits.ts";
import type { UpstreamLimit } from "../upstream/upstream-limit.ts";
import { sourceName, upstreamOf } from "../upstream/upstream-limits.ts";
import type { UpstreamMeter } from "../upstream/upstream-meter.ts";
import type { LayerStates } from "./layer-states.ts";
import type { RenderThrottle } from "./render-throttle.ts";

export interface RenderReportsParts {
  readonly ledger: LedgerAccess;
  readonly memory: MemoryTiles;
  readonly layers: LayerStates;
  readonly meter: UpstreamMeter;
  readonly throttle: RenderThrottle;
  /** Logs that a tile could not be rendered for a user. */
  readonly failedForUser: (layer: LayerName, failure: RenderFailure) => void;
}

export const tileKey = (tileSet: TileSet, x: TileX, y: TileY, z: Zoom): string =>
  `${tileSetKey(tileSet)}\n${z}/${x}/${y}`;

/** Reports the results of renders to the ledger, the memory tiers, the upstream's limit and the metrics. */
export class RenderReports {
  readonly #parts: RenderReportsParts;

  constructor(parts: RenderReportsParts) {
    this.#parts = parts;
  }

  /** Reports written tiles to the ledger, and removes their previous versions from the memory tiers. */
  written(tileSet: TileSet, tiles: readonly WrittenTile[], reservation: number | undefined): void {
    if (tiles.length === 0) return;
    const renewed = tiles.filter(({ unchanged }) => unchanged !== "left");
    if (renewed.length > 0) this.#parts.memory.remove(renewed.map(({ x, y, z }) => tileKey(tileSet, x, y, z)));
    this.#parts.ledger.wrote(tileSet, tiles, reservation);
  }

  /**
   * Reports the result of a render to the throttle, the meter, the upstream's limit and the remembered failures.
   * @param epoch the layer's epoch of failures when the render began
   */
  ended(order: RenderOrder, result: RendererResult, { who, upstreamLimit }: Permit, epoch: number): void {
    const { layers, ledger, throttle } = this.#parts;
    const { failures } = layers;
    const { layer } = order.tileSet;
    if (who === "job" && result.kind === "rendered" && result.processorMs !== undefined)
      throttle.took(result.processorMs);
    this.#measure(layer, result);
    reportToLimit(upstreamLimit, result);
    if (result.kind === "rendered") {
      failures.remove(layers.keyOf(order));
      if (result.storeFailure !== undefined) ledger.notStored(layer, result.storeFailure.message, who);
      if (result.isUncertain === true) for (const tileSet of tileSetsOf(order)) ledger.lost(tileSet, order.rect);
    } else if (result.kind === "failed") {
      const seconds = layers.get(layer)?.negativeCacheSeconds ?? 0;
      if (who === "user" && result.failure !== "no_tile") this.#parts.failedForUser(layer, toFailure(result));
      failures.remember(layer, layers.keyOf(order), toFailure(result), seconds, epoch);
    } else if (result.kind === "lost") {
      for (const tileSet of tileSetsOf(order)) ledger.lost(tileSet, order.rect);
    }
  }

  #measure(name: LayerName, result: RendererResult): void {
    const layer = this.#parts.layers.get(name);
    if (layer === undefined || (result.kind !== "rendered" && result.kind !== "failed")) return;
    const failure = result.kind === "failed" ? result.failure : undefined;
    const { source } = layer;
    const measured = { upstream: upstreamOf(source), source: sourceName(source) };
    this.#parts.meter.observe(measured, result.upstreamMs, failure);
  }
}

/** Reports a result to the upstream's limit. A cancelled or lost render says nothing about the upstream. */
export function reportToLimit(upstreamLimit: UpstreamLimit, result: RendererResult | InfoResult | ProbeResult): void {
  const { health, isDown } = upstreamLimit;
  if (result.kind === "failed" && result.failure !== "no_tile") health.failed(result.failure, result.message, isDown);
  else if (result.kind !== "cancelled" && result.kind !== "lost")
    health.answered(result.kind === "info" ? undefined : result.upstreamMs, isDown);
  if (result.kind === "rendered" || result.kind === "answered") upstreamLimit.succeeded(result.upstreamMs);
  else if (result.kind === "info") upstreamLimit.succeeded(undefined);
  else if (result.kind === "failed" && result.failure === "no_tile") upstreamLimit.succeeded(undefined);
  else if (result.kind === "failed") upstreamLimit.failed(result.failure, result.retryAfterMs);
  else upstreamLimit.unanswered();
}
