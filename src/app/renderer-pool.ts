import { type ChildProcess, fork } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { Composed, Composition } from "../image/compose.ts";
import type { Layer } from "../layer/layer.ts";
import { Channel, portOfProcess } from "../lib/channel.ts";
import type { Logger } from "../lib/logger.ts";
import type { Reserve } from "../render/admission.ts";
import type { EarlyTiles } from "../render/missed-tile-first.ts";
import type { RenderOrder } from "../render/render-order.ts";
import type {
  BatchClient,
  InfoResult,
  MapRefused,
  ProbeResult,
  RenderClient,
  RendererResult,
  Renderers,
  TestResult,
} from "../render/renderers.ts";
import type { TestOrder } from "../render/test-render.ts";
import type { Question } from "../source/source.ts";
import type { StoreOptions } from "../store/store-options.ts";
import { MapQueue } from "./map-queue.ts";
import { ProcessWatch } from "./process-watch.ts";
import type { RendererData, RendererMethods, RendererNotes } from "./renderer-methods.ts";

/** A renderer without work for this time ends, which frees all of its memory. */
const IDLE_MS = 60_000;

/**
 * Nice values. Hits come first: a hit takes microseconds, a render milliseconds. Beside other processes that want its
 * processor, a process gets a third of their share with 5 and a ninth with 10.
 */
const NICE = { user: 5, map: 10, job: 10 } as const;

/** The work of a renderer: tiles that users missed, maps composed from tiles, or jobs. */
type Work = keyof typeof NICE;

const LOST: RendererResult = { kind: "lost" };

interface Renderer {
  readonly who: Work;
  readonly process: ChildProcess;
  readonly channel: Channel<RendererNotes, RendererMethods>;
  /** Origins of the servers that this renderer has found to be down. */
  readonly down: Set<string>;
  /** The `report` functions of the renders in this renderer, by the numbers of the renders. */
  readonly reports: Map<number, (tiles: EarlyTiles) => void>;
  /** Called if the renderer dies, one for each render in it: the render is then answered as lost. */
  readonly lost: Set<() => void>;
  readonly watch: ProcessWatch;
  idleTimer: NodeJS.Timeout | undefined;
  closing: boolean;
}

/**
 * Starts and ends the renderer processes. The first render starts them; they end after an idle minute. Users have at
 * most one renderer per core, jobs as many, and composed maps half as many, so that none of the three waits for
 * another. While users read tiles, jobs use one renderer less: if all cores were rendering, every hit would wait for
 * the scheduler, with any priorities.
 */
export class RendererPool implements Renderers {
  #data: Omit<RendererData, "layers" | "storesUntilMs">;
  readonly #log: Logger;
  readonly #max: number;
  readonly #maps: MapQueue;
  readonly #usersActive: () => boolean;
  readonly #atRest: () => void;
  readonly #reserve: Reserve;
  readonly #renderers = new Set<Renderer>();
  #layers: readonly Layer[];
  #storesUntilMs: number;
  #nextRender = 1;
  /** The number of renderers that were ended since the start because they did not answer. */
  hung = 0;

  constructor(parts: {
    readonly data: RendererData;
    readonly max: number;
    /** Returns whether users read tiles at the moment. */
    readonly usersActive: () => boolean;
    /** Called when the last renderer has ended. */
    readonly atRest: () => void;
    readonly reserve: Reserve;
    readonly log: Logger;
  }) {
    const { layers, storesUntilMs, ...data } = parts.data;
    this.#data = data;
    this.#storesUntilMs = storesUntilMs;
    this.#layers = layers;
    this.#max = parts.max;
    this.#maps = new MapQueue(Math.max(1, Math.floor(parts.max / 2)));
    this.#usersActive = parts.usersActive;
    this.#atRest = parts.atRest;
    this.#reserve = parts.reserve;
    this.#log = parts.log;
  }

  #start(who: Work): Renderer {
    const child = fork(fileURLToPath(new URL("./renderer-process.js", import.meta.url)), {
      serialization: "advanced",
      // The renderer reports over the channel; stderr is for a crash.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    // Set the priority now, as threads of the process inherit it. A server that was started with `nice` may not raise it.
    if (child.pid !== undefined) setPriority(child.pid, Math.max(NICE[who], getPriority()));
    const down = new Set<string>();
    const reports: Renderer["reports"] = new Map();
    const channel = new Channel<RendererNotes, RendererMethods>(portOfProcess(child), {
      serverHealth: (origin, isUp) => {
        const wasDown = this.isDown(origin);
        if (isUp) down.delete(origin);
        else down.add(origin);
        if (wasDown === this.isDown(origin)) return;
        if (isUp) this.#log.info("a server of an upstream is back", { server: origin });
        else this.#log.warn("a server of an upstream is down", { server: origin });
      },
      reserve: this.#reserve,
      early: (id, tiles) => reports.get(id)?.(tiles),
    });
    const renderer: Renderer = {
      who,
      process: child,
      channel,
      down,
      reports,
      lost: new Set(),
      watch: new ProcessWatch({
        ping: () => channel.call("alive"),
        hung: (ms) => {
          this.hung++;
          this.#log.error("a renderer does not answer and is ended; its renders are given up", {
            pid: child.pid,
            seconds: ms / 1000,
            renders: renderer.lost.size,
          });
          child.kill("SIGKILL");
        },
      }),
      idleTimer: undefined,
      closing: false,
    };
    channel.note("begin", [{ ...this.#data, layers: this.#layers, storesUntilMs: this.#storesUntilMs }]);
    const gone = (): void => {
      this.#renderers.delete(renderer);
      renderer.watch.end();
      clearTimeout(renderer.idleTimer);
      channel.close(new Error("the renderer has ended"));
      for (const report of renderer.lost) report();
      if (this.#renderers.size === 0) this.#atRest();
    };
    child.on("error", (error) => {
      this.#log.error("a renderer cannot be started", { error: String(error) });
      if (child.pid === undefined) gone();
    });
    child.on("exit", (code, signal) => {
      if (!renderer.closing) this.#log.error("a renderer ended unexpectedly", { code, signal });
      gone();
    });
    this.#renderers.add(renderer);
    return renderer;
  }

  /** Returns the renderer with the fewest renders, or a new renderer while all are busy and the limit allows one. */
  #choose(who: Work): Renderer {
    const max =
      who === "map"
        ? this.#maps.concurrency
        : who === "job" && this.#usersActive()
          ? Math.max(1, this.#max - 1)
          : this.#max;
    let best: Renderer | undefined;
    let renderers = 0;
    for (const renderer of this.#renderers) {
      if (renderer.closing || renderer.who !== who) continue;
      if (renderers++ === max) break;
      if (best === undefined || renderer.lost.size < best.lost.size) best = renderer;
    }
    if (best === undefined || (best.lost.size > 0 && renderers < max)) return this.#start(who);
    return best;
  }

  async renderMetatile(
    order: RenderOrder,
    generation: number,
    { who, missed, openCells, report, whenUserJoins }: RenderClient,
    signal: AbortSignal,
  ): Promise<RendererResult> {
    if (signal.aborted) return { kind: "cancelled" };
    const id = this.#nextRender++;
    return this.#render(who, order, LOST, async ({ channel, reports }) => {
      reports.set(id, report);
      whenUserJoins((tile) => channel.note("join", [id, tile]));
      const about = { id, missed, needsPermit: openCells !== undefined };
      const rendered = channel.callUntil(signal, "renderMetatile", order, generation, about);
      // The renderer begins while the cells are opened. It has received the order when the permit arrives.
      void openCells?.().then((reservation) => channel.note("permit", [id, reservation]));
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
    return this.#render("job", first, lost, ({ channel, reports }) => {
      for (const i of orders.keys()) reports.set(firstId + i, (tiles) => report(i, tiles));
      whenUserJoins((i, tile) => channel.note("join", [firstId + i, tile]));
      return channel.callUntil(signal, "renderBatch", orders, generation, firstId).finally(() => {
        for (const i of orders.keys()) reports.delete(firstId + i);
      });
    });
  }

  /** Renders with one renderer. `lost` is the result if the renderer died or failed by a fault. */
  #render<T>(
    who: "user" | "job",
    { tileSet }: RenderOrder,
    lost: T,
    call: (renderer: Renderer) => Promise<T>,
  ): Promise<T> {
    return this.#busy(who, async (renderer, died) => {
      // When a renderer dies, `died` resolves before the promise of the answer is rejected.
      const answer = call(renderer).catch((error: unknown) => {
        this.#log.error("a render failed by a fault", { layer: tileSet.layer, error: String(error) });
        return lost;
      });
      return await Promise.race([died.then(() => lost), answer]);
    });
  }

  query(layer: string, question: Question, signal: AbortSignal): Promise<InfoResult> {
    return this.#busy("user", ({ channel }) =>
      channel.callUntil(signal, "query", layer, question).catch((error: unknown) => {
        this.#log.error("a question to an upstream failed by a fault", { layer, error: String(error) });
        return { kind: "lost" } as const;
      }),
    );
  }

  probe(layer: string, signal: AbortSignal): Promise<ProbeResult> {
    return this.#busy("user", ({ channel }) =>
      channel.callUntil(signal, "probe", layer).catch((error: unknown) => {
        this.#log.error("a probe of an upstream failed by a fault", { layer, error: String(error) });
        return { kind: "lost" } as const;
      }),
    );
  }

  test(order: TestOrder, signal: AbortSignal): Promise<TestResult> {
    return this.#busy("user", ({ channel }) =>
      channel.callUntil(signal, "test", order).catch((error: unknown) => {
        this.#log.error("a test of a layer failed by a fault", { layer: order.layer, error: String(error) });
        return { kind: "lost" } as const;
      }),
    );
  }

  sweep(signal: AbortSignal): Promise<void> {
    return this.#busy("job", ({ channel }) => channel.callUntil(signal, "sweep"));
  }

  compose(composition: Composition, signal: AbortSignal): Promise<Composed | MapRefused> {
    return this.#maps.add(
      (within) =>
        this.#busy("map", ({ channel, process }) =>
          channel.callUntil(within, "compose", composition).catch((error: unknown): MapRefused => {
            // The map itself is not at fault when its renderer was killed: its client may ask again at once.
            if (process.exitCode === null && process.signalCode === null) throw error;
            return { kind: "refused", retryAfterSeconds: 1 };
          }),
        ),
      signal,
    );
  }

  /** Runs work in a renderer, and starts its idle timer when it has no work left. */
  async #busy<T>(who: Work, work: (renderer: Renderer, died: Promise<void>) => Promise<T>): Promise<T> {
    const renderer = this.#choose(who);
    clearTimeout(renderer.idleTimer);
    let report = () => {};
    const died = new Promise<void>((resolve) => {
      report = resolve;
    });
    renderer.lost.add(report);
    renderer.watch.begin();
    try {
      return await work(renderer, died);
    } finally {
      renderer.lost.delete(report);
      if (renderer.lost.size === 0) {
        renderer.watch.end();
        renderer.idleTimer = setTimeout(() => void this.#end(renderer), IDLE_MS);
        renderer.idleTimer.unref();
      }
    }
  }

  async raiseGeneration(layer: string, generation: number): Promise<void> {
    // A renderer without work writes nothing, and its next render has this generation or a later one.
    const atWork = [...this.#renderers].filter(({ lost }) => lost.size > 0);
    if (atWork.length === 0) return;
    await Promise.all(
      atWork.map(({ channel }) => channel.call("raiseGeneration", layer, generation).catch(() => undefined)),
    );
    // The results of renders arrived before these answers. Wait one turn, so that their receivers have handled them.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Nothing is stored after this time by `machineMs`. */
  storesUntil(ms: number): void {
    this.#storesUntilMs = ms;
    for (const renderer of this.#renderers) renderer.channel.note("storesUntil", [ms]);
  }

  /** Returns whether a renderer has found a server to be down, of a source with several servers. */
  isDown(origin: string): boolean {
    return [...this.#renderers].some(({ down }) => down.has(origin));
  }

  configure(layers: readonly Layer[], stores: readonly StoreOptions[]): void {
    this.#layers = layers;
    this.#data = { ...this.#data, stores };
    for (const renderer of this.#renderers) renderer.channel.note("configure", [layers, stores]);
  }

  /** Replaces one layer in the renderers. `layers`: all layers, for renderers that start later. */
  configureLayer(layers: readonly Layer[], name: string, layer: Layer | undefined): void {
    this.#layers = layers;
    for (const renderer of this.#renderers) renderer.channel.note("configureLayer", [name, layer]);
  }

  async #end(renderer: Renderer): Promise<void> {
    if (renderer.closing) return;
    renderer.closing = true;
    clearTimeout(renderer.idleTimer);
    const exited = new Promise((resolve) => renderer.process.once("exit", resolve));
    renderer.channel.note("close", []);
    const timer = setTimeout(() => void renderer.process.kill("SIGKILL"), 5_000);
    await exited;
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#renderers].map((renderer) => this.#end(renderer)));
  }
}
