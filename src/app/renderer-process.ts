import { setImmediate as nextTurn } from "node:timers/promises";
import type { TileIndex } from "../grid/grid-set.ts";
import { type Composed, type Composition, composePicture } from "../image/compose.ts";
import { formatOf, type ImageFormat } from "../layer/format.ts";
import { findSubset, type Layer, type SourceOptions } from "../layer/layer.ts";
import { Channel, portOfProcess } from "../lib/channel.ts";
import { onceEach } from "../lib/once-each.ts";
import { withTrace } from "../lib/trace-context.ts";
import { Allowance, type Leave, type Reserve } from "../render/admission.ts";
import type { EarlyTiles, UserRender } from "../render/missed-tile-first.ts";
import { type RenderParts, renderMetatile } from "../render/render-metatile.ts";
import { BATCH_MS, type RenderOrder } from "../render/render-order.ts";
import type { InfoResult, RendererResult } from "../render/renderers.ts";
import { createSource } from "../source/create-source.ts";
import { type Question, type Source, SourceError } from "../source/source.ts";
import { createFileTileStore } from "../store/file/file-tile-store.ts";
import type { TileStore } from "../store/tile-store.ts";
import { followParent } from "./child-process.ts";

/** The data that a renderer receives when it starts. */
export interface RendererData {
  readonly layers: readonly Layer[];
  readonly storeRoot: string;
  readonly fsync: boolean;
  readonly instance: string;
  /**
   * The pid of the server. A renderer outlives a killed server for a moment, and must store nothing then, as no ledger
   * would count the tiles.
   */
  readonly parentPid: number;
}

/** A user's part of an order. */
export interface UserOrder {
  /** The number of the render in `permit` and `early`. */
  readonly id: number;
  readonly missed: TileIndex;
  /** The renderer stores nothing before `permit` has arrived. If false, the order's reservation applies. */
  readonly needsPermit: boolean;
}

/** Methods of a renderer that the server calls. */
export interface RendererMethods {
  /** The first message. */
  begin(data: RendererData): void;
  /** Renders a metatile. `user` is the user who waits for one of its tiles; undefined for a job. */
  renderMetatile(
    order: RenderOrder,
    generation: number,
    user: UserOrder | undefined,
    signal: AbortSignal,
  ): Promise<RendererResult>;
  /** Permits a render to store its tiles under a reservation; undefined: the render must not store them. */
  permit(id: number, reservation: Leave | undefined): void;
  /** As `Renderers.renderBatch`. */
  renderBatch(
    orders: readonly RenderOrder[],
    generation: number,
    signal: AbortSignal,
  ): Promise<readonly RendererResult[]>;
  /** As `Renderers.settle`. */
  settle(layer: string, generation: number): Promise<void>;
  ask(layer: string, question: Question, signal: AbortSignal): Promise<InfoResult>;
  sweep(signal: AbortSignal): Promise<void>;
  compose(composition: Composition, signal: AbortSignal): Promise<Composed>;
  configure(layers: readonly Layer[]): void;
  /** Answers at once, unless the process hangs. */
  alive(): void;
  close(): Promise<void>;
}

/** Methods of the server that a renderer calls. */
export interface RendererNotes {
  /** Enlarges a reservation. */
  readonly reserve: Reserve;
  /** Reports that this renderer has found one of several servers of a source to be down, or up again. */
  serverHealth(origin: string, isUp: boolean): void;
  /**
   * Reports tiles of a user's render that have been stored or that cannot be stored. The render continues with the
   * others.
   */
  early(id: number, tiles: EarlyTiles): void;
}

/**
 * Converts a SourceError to a result.
 * @throws any other error
 */
function failedRender(error: unknown, beganMs: number): Extract<RendererResult, { readonly kind: "failed" }> {
  if (!(error instanceof SourceError)) throw error;
  const { failure, message, retryAfterMs } = error;
  return { kind: "failed", failure, message, retryAfterMs, upstreamMs: performance.now() - beganMs };
}

function imageFormatOf(mimeType: string): ImageFormat | undefined {
  const format = formatOf(mimeType);
  return format?.kind === "image" ? format : undefined;
}

/**
 * Returns the key of a source. A layer that is configured again with equal options keeps its source and its
 * connections.
 */
const keyOf = onceEach((options: SourceOptions): string => JSON.stringify(options));

/** A batch in progress. It may have written tiles that it has not reported yet. */
interface Run {
  readonly layer: string | undefined;
  /** Aborts the batch and its current render. */
  readonly cut: AbortController;
  /** Resolves after the batch has been answered. */
  readonly told: Promise<void>;
}

/** Returns the processor time of all threads of this process since its start. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function startRenderer(): void {
  const sources = new Map<string, Promise<Source>>();
  /** The oldest generation whose tiles may be stored, by layer. Absent: 0. */
  const oldest = new Map<string, number>();
  let layers = new Map<string, Layer>();
  let opened: TileStore | undefined;
  let isOrphan = (): boolean => false;
  let storing = 0;
  let settled: (() => void)[] = [];
  const runs = new Set<Run>();
  /** The functions that resolve the permits of renders in progress. */
  const permits = new Map<number, (reservation: Leave | undefined) => void>();
  let toldMs = processorMs();

  const sourceOf = (options: SourceOptions): Promise<Source> => {
    const key = keyOf(options);
    const known = sources.get(key);
    if (known !== undefined) return known;
    const source = createSource(options, (origin, isUp) => channel.note("serverHealth", [origin, isUp]));
    sources.set(key, source);
    return source;
  };

  /** Answers `settle` in a later turn, after the written tiles have been reported: messages keep their order. */
  const tellSettled = (): void => {
    const all = settled;
    settled = [];
    if (all.length === 0) return;
    setImmediate(() => {
      for (const resolve of all) resolve();
    });
  };

  const renderOne = async (
    order: RenderOrder,
    generation: number,
    user: UserRender | undefined,
    mayKeep: RenderParts["mayKeep"],
    signal: AbortSignal,
  ): Promise<RendererResult> => {
    const layer = layers.get(order.tileSet.layer);
    const subset = layer === undefined ? undefined : findSubset(layer, order.tileSet.gridSet);
    const format = formatOf(order.tileSet.format);
    const beganMs = performance.now();
    if (opened === undefined) throw new Error("the renderer has not begun");
    if (layer === undefined || subset === undefined || format === undefined) return { kind: "cancelled" };
    try {
      const renderedMetatile = await renderMetatile(
        order,
        {
          layer,
          subset,
          format,
          beside: (order.beside ?? []).flatMap((mimeType) => imageFormatOf(mimeType) ?? []),
          source: await sourceOf(layer.source),
          store: opened,
          isCurrent: () => generation >= (oldest.get(layer.name) ?? 0) && !isOrphan(),
          storing: (busy) => {
            storing += busy ? 1 : -1;
            if (storing === 0) tellSettled();
          },
          user,
          mayKeep,
        },
        signal,
      );
      return { kind: "rendered", ...renderedMetatile };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      return failedRender(error, beganMs);
    }
  };

  const renderOf = ({ id, missed }: UserOrder): UserRender => ({
    missed,
    report: (early) => channel.note("early", [id, early]),
  });

  const reserve: Reserve = (id, more) => channel.call("reserve", id, more);

  const keepUnder = (leave: Leave | undefined): RenderParts["mayKeep"] => {
    const allowance = new Allowance(leave, reserve);
    return async (most, growth) => ((await allowance.take(most, growth)) ? "keep" : "no room");
  };

  const keepWith = (permit: number): RenderParts["mayKeep"] => {
    const given = new Promise<Leave | undefined>((give) => permits.set(permit, give));
    let under: RenderParts["mayKeep"] | undefined;
    return async (most, growth) => {
      const reservation = await given;
      if (reservation === undefined) return "stale";
      under ??= keepUnder(reservation);
      return await under(most, growth);
    };
  };

  /**
   * Renders a batch. All results but the last are stored metatiles; the last one may be the reason why the batch ended.
   */
  const resultsOf = async (
    orders: readonly RenderOrder[],
    generation: number,
    cut: AbortSignal,
  ): Promise<readonly RendererResult[]> => {
    const untilMs = performance.now() + BATCH_MS;
    const results: RendererResult[] = [];
    const mayKeep = keepUnder(orders[0]?.leave);
    for (const order of orders) {
      const result = await renderOne(order, generation, undefined, mayKeep, cut);
      results.push(result);
      const isStored = result.kind === "rendered" && !result.stale && result.storeFailure === undefined;
      if (!isStored || cut.aborted || performance.now() > untilMs) break;
    }
    return results;
  };

  const methods: RendererMethods = {
    begin(data) {
      isOrphan = () => process.ppid !== data.parentPid;
      opened = createFileTileStore({ root: data.storeRoot, fsync: data.fsync, instance: data.instance });
      layers = new Map(data.layers.map((l) => [l.name, l]));
    },
    async renderMetatile(order, generation, user, signal) {
      const mayKeep = user?.needsPermit === true ? keepWith(user.id) : keepUnder(order.leave);
      const result = await renderOne(order, generation, user && renderOf(user), mayKeep, signal).finally(() => {
        if (user !== undefined) permits.delete(user.id);
      });
      if (result.kind !== "rendered") return result;
      const before = toldMs;
      toldMs = processorMs();
      return { ...result, processorMs: toldMs - before };
    },
    permit(id, reservation) {
      permits.get(id)?.(reservation);
    },
    renderBatch(orders, generation, signal) {
      const cut = new AbortController();
      signal.addEventListener("abort", () => cut.abort(signal.reason), { once: true });
      const results = resultsOf(orders, generation, cut.signal);
      const run: Run = {
        layer: orders[0]?.tileSet.layer,
        cut,
        told: results.then(
          () => nextTurn(),
          () => nextTurn(),
        ),
      };
      runs.add(run);
      return results.finally(() => runs.delete(run));
    },
    async settle(layer, generation) {
      oldest.set(layer, generation);
      const cutOff = [...runs].filter((run) => run.layer === layer);
      for (const { cut } of cutOff) cut.abort(new Error("truncated"));
      await Promise.all(cutOff.map(({ told }) => told));
      if (storing > 0) await new Promise<void>((resolve) => settled.push(resolve));
    },
    async ask(name, question, signal) {
      const layer = layers.get(name);
      if (layer === undefined) return { kind: "cancelled" };
      const beganMs = performance.now();
      const source = await sourceOf(layer.source);
      try {
        const info = await withTrace(question.trace, () => source.ask?.(question, signal));
        if (info === undefined) throw new Error(`the source of ${name} knows pictures only`);
        return { kind: "info", info };
      } catch (error) {
        if (signal.aborted) return { kind: "cancelled" };
        return failedRender(error, beganMs);
      }
    },
    async sweep(signal) {
      await opened?.sweep(signal);
    },
    compose: composePicture,
    alive() {},
    configure(next) {
      layers = new Map(next.map((l) => [l.name, l]));
      // Sources without a layer close when their renders have ended.
      const used = new Set(next.map((l) => keyOf(l.source)));
      for (const [key, source] of sources) {
        if (used.has(key)) continue;
        sources.delete(key);
        void source.then((opened) => opened[Symbol.asyncDispose]());
      }
    },
    async close() {
      await Promise.all([...sources.values()].map(async (source) => (await source)[Symbol.asyncDispose]()));
      await opened?.[Symbol.asyncDispose]();
      setImmediate(() => process.exit(0));
    },
  };
  const channel = new Channel<RendererMethods, RendererNotes>(portOfProcess(process), methods);
}

if (process.send !== undefined) {
  followParent();
  startRenderer();
}
