import type { TileIndex } from "../../grid/grid-set.ts";
import { composePicture } from "../../image/compose.ts";
import { formatOf, type ImageFormat } from "../../layer/format.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import type { SourceOptions } from "../../layer/source-options.ts";
import { type LayerName, tileSetKey } from "../../layer/tile-set.ts";
import { withTrace } from "../../lib/http/trace-context.ts";
import type { Machine } from "../../lib/machine.ts";
import { onceEach } from "../../lib/once-each.ts";
import { turn } from "../../lib/time/sleep.ts";
import { Allowance, type Leave } from "../../render/admission.ts";
import { BATCH_MS, type RenderOrder } from "../../render/render-order.ts";
import { failedRequest } from "../../render/render-result.ts";
import { renderMask } from "../../render/renderer/render-mask.ts";
import { type RenderParts, tryMetatile } from "../../render/renderer/render-metatile.ts";
import { type TestOrder, testTile } from "../../render/renderer/test-render.ts";
import type { StoreDecision } from "../../render/renderer/tile-reservation.ts";
import type { InfoResult, ProbeResult, RendererResult, TestResult } from "../../render/renderers.ts";
import { probeRequest } from "../../render/upstream/probe-request.ts";
import type { MetatileAddress } from "../../render/user-renders.ts";
import type { createSource } from "../../source/create-source.ts";
import type { Question, Source } from "../../source/source.ts";
import { loadStoreKinds, type OpenedStores, openStores } from "../../store/open-store.ts";
import type { StoreNews } from "../../store/store-news.ts";
import type { StoreOptions } from "../../store/store-options.ts";
import { whenKnown } from "../../store/tile-store.ts";
import type { RendererMethods, RendererNews, RendererNotes, RendererOwner, RenderRequest } from "./renderer-methods.ts";

/** One render in progress. */
interface CurrentRender {
  readonly order: RenderOrder;
  /** Whether the data has changed since the render began, so that its tiles must not be stored. */
  isOutdated: boolean;
  /** The tile that a user waits for. */
  missed: TileIndex | undefined;
  /** Permits the render to store its tiles. */
  readonly permit: (reservation: Leave | undefined) => void;
}

/** A batch in progress. It may have written tiles that are not reported yet. */
interface Batch {
  readonly layer: LayerName | undefined;
  readonly renders: readonly CurrentRender[];
  /** Aborts the batch and its current render. */
  readonly abort: AbortController;
  /** Resolves after the batch has been answered. */
  readonly answered: Promise<void>;
}

/** The process of a renderer. */
export interface RendererSelf {
  /** Returns the pid of the parent process. */
  readonly parentPid: () => number;
  /** Returns the processor time, ms, of all threads since the start. */
  readonly processorMs: () => number;
  readonly createSource: typeof createSource;
  /** Ends the process. */
  readonly exit: () => void;
}

/** Renders metatiles, sends requests to upstreams and composes maps. Runs in its own process. */
export class Renderer implements RendererMethods {
  readonly #server: RendererNotes & RendererNews;
  readonly #machine: Machine;
  readonly #self: RendererSelf;
  readonly #sources = new Map<string, Promise<Source>>();
  /** The oldest generation whose tiles may still be stored, by layer. 0 for layers without an entry. */
  readonly #oldest = new Map<string, number>();
  readonly #renders = new Map<number, CurrentRender>();
  readonly #batches = new Set<Batch>();
  #layers: ReadonlyMap<string, Layer> = new Map();
  #owner: RendererOwner | undefined;
  #stores: Promise<OpenedStores> | undefined;
  #storesUntilMs = 0;
  /** The number of renders that are storing tiles. */
  #storing = 0;
  /** Resolves the calls of `raiseGeneration` that wait for renders which are storing tiles. */
  #storesEnded: (() => void)[] = [];
  #reportedMs: number;

  constructor(server: RendererNotes & RendererNews, machine: Machine, self: RendererSelf) {
    this.#machine = machine;
    this.#self = self;
    this.#reportedMs = self.processorMs();
    this.#server = server;
  }

  own(owner: RendererOwner): void {
    this.#owner = owner;
    this.#storesUntilMs = owner.storesUntilMs;
  }

  storesUntil(ms: number): void {
    this.#storesUntilMs = ms;
  }

  storeNews(news: StoreNews): void {
    this.#stores?.then(
      (stores) => stores.tell(news),
      // Each render reports why the stores cannot be opened.
      () => undefined,
    );
  }

  /**
   * Returns whether the server that owns this renderer is still running. If it was killed, this process has a new
   * parent.
   */
  #isOwned(): boolean {
    return this.#self.parentPid() === this.#owner?.parentPid && this.#machine.clock.machineNow() < this.#storesUntilMs;
  }

  async renderMetatile(
    order: RenderOrder,
    generation: number,
    { id, missed, needsPermit }: RenderRequest,
    signal: AbortSignal,
  ): Promise<RendererResult> {
    const permitted = new Promise<Leave | undefined>((permit) =>
      this.#renders.set(id, { order, isOutdated: false, missed, permit }),
    );
    const mayStore = needsPermit ? this.#storeWithPermit(permitted) : this.#storeWithin(order.leave);
    try {
      const result = await this.#render(order, generation, id, mayStore, signal);
      if (result.kind !== "rendered") return result;
      const before = this.#reportedMs;
      this.#reportedMs = this.#self.processorMs();
      return { ...result, processorMs: this.#reportedMs - before };
    } finally {
      this.#renders.delete(id);
    }
  }

  permit(id: number, reservation: Leave | undefined): void {
    this.#renders.get(id)?.permit(reservation);
  }

  join(id: number, missed: TileIndex): void {
    const render = this.#renders.get(id);
    if (render !== undefined) render.missed ??= missed;
  }

  renderBatch(
    orders: readonly RenderOrder[],
    { generation, firstId }: Parameters<RendererMethods["renderBatch"]>[1],
    signal: AbortSignal,
  ): Promise<readonly RendererResult[]> {
    const abort = new AbortController();
    signal.addEventListener("abort", () => abort.abort(signal.reason), { once: true });
    const renders = orders.map(
      (order): CurrentRender => ({ order, isOutdated: false, missed: undefined, permit: () => undefined }),
    );
    for (const [i, render] of renders.entries()) this.#renders.set(firstId + i, render);
    const results = this.#renderInSequence(orders, generation, firstId, abort.signal);
    const answered = results.then(
      () => turn(this.#machine.clock),
      () => turn(this.#machine.clock),
    );
    const batch: Batch = { layer: orders[0]?.tileSet.layer, renders, abort, answered };
    this.#batches.add(batch);
    return results.finally(() => {
      this.#batches.delete(batch);
      for (const i of orders.keys()) this.#renders.delete(firstId + i);
    });
  }

  async raiseGeneration(layer: LayerName, generation: number): Promise<void> {
    this.#oldest.set(layer, generation);
    await this.#ended((batch) => batch.layer === layer);
  }

  async outdate(metatiles: readonly MetatileAddress[]): Promise<void> {
    const keys = new Set(metatiles.map(metatileKey));
    for (const render of this.#renders.values()) if (keys.has(metatileKey(render.order))) render.isOutdated = true;
    await this.#ended(({ renders }) => renders.some(({ isOutdated }) => isOutdated));
  }

  /** Ends some batches, and waits until all renders that are storing tiles have ended and have reported them. */
  async #ended(isOutdated: (batch: Batch) => boolean): Promise<void> {
    const outdated = [...this.#batches].filter(isOutdated);
    for (const { abort } of outdated) abort.abort(new Error("truncated"));
    await Promise.all(outdated.map(({ answered }) => answered));
    if (this.#storing > 0) await new Promise<void>((resolve) => this.#storesEnded.push(resolve));
  }

  async query(name: string, question: Question, signal: AbortSignal): Promise<InfoResult> {
    const layer = this.#layers.get(name);
    if (layer === undefined) return { kind: "cancelled" };
    const beganMs = this.#machine.clock.monotonicNow();
    const query = async () =>
      question.kind === "mask"
        ? await renderMask(this.#machine.clock, question, () => this.#sourceFor(layer.source), signal)
        : await (await this.#sourceFor(layer.source)).query?.(question, signal);
    try {
      const info = await withTrace(question.trace, query);
      if (info === undefined) throw new Error(`the source of ${name} only renders pictures`);
      return { kind: "info", info };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      return failedRequest(error, this.#machine.clock.monotonicNow() - beganMs);
    }
  }

  async probe(name: string, signal: AbortSignal): Promise<ProbeResult> {
    const layer = this.#layers.get(name);
    const request = layer && probeRequest(layer);
    if (layer === undefined || request === undefined) return { kind: "cancelled" };
    const beganMs = this.#machine.clock.monotonicNow();
    try {
      await (await this.#sourceFor(layer.source)).render(request, signal);
      return { kind: "answered", upstreamMs: this.#machine.clock.monotonicNow() - beganMs };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      return failedRequest(error, this.#machine.clock.monotonicNow() - beganMs);
    }
  }

  async test(order: TestOrder, signal: AbortSignal): Promise<TestResult> {
    const layer = this.#layers.get(order.layer);
    const subset = layer && findSubset(layer, order.gridSet);
    const format = formatOf(order.format);
    if (layer === undefined || subset === undefined || format === undefined) return { kind: "cancelled" };
    try {
      const source = await this.#sourceFor(layer.source);
      return {
        kind: "tested",
        ...(await testTile({ clock: this.#machine.clock, layer, subset, format, source }, order, signal)),
      };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      throw error;
    }
  }

  async sweep(signal: AbortSignal): Promise<void> {
    await (await this.#stores)?.store.sweep(signal);
  }

  compose(...call: Parameters<RendererMethods["compose"]>): ReturnType<RendererMethods["compose"]> {
    return composePicture(this.#machine.clock, ...call);
  }

  async alive(): Promise<void> {}

  configureLayer(name: string, layer: Layer | undefined): void {
    const layers = new Map(this.#layers);
    if (layer === undefined) layers.delete(name);
    else layers.set(name, layer);
    this.configure([...layers.values()]);
  }

  configureStores(stores: readonly StoreOptions[]): void {
    if (this.#owner !== undefined) this.#owner = { ...this.#owner, stores };
  }

  configure(layers: readonly Layer[]): void {
    const owner = this.#owner;
    if (owner === undefined) throw new Error("the renderer has no owner");
    const { stores } = owner;
    this.#layers = byName(layers);
    const opened = this.#stores;
    const kinds = loadStoreKinds(stores);
    const open = async (): Promise<OpenedStores> => {
      const found = (news: StoreNews): void => this.#server.storeNews(news);
      const options = { ...owner, machine: this.#machine, layers, isOwner: false, writes: true, found };
      const stores = openStores(options, await kinds);
      for (const news of owner.storesAway) stores.tell(news);
      return stores;
    };
    this.#stores =
      opened === undefined
        ? open()
        : opened.then(async (before) => {
            before.configure({ layers, stores }, await kinds);
            return before;
          });
    // Each render reports the fault, too.
    this.#stores.catch(() => undefined);
    // Sources that no layer uses are closed after their renders have ended.
    const used = new Set(layers.map(({ source }) => keyOf(source)));
    for (const [key, source] of this.#sources) {
      if (used.has(key)) continue;
      this.#sources.delete(key);
      void source.then((opened) => opened[Symbol.asyncDispose]());
    }
  }

  close(): void {
    void this.#end();
  }

  async #end(): Promise<void> {
    await Promise.all([...this.#sources.values()].map(async (source) => (await source)[Symbol.asyncDispose]()));
    await (await this.#stores)?.store[Symbol.asyncDispose]();
    this.#machine.clock.soon(this.#self.exit);
  }

  /**
   * Renders a batch. All results except the last are stored metatiles. The last result may be the reason why the batch
   * ended.
   */
  async #renderInSequence(
    orders: readonly RenderOrder[],
    generation: number,
    firstId: number,
    signal: AbortSignal,
  ): Promise<readonly RendererResult[]> {
    const untilMs = this.#machine.clock.monotonicNow() + BATCH_MS;
    const results: RendererResult[] = [];
    const mayStore = this.#storeWithin(orders[0]?.leave);
    for (const [i, order] of orders.entries()) {
      const result = await this.#render(order, generation, firstId + i, mayStore, signal);
      results.push(result);
      const isStored = result.kind === "rendered" && !result.stale && result.storeFailure === undefined;
      if (!isStored || signal.aborted || this.#machine.clock.monotonicNow() > untilMs) break;
    }
    return results;
  }

  async #render(
    order: RenderOrder,
    generation: number,
    id: number,
    mayStore: RenderParts["mayStore"],
    signal: AbortSignal,
  ): Promise<RendererResult> {
    const layer = this.#layers.get(order.tileSet.layer);
    const subset = layer === undefined ? undefined : findSubset(layer, order.tileSet.gridSet);
    const format = formatOf(order.tileSet.format);
    const store = (await this.#stores)?.store;
    if (store === undefined) throw new Error("the renderer has not begun");
    if (layer === undefined || subset === undefined || format === undefined) return { kind: "cancelled" };
    try {
      const result = await tryMetatile(
        order,
        {
          clock: this.#machine.clock,
          layer,
          subset,
          format,
          beside: (order.beside ?? []).flatMap((mimeType) => imageFormatOf(mimeType) ?? []),
          source: await this.#sourceFor(layer.source),
          store,
          isCurrent: () =>
            generation >= (this.#oldest.get(layer.name) ?? 0) &&
            this.#renders.get(id)?.isOutdated !== true &&
            this.#isOwned(),
          storing: (busy) => this.#countStoring(busy),
          user: () => {
            const missed = this.#renders.get(id)?.missed;
            return missed && { missed, report: (tiles) => this.#server.early(id, tiles) };
          },
          mayStore,
        },
        signal,
      );
      return result.kind === "failed" && signal.aborted ? { kind: "cancelled" } : result;
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      throw error;
    }
  }

  #sourceFor(options: SourceOptions): Promise<Source> {
    const key = keyOf(options);
    const known = this.#sources.get(key);
    if (known !== undefined) return known;
    const report = (origin: string, isUp: boolean): void => this.#server.serverHealth(origin, isUp);
    const source = this.#self.createSource(options, { clock: this.#machine.clock, report });
    this.#sources.set(key, source);
    return source;
  }

  /**
   * Counts the renders that store tiles. After the last one, resolves the calls of `raiseGeneration` in a later turn:
   * messages are sent in order, so the written tiles are reported first.
   */
  #countStoring(busy: boolean): void {
    this.#storing += busy ? 1 : -1;
    if (this.#storing > 0 || this.#storesEnded.length === 0) return;
    const all = this.#storesEnded;
    this.#storesEnded = [];
    this.#machine.clock.soon(() => {
      for (const resolve of all) resolve();
    });
  }

  /** Returns the function that requests space under a reservation. Without a reservation the render stores nothing. */
  #storeWithin(reservation: Leave | undefined): RenderParts["mayStore"] {
    const allowance = new Allowance(reservation, this.#server.reserve);
    return (most, growth) =>
      whenKnown<boolean, StoreDecision>(allowance.take(most, growth), (taken) => (taken ? "store" : "no space"));
  }

  /** Returns the function that requests space after the coordinator has opened the cells. */
  #storeWithPermit(permitted: Promise<Leave | undefined>): RenderParts["mayStore"] {
    let within: RenderParts["mayStore"] | undefined;
    return async (most, growth) => {
      const reservation = await permitted;
      if (reservation === undefined) return "stale";
      within ??= this.#storeWithin(reservation);
      return await within(most, growth);
    };
  }
}

function imageFormatOf(mimeType: string): ImageFormat | undefined {
  const format = formatOf(mimeType);
  return format?.kind === "image" ? format : undefined;
}

const metatileKey = ({ tileSet, rect }: MetatileAddress): string =>
  `${tileSetKey(tileSet)}\n${rect.z}/${rect.minX}/${rect.minY}`;

const byName = (layers: readonly Layer[]): ReadonlyMap<string, Layer> =>
  new Map(layers.map((layer) => [layer.name, layer]));

/** Returns the key of a source. A reconfigured layer with equal options keeps its source and its connections. */
const keyOf = onceEach((options: SourceOptions): string => JSON.stringify(options));
