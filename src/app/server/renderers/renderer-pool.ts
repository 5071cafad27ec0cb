import type { Composed, Composition } from "../../../image/compose.ts";
import type { Layer } from "../../../layer/layer.ts";
import type { LayerName } from "../../../layer/tile-set.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { turn } from "../../../lib/time/sleep.ts";
import { waitOut } from "../../../lib/time/wait-out.ts";
import type { Reserve } from "../../../render/admission.ts";
import type { RenderOrder } from "../../../render/render-order.ts";
import type { TestOrder } from "../../../render/renderer/test-render.ts";
import type {
  BatchClient,
  InfoResult,
  MapRefused,
  ProbeResult,
  RenderClient,
  RendererResult,
  Renderers,
  TestResult,
} from "../../../render/renderers.ts";
import type { MetatileAddress } from "../../../render/user-renders.ts";
import type { Question } from "../../../source/source.ts";
import type { StoreOptions } from "../../../store/store-options.ts";
import { MapQueue } from "./map-queue.ts";
import { PooledRenderer, type RendererRole } from "./pooled-renderer.ts";
import { chooseRenderer } from "./renderer-choice.ts";
import type { RendererEnd, RendererHost } from "./renderer-host.ts";

const LOST: RendererResult = { kind: "lost" };

export interface RendererPoolParts {
  /** The host of this machine. Only its renderers compose maps and reclaim space. */
  readonly local: RendererHost;
  readonly layers: readonly Layer[];
  /** Returns whether users are reading tiles now. */
  readonly usersActive: () => boolean;
  /** Called when the last renderer has ended. */
  readonly atRest: () => void;
  /** Called before renders resolve as lost whose renderer may still begin to store tiles for a time. */
  readonly lostWriter: (mayStoreMs: number) => void;
  readonly reserve: Reserve;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The work of the renderers of one machine. */
export interface RenderWork {
  /** The number of renders in progress. */
  readonly renders: number;
  /** The number of metatiles that were rendered since the host was added. */
  readonly metatiles: number;
}

/** Machines that join and leave while the pool works. */
export interface RendererHosts {
  add(host: RendererHost): void;
  /** Gives the host no further work. Resolves when its renderers have ended. */
  remove(host: RendererHost): Promise<void>;
  /** Returns the work of the renderers on a host. Without `host`, returns the work on the machine of this process. */
  workOf(host?: RendererHost): RenderWork;
}

/**
 * Starts and ends the renderer processes. The first render starts them; they end after an idle minute. On each machine
 * users have at most one renderer per core, jobs have as many, and composed maps have half as many, so that users, jobs
 * and maps do not wait for each other's renderers. While users read tiles, jobs use one renderer less: if all cores
 * were rendering, every hit would wait for the scheduler, with any priorities.
 */
export class RendererPool implements Renderers, RendererHosts {
  readonly #parts: RendererPoolParts;
  readonly #maps: MapQueue;
  readonly #hosts = new Set<RendererHost>();
  readonly #renderers = new Set<PooledRenderer>();
  /** The number of metatiles that each host has rendered. */
  readonly #rendered = new WeakMap<RendererHost, number>();
  #layers: readonly Layer[];
  /** The stores of the last configuration. Undefined if the hosts still have the stores of their start. */
  #stores: readonly StoreOptions[] | undefined;
  #nextRender = 1;
  /** Until this time of the monotonic clock, ms, unreachable renderers may begin to store tiles. */
  #unreachableUntilMs = 0;
  /** The number of renderers that were killed since the start because they did not respond. */
  hung = 0;

  constructor(parts: RendererPoolParts) {
    this.#parts = parts;
    this.#layers = parts.layers;
    this.#hosts.add(parts.local);
    this.#maps = new MapQueue(halfOf(parts.local), parts.clock);
  }

  add(host: RendererHost): void {
    if (this.#stores !== undefined) host.configureStores(this.#stores);
    this.#hosts.add(host);
  }

  async remove(host: RendererHost): Promise<void> {
    this.#hosts.delete(host);
    const own = [...this.#renderers].filter((one) => one.host === host);
    await Promise.all(own.map((renderer) => renderer.retire()));
  }

  workOf(host: RendererHost = this.#parts.local): RenderWork {
    const own = [...this.#renderers].filter((one) => one.host === host);
    return {
      renders: own.reduce((sum, { renders }) => sum + renders, 0),
      metatiles: this.#rendered.get(host) ?? 0,
    };
  }

  /** Adds to the number of metatiles that a renderer's host has rendered. */
  #count({ host }: PooledRenderer, results: RendererResult | readonly RendererResult[]): void {
    const rendered = [results].flat().filter(({ kind }) => kind === "rendered").length;
    this.#rendered.set(host, (this.#rendered.get(host) ?? 0) + rendered);
  }

  /** The number of cores of each machine. */
  get cores(): readonly number[] {
    return [...this.#hosts].map(({ most }) => most);
  }

  #start(who: RendererRole, host: RendererHost): PooledRenderer {
    const { reserve, clock, log } = this.#parts;
    const renderer = new PooledRenderer({
      who,
      host,
      layers: this.#layers,
      reserve,
      serverHealth: ({ down }, origin, isUp) => this.#serverHealth(down, origin, isUp),
      hung: () => {
        this.hung++;
      },
      ended: (one, end) => this.#ended(one, end),
      clock,
      log,
    });
    this.#renderers.add(renderer);
    return renderer;
  }

  #serverHealth(down: Set<string>, origin: string, isUp: boolean): void {
    const { log } = this.#parts;
    const wasDown = this.isDown(origin);
    if (isUp) down.delete(origin);
    else down.add(origin);
    if (wasDown === this.isDown(origin)) return;
    if (isUp) log.info("a server of an upstream is back", { server: origin });
    else log.warn("a server of an upstream is down", { server: origin });
  }

  #ended(renderer: PooledRenderer, end: RendererEnd): void {
    const { log, lostWriter, atRest } = this.#parts;
    this.#renderers.delete(renderer);
    switch (end.kind) {
      case "not_started":
        log.error("a renderer cannot be started", { error: end.error });
        break;
      case "exited":
        if (!renderer.isAskedToEnd)
          log.error("a renderer ended unexpectedly", { ...renderer.place, code: end.code, signal: end.signal });
        break;
      case "unreachable":
        this.#unreachableUntilMs = Math.max(
          this.#unreachableUntilMs,
          this.#parts.clock.monotonicNow() + end.mayStoreMs,
        );
        lostWriter(end.mayStoreMs);
    }
    if (this.#renderers.size === 0) atRest();
  }

  #choose(who: RendererRole, near?: string): PooledRenderer {
    const { local, usersActive } = this.#parts;
    const most = (host: RendererHost): number =>
      who === "map" ? halfOf(host) : who === "job" && usersActive() ? Math.max(1, host.most - 1) : host.most;
    const own = [...this.#renderers].filter((one) => one.who === who && !one.isRetiring);
    // Each silent renderer may be replaced by one additional renderer.
    const silent = own.filter(({ isSilent }) => isSilent);
    const open = silent.length > local.most ? own : own.filter((one) => !silent.includes(one));
    const hosts = who === "map" ? [local] : this.#hosts;
    const choice = chooseRenderer(hosts, open, most, near) ?? { start: local };
    return "renderer" in choice ? choice.renderer : this.#start(who, choice.start);
  }

  async renderMetatile(
    order: RenderOrder,
    generation: number,
    { who, missed, openCells, report, whenUserJoins }: RenderClient,
    signal: AbortSignal,
  ): Promise<RendererResult> {
    if (signal.aborted) return { kind: "cancelled" };
    const id = this.#nextRender++;
    return this.#render(this.#choose(who, order.near), order, LOST, async ({ methods, reports }) => {
      reports.set(id, report);
      whenUserJoins((tile) => methods.join(id, tile));
      const about = { id, missed, needsPermit: openCells !== undefined };
      const rendered = methods.renderMetatile(order, generation, about, signal);
      // The renderer starts while the cells are opened. The order arrives before the permit, because messages keep
      // their order.
      void openCells?.().then((reservation) => methods.permit(id, reservation));
      return rendered.finally(() => reports.delete(id));
    });
  }

  async renderBatch(
    orders: readonly RenderOrder[],
    generation: number,
    { report, whenUserJoins }: BatchClient,
    signal: AbortSignal,
  ): Promise<readonly RendererResult[]> {
    const [first] = orders;
    if (first === undefined || signal.aborted) return [];
    const lost = orders.map(() => LOST);
    const firstId = this.#nextRender;
    this.#nextRender += orders.length;
    return this.#render(this.#choose("job"), first, lost, ({ methods, reports }) => {
      for (const i of orders.keys()) reports.set(firstId + i, (tiles) => report(i, tiles));
      whenUserJoins((i, tile) => methods.join(firstId + i, tile));
      return methods.renderBatch(orders, { generation, firstId }, signal).finally(() => {
        for (const i of orders.keys()) reports.delete(firstId + i);
      });
    });
  }

  /** Renders with one renderer. Returns `lost` if the renderer died or failed by a fault. */
  #render<T extends RendererResult | readonly RendererResult[]>(
    renderer: PooledRenderer,
    { tileSet }: RenderOrder,
    lost: T,
    call: (renderer: PooledRenderer) => Promise<T>,
  ): Promise<T> {
    return renderer.work(async (_, died) => {
      // If a renderer dies, `died` resolves before the call rejects.
      const rendered = call(renderer).then((result) => {
        this.#count(renderer, result);
        return result;
      });
      const answer = rendered.catch((error: unknown) => {
        this.#parts.log.error("a render failed by a fault", { layer: tileSet.layer, error: String(error) });
        return lost;
      });
      return await Promise.race([died.then(() => lost), answer]);
    }, tileSet.layer);
  }

  query(layer: LayerName, question: Question, signal: AbortSignal): Promise<InfoResult> {
    return this.#ask(layer, "a query to an upstream failed by a fault", (renderer) =>
      renderer.query(layer, question, signal),
    );
  }

  probe(layer: LayerName, signal: AbortSignal): Promise<ProbeResult> {
    return this.#ask(layer, "a probe of an upstream failed by a fault", (renderer) => renderer.probe(layer, signal));
  }

  test(order: TestOrder, signal: AbortSignal): Promise<TestResult> {
    return this.#ask(order.layer, "a test of a layer failed by a fault", (renderer) => renderer.test(order, signal));
  }

  /**
   * Runs a call that stores nothing in a renderer for users. Returns `lost` if the call failed by a fault.
   *
   * @param fault the log message of such a fault
   */
  #ask<T>(
    layer: LayerName,
    fault: string,
    call: (methods: PooledRenderer["methods"]) => Promise<T>,
  ): Promise<T | { readonly kind: "lost" }> {
    return this.#choose("user").work(async ({ methods }) => {
      try {
        return await call(methods);
      } catch (error) {
        this.#parts.log.error(fault, { layer, error: String(error) });
        return { kind: "lost" };
      }
    });
  }

  sweep(signal: AbortSignal): Promise<void> {
    const { local } = this.#parts;
    const own = [...this.#renderers].find((one) => one.host === local && one.who === "job" && !one.isRetiring);
    return (own ?? this.#start("job", local)).work(({ methods }) => methods.sweep(signal));
  }

  compose(composition: Composition, signal: AbortSignal): Promise<Composed | MapRefused> {
    return this.#maps.add(
      (within) =>
        this.#choose("map").work((renderer) =>
          renderer.methods.compose(composition, within).catch((error: unknown): MapRefused => {
            // A map whose renderer was killed is not itself at fault: its client may retry at once.
            if (!renderer.hasEnded) throw error;
            return { kind: "refused", retryAfterSeconds: 1 };
          }),
        ),
      signal,
    );
  }

  raiseGeneration(layer: LayerName, generation: number): Promise<void> {
    return this.#acknowledged(layer, (renderer) => renderer.methods.raiseGeneration(layer, generation));
  }

  async outdate(layer: LayerName, metatiles: readonly MetatileAddress[]): Promise<void> {
    if (metatiles.length > 0) await this.#acknowledged(layer, (renderer) => renderer.methods.outdate(metatiles));
  }

  /** Waits until each renderer with work in a layer has acknowledged that its earlier work is outdated. */
  async #acknowledged(layer: LayerName, call: (renderer: PooledRenderer) => Promise<void>): Promise<void> {
    // A renderer without work in the layer writes nothing there, and its next render has this generation or a later
    // one.
    const atWork = [...this.#renderers].filter((one) => one.rendersIn(layer));
    const raise = async (renderer: PooledRenderer): Promise<void> => {
      try {
        await call(renderer);
      } catch (error) {
        if (renderer.hasEnded) return;
        // The renderer may store tiles of the older generation.
        this.#parts.log.error("a renderer does not acknowledge a generation and is ended", {
          ...renderer.place,
          layer,
          error: String(error),
        });
        renderer.kill();
        await renderer.exited;
      }
    };
    await Promise.all(atWork.map(raise));
    // After the responses, because a renderer may have become unreachable during the calls.
    const { clock } = this.#parts;
    await waitOut(clock, () => this.#unreachableUntilMs - clock.monotonicNow());
    if (atWork.length === 0) return;
    // The results of renders arrived before these responses. Wait one turn, so that they have been handled.
    await turn(clock);
  }

  /** Returns whether a renderer has found one of several servers of a source down. */
  isDown(origin: string): boolean {
    return [...this.#renderers].some(({ down }) => down.has(origin));
  }

  configure(layers: readonly Layer[], stores: readonly StoreOptions[]): void {
    this.#layers = layers;
    this.#stores = stores;
    for (const host of this.#hosts) host.configureStores(stores);
    for (const { methods } of this.#renderers) methods.configure(layers);
  }

  /** Replaces one layer in the renderers. `layers` has all layers, for renderers that start later. */
  configureLayer(layers: readonly Layer[], name: string, layer: Layer | undefined): void {
    this.#layers = layers;
    for (const { methods } of this.#renderers) methods.configureLayer(name, layer);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#renderers].map((renderer) => renderer.close()));
  }
}

/** Composed maps use half of the renderers of a machine. */
const halfOf = ({ most }: RendererHost): number => Math.max(1, Math.floor(most / 2));
