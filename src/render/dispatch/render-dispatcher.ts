import { intersectRects, type TileIndex, type TileRect } from "../../grid/grid-set.ts";
import type { Layer } from "../../layer/layer.ts";
import { type LayerName, type TileSet, tileSetKey } from "../../layer/tile-set.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Question } from "../../source/source.ts";
import type { LedgerAccess } from "../ledger-access.ts";
import type { MemoryTiles } from "../memory-tiles.ts";
import type { ChangedRange, RenderControl } from "../render-control.ts";
import { type RenderOrder, type RenderOutcome, tileSetsOf } from "../render-order.ts";
import type { Renderers } from "../renderers.ts";
import { ConnectionPermits } from "../upstream/connection-permits.ts";
import { sourceName, type UpstreamLimits, upstreamOf } from "../upstream/upstream-limits.ts";
import type { MeasuredSource, UpstreamMeter } from "../upstream/upstream-meter.ts";
import { UpstreamQuestions } from "../upstream/upstream-questions.ts";
import type { MetatileAddress, RenderedForUser, RenderStatus, UserAnswer, UserRenders } from "../user-renders.ts";
import type { InFlightRender } from "./in-flight-render.ts";
import { InFlightRenders } from "./in-flight-renders.ts";
import { JobDispatcher } from "./job-dispatcher.ts";
import { LayerStates } from "./layer-states.ts";
import { MetatileRenders } from "./metatile-renders.ts";
import { RenderReports, type RenderReportsParts, tileKey } from "./render-reports.ts";
import type { RenderThrottle } from "./render-throttle.ts";
import { UserDispatcher } from "./user-dispatcher.ts";

export interface RenderDispatcherParts {
  readonly renderers: Renderers;
  readonly ledger: LedgerAccess;
  readonly memory: MemoryTiles;
  readonly upstreamLimits: UpstreamLimits;
  readonly meter: UpstreamMeter;
  readonly throttle: RenderThrottle;
  readonly failedForUser: RenderReportsParts["failedForUser"];
  readonly clock: Clock;
}

const measuredSources = (layers: readonly Layer[]): readonly MeasuredSource[] =>
  layers.map(({ source }) => ({ upstream: upstreamOf(source), source: sourceName(source) }));

/**
 * Renders metatiles for users and jobs, users first. A request for a metatile that is being rendered joins that render.
 * A render holds one connection of its upstream, and stores its tiles only if the layer's generation has not changed
 * since its start.
 */
export class RenderDispatcher implements RenderControl, UserRenders {
  readonly #parts: RenderDispatcherParts;
  readonly #layers: LayerStates;
  readonly #inFlight = new InFlightRenders();
  readonly #forUsers: UserDispatcher;
  readonly #forJobs: JobDispatcher;
  readonly #questions: UpstreamQuestions;

  constructor(parts: RenderDispatcherParts) {
    const { renderers, upstreamLimits, throttle } = parts;
    this.#parts = parts;
    this.#layers = new LayerStates(parts.clock);
    const permits = new ConnectionPermits(upstreamLimits, throttle, this.#layers);
    const reports = new RenderReports({ ...parts, layers: this.#layers });
    const shared = { ...parts, layers: this.#layers, permits, reports, inFlight: this.#inFlight };
    const metatiles = new MetatileRenders(shared);
    this.#forUsers = new UserDispatcher({ ...shared, metatiles });
    this.#forJobs = new JobDispatcher({ ...shared, metatiles });
    this.#questions = new UpstreamQuestions(renderers, permits, this.#layers);
  }

  configure(layers: readonly Layer[]): void {
    const { upstreamLimits, meter } = this.#parts;
    upstreamLimits.configure(layers);
    meter.configure(() => measuredSources(layers));
    for (const name of this.#layers.configure(layers)) this.#changed(name);
    this.#layers.releaseGenerations();
    this.#endRemoved();
  }

  /**
   * Applies the change of one layer.
   * @param layers all layers after the change
   * @param layer the changed layer; undefined: it is removed
   */
  configureLayer(layers: readonly Layer[], name: LayerName, layer: Layer | undefined): void {
    const { upstreamLimits, meter } = this.#parts;
    if (layer !== undefined && this.#layers.get(name) === undefined) upstreamLimits.add(layers, layer);
    else {
      upstreamLimits.configure(layers);
      meter.configure(() => measuredSources(layers));
    }
    if (this.#layers.configureLayer(name, layer)) this.#changed(name);
    this.#layers.renewGeneration(name);
    this.#endRemoved();
  }

  #changed(layer: LayerName): void {
    // Renders in progress use the old definition of the layer, so no new request may join them.
    this.#inFlight.detach(layer, "all");
    this.#parts.memory.clear(layer);
    void this.startGeneration(layer);
  }

  #endRemoved(): void {
    // A user of a removed layer must not wait for a connection or for the layer to be unblocked.
    for (const { order, progress } of this.#inFlight)
      if (!progress.isSent && this.#layers.get(order.tileSet.layer) === undefined)
        progress.abort("the layer has been removed");
    this.#questions.endRemoved();
  }

  // ---- for users

  renderForUser(
    order: RenderOrder,
    missed: TileIndex,
    client: string,
    gone: AbortSignal,
  ): Promise<RenderOutcome<RenderedForUser>> {
    return this.#forUsers.render(order, missed, client, gone);
  }

  async renderStatus(layer: LayerName, metatile: MetatileAddress | undefined): Promise<RenderStatus> {
    return this.#forUsers.status(layer, metatile);
  }

  async queryUpstream(layer: Layer, question: Question, client: string, gone: AbortSignal): Promise<UserAnswer> {
    const answer = await this.#questions.queryUpstream(layer, question, client, gone);
    return answer.kind === "info" ? answer : this.#forUsers.unlessRemoved(layer.name, answer, gone);
  }

  // ---- for jobs

  render(order: RenderOrder, signal: AbortSignal): Promise<RenderOutcome> {
    return this.#forJobs.render(order, signal);
  }

  renderBatch(orders: readonly RenderOrder[], signal: AbortSignal): Promise<readonly RenderOutcome[]> {
    return this.#forJobs.renderBatch(orders, signal);
  }

  endBatches(): Promise<void> {
    return this.#forJobs.endBatches();
  }

  async inFlight(tileSet: TileSet): Promise<readonly TileRect[]> {
    const key = tileSetKey(tileSet);
    const isOfTileSet = ({ order, progress }: InFlightRender): boolean =>
      progress.isSent && tileSetsOf(order).some((one) => tileSetKey(one) === key);
    return [...this.#inFlight].filter(isOfTileSet).flatMap((render) => render.unreported());
  }

  sweep(signal: AbortSignal): Promise<void> {
    return this.#parts.renderers.sweep(signal);
  }

  // ---- for truncations and the quota

  async block(layer: LayerName): Promise<void> {
    this.#layers.blocked.block(layer);
    await this.#parts.renderers.raiseGeneration(layer, this.#startGenerationEmpty(layer));
  }

  unblock(layer: LayerName): void {
    // The memory tiers may contain tiles that were read while the truncation moved them.
    this.#parts.memory.clear(layer);
    this.#layers.blocked.unblock(layer);
  }

  renew(layer: LayerName): void {
    this.#startGenerationEmpty(layer);
  }

  async startGeneration(layer: LayerName): Promise<void> {
    await this.#parts.renderers.raiseGeneration(layer, this.#startGeneration(layer));
  }

  /** Starts a generation of a layer whose tiles are gone. Returns its number. */
  #startGenerationEmpty(layer: LayerName): number {
    this.#layers.failures.clear(layer);
    this.#parts.memory.clear(layer);
    return this.#startGeneration(layer);
  }

  #startGeneration(layer: LayerName): number {
    const generation = this.#layers.generations.raise(layer);
    // Renders that were sent belong to the old generation, so new requests must not join them.
    this.#inFlight.detach(layer, "sent");
    return generation;
  }

  async outdate(layer: LayerName, ranges: readonly ChangedRange[]): Promise<void> {
    const outdated = this.#inFlight.outdate(layer, ({ tileSet, rect }) =>
      ranges.some(
        ({ gridSet, rects }) =>
          gridSet === tileSet.gridSet &&
          rects.some((one) => one.z === rect.z && intersectRects(one, rect) !== undefined),
      ),
    );
    await this.#parts.renderers.outdate(
      layer,
      outdated.map(({ order: { tileSet, rect } }) => ({ tileSet, rect })),
    );
  }

  truncated(layer: LayerName): void {
    this.#layers.truncated(layer, this.#parts.clock.now());
  }

  async clearLayer(layer: LayerName): Promise<void> {
    this.#parts.memory.clear(layer);
    this.#layers.failures.clear(layer);
    this.truncated(layer);
  }

  expireBefore(layer: LayerName, beforeMs: number): void {
    this.#layers.expireBefore(layer, beforeMs);
    this.#parts.memory.expireBefore(layer, beforeMs);
  }

  evicted(tileSet: TileSet, rect: TileRect): void {
    const keys: string[] = [];
    for (let y = rect.minY; y <= rect.maxY; y++)
      for (let x = rect.minX; x <= rect.maxX; x++) keys.push(tileKey(tileSet, x, y, rect.z));
    this.#parts.memory.remove(keys);
  }

  // ---- close

  /** Waits until all renders have ended. */
  idle(): Promise<void> {
    return this.#inFlight.idle();
  }

  /** Aborts the renders that have not reported a tile yet. */
  cancelUnanswered(): void {
    for (const { early, progress } of this.#inFlight) if (!early.hasBegun) progress.abort("shutting down");
  }

  cancelAll(): void {
    for (const { progress } of this.#inFlight) progress.abort("shutting down");
  }
}
