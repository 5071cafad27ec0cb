import type { TileIndex, TileRect } from "../grid/grid-set.ts";
import { changedLayers } from "../layer/catalogue.ts";
import type { Layer } from "../layer/layer.ts";
import { type TileSet, tileSetKey } from "../layer/tile-set.ts";
import { SharedTurn } from "../lib/fair-line.ts";
import { waitSeconds } from "../lib/wait-seconds.ts";
import type { FailureClass, Question } from "../source/source.ts";
import type { Leave } from "./admission.ts";
import { BlockedLayers } from "./blocked-layers.ts";
import { EarlyAnswers } from "./early-answers.ts";
import { FailureMemory, type RememberedFailure } from "./failure-memory.ts";
import { LayerEpochs } from "./layer-epochs.ts";
import type { MemoryTiles } from "./memory-tiles.ts";
import type { EarlyTiles } from "./missed-tile-first.ts";
import {
  BATCH_MS,
  type FilledMetatile,
  isWanted,
  type RenderFailure,
  type RenderGate,
  type RenderOrder,
  type RenderOutcome,
  tileSetsOf,
  type WrittenTile,
} from "./render-order.ts";
import type { RenderThrottle } from "./render-throttle.ts";
import type { InfoResult, RendererResult, Renderers } from "./renderers.ts";
import type { KeptTiles, StoreFailure } from "./store-tiles.ts";
import { DOWN_AFTER_FAILURES, type Refused, type UpstreamLimit } from "./upstream-limit.ts";
import { type UpstreamLimits, upstreamOf } from "./upstream-limits.ts";
import type { UpstreamMeter } from "./upstream-meter.ts";
import type { Metatile, RenderStatus, UserAnswer, UserRender, UserRenders } from "./user-renders.ts";

/** Methods of the coordinator that the server calls for renders. */
export interface LedgerAccess {
  /**
   * Opens the cells of a metatile of which a user missed a tile. Returns the reservation under which the tiles are
   * stored, or undefined when the store has no room and the tiles must not be stored.
   * @throws Error when the coordinator has ended
   */
  open(order: FilledMetatile, missed: TileIndex): Promise<Leave | undefined>;
  closeCells(id: number): void;
  /** Reports written tiles. `reservation` is the reservation under which the renderer stored the tiles. */
  wrote(tileSet: TileSet, tiles: readonly WrittenTile[], reservation: number | undefined): void;
  lost(tileSet: TileSet, rect: TileRect): void;
  /** Reports that the store could not keep a rendered metatile of a layer, and why. */
  notStored(layer: string, reason: string, who: "user" | "job"): void;
}

/** Time-out of an upstream's answer for a source that configures none. */
const USUAL_TIMEOUT_MS = 30_000;
/**
 * A user waits for a connection for at most this many time-outs. By then an upstream that hangs is known to be down.
 */
const WAIT_LIMIT_TIMEOUTS = DOWN_AFTER_FAILURES + 1;
const RENDERER_ENDED: RenderFailure = {
  kind: "failed",
  failure: "store",
  message: "the renderer died",
  retryAfterMs: undefined,
};

const LAYER_REMOVED = { kind: "layer_removed" } as const;

const CANCELLED = { kind: "cancelled" } as const;

const isPicture = ({ kind }: UserRender): boolean => kind === "rendered" || kind === "stored";

/** The result of a render. Only a render for a user can be refused. */
type RenderResult = RendererResult | ({ readonly kind: "refused" } & Refused);

interface InFlightRender {
  readonly order: RenderOrder;
  readonly beganMs: number;
  readonly done: Promise<RenderResult>;
  readonly abort: AbortController;
  /** The wait of a job's render for a connection; undefined for a user's render. */
  readonly place: Place | undefined;
  /** The render is one of a batch. */
  readonly isOfRun: boolean;
  readonly stage: Stage;
  /** The turn, in the fair queue for a connection, of the users who wait for this render. */
  readonly turn: SharedTurn;
  waiters: number;
}

/** The progress of a render. All renders of a batch share one stage. */
interface Stage {
  /** The order has been sent to a renderer, with the layer's generation at that moment. */
  isSent: boolean;
  /** The tile missed by the first user who waits for the render. */
  missed: TileIndex | undefined;
  readonly early: EarlyAnswers;
  /** The reservation under which the renderer stores the tiles, once the number is known. */
  reservation?: number;
}

/** The state of a job's render until the render has a connection. */
interface Place {
  /** Aborts the wait of the job's render for the throttle and for a connection. */
  readonly wait: AbortController;
  /** The render has a connection. */
  begun: boolean;
}

/**
 * Renders metatiles for users and jobs, users first. A request for a metatile that is being rendered joins that render.
 * A render holds one connection of its upstream, and stores its tiles only if the layer's generation is still that of
 * its start.
 */
export class Renders implements RenderGate, UserRenders {
  readonly #renderers: Renderers;
  readonly #ledger: LedgerAccess;
  readonly #memory: MemoryTiles;
  /** Raised by every truncation of the layer. Tiles of a render that began under an older generation are not stored. */
  readonly #generations = new LayerEpochs();
  /** ms since 1970. */
  readonly #now: () => number;
  #configured: readonly Layer[] = [];
  /** The configured layers by name. */
  #layers: ReadonlyMap<string, Layer> = new Map();
  /** Aborts the questions to upstreams that wait for a connection. */
  readonly #waitingQuestions = new Set<{ readonly layer: string; readonly abort: AbortController }>();
  readonly #upstreamLimits: UpstreamLimits;
  readonly #meter: UpstreamMeter;
  readonly #pace: RenderThrottle;
  readonly #failures: FailureMemory;
  /** Renders that a request may join, by `#keyOf`. */
  readonly #inFlightRenders = new Map<string, InFlightRender>();
  /** All renders that have not ended, including those that a truncation has overtaken. */
  readonly #unfinished = new Set<InFlightRender>();
  /** When a layer or a part of it was truncated last, ms since 1970. */
  readonly #truncatedMs = new Map<string, number>();
  /** The `expiredBeforeMs` of orders, by layer. */
  readonly #expiredBeforeMs = new Map<string, number>();
  readonly #blocked = new BlockedLayers();

  constructor(parts: {
    readonly renderers: Renderers;
    readonly ledger: LedgerAccess;
    readonly memory: MemoryTiles;
    readonly upstreamLimits: UpstreamLimits;
    readonly meter: UpstreamMeter;
    readonly pace: RenderThrottle;
    readonly now: () => number;
  }) {
    this.#renderers = parts.renderers;
    this.#ledger = parts.ledger;
    this.#memory = parts.memory;
    this.#upstreamLimits = parts.upstreamLimits;
    this.#meter = parts.meter;
    this.#pace = parts.pace;
    this.#now = parts.now;
    this.#failures = new FailureMemory();
  }

  #layer(name: string): Layer | undefined {
    return this.#layers.get(name);
  }

  configure(layers: readonly Layer[]): void {
    // The operator may have just corrected the cause of a failure.
    this.#failures.clearAll();
    this.#upstreamLimits.configure(layers);
    this.#meter.configure(layers.map(({ source }) => upstreamOf(source)));
    const before = this.#configured;
    this.#configured = layers;
    this.#layers = new Map(layers.map((layer) => [layer.name, layer]));
    const names = new Set(layers.map(({ name }) => name));
    for (const name of this.#truncatedMs.keys()) if (!names.has(name)) this.#truncatedMs.delete(name);
    for (const name of changedLayers(before, layers)) {
      // In-flight renders use the old definition of the layer, so no new request may join them.
      for (const [key, { order }] of this.#inFlightRenders)
        if (order.tileSet.layer === name) this.#inFlightRenders.delete(key);
      this.#memory.clear(name);
      void this.overtake(name);
    }
    this.#generations.keep(names);
    this.#endWaitsOfRemovedLayers();
  }

  /** Ends the waits for a connection, or for a blocked layer, of layers that are no longer configured. */
  #endWaitsOfRemovedLayers(): void {
    const removed = new Error("the layer has been removed");
    for (const { order, stage, abort } of this.#unfinished)
      if (!stage.isSent && !this.#layers.has(order.tileSet.layer)) abort.abort(removed);
    for (const { layer, abort } of this.#waitingQuestions) if (!this.#layers.has(layer)) abort.abort(removed);
  }

  /**
   * Returns the key of a metatile. Renders with the same key write the same tiles, so they must not run at the same
   * time.
   */
  #keyOf({ tileSet, rect }: Metatile): string {
    const together = this.#layer(tileSet.layer)?.formatsTogether === true;
    return `${tileSetKey(together ? { ...tileSet, format: "" } : tileSet)}\n${rect.z}/${rect.minX}/${rect.minY}`;
  }

  #upstreamLimit(order: RenderOrder): UpstreamLimit {
    const layer = this.#layer(order.tileSet.layer);
    if (layer === undefined) throw new Error(`no layer ${order.tileSet.layer}`);
    return this.#upstreamLimits.of(layer);
  }

  async renderForUser(order: RenderOrder, missed: TileIndex, client: string, gone: AbortSignal): Promise<UserRender> {
    const rendered = await this.#renderForUser(order, missed, client, gone);
    return isPicture(rendered) ? rendered : this.#unlessRemoved(order.tileSet.layer, rendered, gone);
  }

  /** Returns the answer for a user, who is told if the layer has been removed while they waited. */
  #unlessRemoved<T>(layer: string, answer: T, gone: AbortSignal): T | typeof LAYER_REMOVED {
    return gone.aborted || this.#layers.has(layer) ? answer : LAYER_REMOVED;
  }

  async #renderForUser(order: RenderOrder, missed: TileIndex, client: string, gone: AbortSignal): Promise<UserRender> {
    if (gone.aborted) return CANCELLED;
    if (this.#layer(order.tileSet.layer) === undefined) return LAYER_REMOVED;
    const key = this.#keyOf(order);
    const joined = this.#inFlightRenders.get(key);
    if (joined !== undefined) {
      const { place, turn } = joined;
      turn.join(client);
      if (place !== undefined && !place.begun && !place.wait.signal.aborted) {
        const refused = this.#upstreamLimit(order).refuseUser(client);
        if (refused !== undefined) return { kind: "refused", ...refused };
        // A job's render that still waits for a connection continues as a render for a user.
        place.wait.abort();
      }
      attend(joined, gone);
      joined.stage.missed ??= missed;
      const { format } = order.tileSet;
      const ended = joined.isOfRun ? this.#ofRun(joined) : joined.done;
      const early = joined.order.tileSet.format === format ? await joined.stage.early.of(missed, ended) : undefined;
      if (early !== undefined) return early;
      const result = await ended;
      const { wanted, rect } = joined.order;
      if (result.kind === "rendered" && fills(joined.order, format) && isWanted(wanted, rect, missed.x, missed.y))
        return result.stale ? this.#renderForUser(order, missed, client, gone) : { kind: "stored" };
      if (result.kind === "failed") return this.#failedForUser(order, result);
      if (result.kind === "refused") return result;
      // The joined render was cancelled or lost, or did not keep this tile: render again.
      return this.#renderForUser(order, missed, client, gone);
    }
    const remembered = this.#failures.find(order.tileSet.layer, key);
    if (remembered !== undefined) return this.#rememberedOf(remembered, "before");
    const refused = this.#upstreamLimit(order).refuseUser(client);
    if (refused !== undefined) return { kind: "refused", ...refused };
    const inFlightRender = this.#fly(order, missed, client);
    attend(inFlightRender, gone);
    const early = await inFlightRender.stage.early.of(missed, inFlightRender.done);
    if (early !== undefined) return early;
    const result = await inFlightRender.done;
    switch (result.kind) {
      case "rendered":
        return { kind: "stored" };
      case "refused":
      case "cancelled":
        return result;
      case "failed":
        return this.#failedForUser(order, result);
      case "lost":
        return RENDERER_ENDED;
    }
  }

  /**
   * Waits for the result of a render in a batch, and aborts the batch after `BATCH_MS`. With a slow upstream the user's
   * metatile may be the last of the batch.
   */
  async #ofRun({ done, abort }: InFlightRender): Promise<RenderResult> {
    const timer = setTimeout(() => abort.abort(new Error("a user waits")), BATCH_MS);
    try {
      return await done;
    } finally {
      clearTimeout(timer);
    }
  }

  #failedForUser(order: RenderOrder, result: Extract<RendererResult, { readonly kind: "failed" }>): UserRender {
    const remembered = this.#failures.find(order.tileSet.layer, this.#keyOf(order));
    return remembered === undefined ? failed(result) : this.#rememberedOf(remembered, "just now");
  }

  #rememberedOf({ failure, leftMs }: RememberedFailure, asked: "just now" | "before"): UserRender {
    return { kind: "remembered", failure, retryAfterSeconds: waitSeconds(leftMs), asked };
  }

  async renderStatus(layer: string, metatile: Metatile | undefined): Promise<RenderStatus> {
    const key = metatile === undefined ? undefined : this.#keyOf(metatile);
    const failing = key === undefined ? undefined : this.#failures.find(layer, key);
    return {
      drawing: key !== undefined && this.#inFlightRenders.has(key),
      failing:
        failing === undefined ? undefined : { message: failing.failure.message, untilMs: this.#now() + failing.leftMs },
      truncatedMs: this.#truncatedMs.get(layer),
    };
  }

  async ask(layer: Layer, question: Question, client: string, gone: AbortSignal): Promise<UserAnswer> {
    const answer = await this.#ask(layer, question, client, gone);
    return answer.kind === "info" ? answer : this.#unlessRemoved(layer.name, answer, gone);
  }

  async #ask(layer: Layer, question: Question, client: string, gone: AbortSignal): Promise<UserAnswer> {
    if (gone.aborted) return CANCELLED;
    // The HTTP worker that sent the question may not have applied the reload yet.
    const configured = this.#layer(layer.name);
    if (configured === undefined) return LAYER_REMOVED;
    const upstreamLimit = this.#upstreamLimits.of(configured);
    const refused = upstreamLimit.refuseUser(client);
    if (refused !== undefined) return { kind: "refused", ...refused };
    const abort = new AbortController();
    const leave = (): void => abort.abort(gone.reason);
    gone.addEventListener("abort", leave, { once: true });
    const waiting = { layer: layer.name, abort };
    this.#waitingQuestions.add(waiting);
    try {
      const late = await upstreamLimit.acquireForUser(new SharedTurn(client), waitLimitMsOf(layer), abort.signal);
      if (late !== undefined) return { kind: "refused", ...late };
    } catch (error) {
      if (abort.signal.aborted) return CANCELLED;
      throw error;
    } finally {
      gone.removeEventListener("abort", leave);
      this.#waitingQuestions.delete(waiting);
    }
    try {
      const result = await this.#renderers.ask(layer.name, question, gone);
      learn(upstreamLimit, result);
      if (result.kind === "failed") return failed(result);
      return result.kind === "lost" ? RENDERER_ENDED : result;
    } finally {
      upstreamLimit.release("user");
    }
  }

  async render(order: RenderOrder, signal: AbortSignal): Promise<RenderOutcome> {
    if (this.#layer(order.tileSet.layer) === undefined) return { kind: "cancelled" };
    const key = this.#keyOf(order);
    let inFlightRender = this.#inFlightRenders.get(key);
    if (inFlightRender !== undefined && !willDo(inFlightRender, order)) {
      // A job that is aborted meanwhile must not wait for the other render.
      await Promise.race([inFlightRender.done, aborted(signal)]);
      return signal.aborted ? { kind: "cancelled" } : this.render(order, signal);
    }
    // A render uses the cells and the reservation of the job that began it. Both end with that job, so the render has
    // to end with the job too.
    const isOwn = inFlightRender === undefined;
    inFlightRender ??= this.#fly(order);
    inFlightRender.waiters++;
    const mine = inFlightRender;
    const leave = () => {
      if (--mine.waiters === 0 || isOwn) mine.abort.abort(new Error("cancelled"));
    };
    // A job that leaves a render for which others wait does not wait for the end of that render.
    const left = new Promise<RenderResult>((resolve) => {
      signal.addEventListener("abort", () => {
        leave();
        if (mine.waiters > 0 && !isOwn) resolve({ kind: "cancelled" });
      });
    });
    if (signal.aborted) {
      leave();
      return { kind: "cancelled" };
    }
    const result = await Promise.race([inFlightRender.done, left]);
    // The joined render was cancelled by its own job, or refused to its user. A job waits instead of being refused, so
    // render again.
    const again = result.kind === "cancelled" || result.kind === "refused";
    if (again && !signal.aborted) return this.render(order, signal);
    const outcome = outcomeOf(order, mine.order, result);
    if (outcome.kind !== "failed" || this.#layer(order.tileSet.layer) === undefined) return outcome;
    const { answeredMsAgo } = this.#upstreamLimit(order);
    return answeredMsAgo === undefined ? outcome : { ...outcome, answeredMsAgo };
  }

  async renderBatch(orders: readonly RenderOrder[], signal: AbortSignal): Promise<readonly RenderOutcome[]> {
    const [first] = orders;
    if (first === undefined || this.#layer(first.tileSet.layer) === undefined || signal.aborted) return [];
    const taken = orders.findIndex((order) => this.#inFlightRenders.has(this.#keyOf(order)));
    const run = taken < 0 ? orders : orders.slice(0, taken);
    // While users read tiles, the throttle spaces the renders of jobs one by one.
    if (run.length < 2 || this.#pace.isThrottling) return [await this.render(first, signal)];
    const abort = new AbortController();
    const end = (): void => abort.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    const place = newPlace();
    const stage = newStage(undefined);
    const ended = this.#leaseRun(run, place, stage, abort.signal);
    for (const [i, order] of run.entries()) {
      const rendered = ended.then((results) => results[i] ?? CANCELLED);
      // `waiters: 1` stands for the batch itself, so that a job that joins and leaves does not abort the batch.
      const { done } = this.#follow(rendered, {
        order,
        abort,
        place,
        stage,
        turn: new SharedTurn(),
        isOfRun: true,
        waiters: 1,
      });
      // A fault reaches the job by `await ended` below, and each joined request by its own `await`.
      done.catch(() => undefined);
    }
    try {
      // A cancelled result means that the batch did not reach the metatile.
      const results = (await ended).filter(({ kind }) => kind !== "cancelled");
      // A renderer that died was working on one metatile of the batch, so report only the first one as lost.
      const told = results[0]?.kind === "lost" ? results.slice(0, 1) : results;
      return told.map((result, i) => {
        const order = orders[i] ?? first;
        return outcomeOf(order, order, result);
      });
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  /** Starts a render. `missed` is the tile that a user missed; undefined for a job's render. */
  #fly(order: RenderOrder, missed?: TileIndex, ...clients: readonly string[]): InFlightRender {
    const abort = new AbortController();
    const place = missed === undefined ? newPlace() : undefined;
    const stage = newStage(missed);
    const turn = new SharedTurn(...clients);
    const rendered = this.#lease(order, place, stage, turn, missed, abort.signal);
    return this.#follow(rendered, { order, abort, place, stage, turn, isOfRun: false, waiters: 0 });
  }

  /** Registers a render, so that requests can join the render until it ends. */
  #follow(rendered: Promise<RenderResult>, about: Omit<InFlightRender, "done" | "beganMs">): InFlightRender {
    const key = this.#keyOf(about.order);
    const done = rendered.finally(() => {
      this.#unfinished.delete(inFlightRender);
      if (this.#inFlightRenders.get(key) === inFlightRender) this.#inFlightRenders.delete(key);
    });
    const inFlightRender: InFlightRender = { ...about, beganMs: this.#now(), done };
    this.#inFlightRenders.set(key, inFlightRender);
    this.#unfinished.add(inFlightRender);
    return inFlightRender;
  }

  async #lease(
    order: RenderOrder,
    place: Place | undefined,
    stage: Stage,
    turn: SharedTurn,
    missed: TileIndex | undefined,
    signal: AbortSignal,
  ): Promise<RenderResult> {
    const { layer } = order.tileSet;
    const upstreamLimit = this.#upstreamLimit(order);
    const epoch = this.#failures.epoch(layer);
    const acquire = async () => {
      if (place !== undefined && (await this.#jobsTurn(upstreamLimit, place, signal))) return "job";
      const refused = await upstreamLimit.acquireForUser(turn, waitLimitMsOf(this.#layer(layer)), signal);
      return refused === undefined ? "user" : ({ kind: "refused", ...refused } as const);
    };
    const who = await this.#whileUnblocked(layer, upstreamLimit, acquire, signal);
    if (typeof who !== "string") return who;
    if (place !== undefined) place.begun = true;
    let opened: Promise<Leave | undefined> | undefined;
    try {
      // Read the generation and send the order in one turn of the event loop. A truncation between the two would not
      // reach a renderer that has no work yet.
      const generation = this.#generations.of(layer);
      stage.isSent = true;
      if (order.leave !== undefined) stage.reservation = order.leave.id;
      // The coordinator opens the cells while the upstream renders, so that a user waits for the slower of the two only.
      // A job opens the cells of its renders itself.
      const openCells =
        missed === undefined
          ? undefined
          : (): Promise<Leave | undefined> => {
              opened = this.#ledger.open(filledBy(order), missed);
              return this.#mayKeep(opened, layer, generation, stage);
            };
      const { early } = stage;
      const reported: WrittenTile[] = [];
      const report = (tiles: EarlyTiles): void => {
        this.#written(order.tileSet, tiles.written, stage.reservation);
        reported.push(...tiles.written);
        early.add(tiles);
      };
      const user =
        who === "user" && stage.missed !== undefined ? { missed: stage.missed, openCells, report } : undefined;
      const rest = await this.#renderers.renderMetatile(this.#dated(order), generation, user, signal);
      for (const [tileSet, tiles] of writtenBy([order], [rest])) this.#written(tileSet, tiles, stage.reservation);
      const rendered = rest.kind === "rendered" ? { ...rest, written: [...reported, ...rest.written] } : rest;
      this.#learn(upstreamLimit, order, rendered, who, epoch);
      await opened;
      return rendered;
    } finally {
      upstreamLimit.release(who);
      // The written tiles have been reported to the ledger before.
      void opened?.then(
        (reservation) => reservation !== undefined && this.#ledger.closeCells(reservation.id),
        () => undefined,
      );
    }
  }

  /**
   * Resolves with the reservation, or with undefined when the tiles must not be stored. A truncation that began before
   * the cells were open has not waited for this render; the changed generation shows that.
   */
  #mayKeep(
    opened: Promise<Leave | undefined>,
    layer: string,
    generation: number,
    stage: Stage,
  ): Promise<Leave | undefined> {
    return opened.then(
      (reservation) => {
        if (reservation !== undefined) stage.reservation = reservation.id;
        return generation === this.#generations.of(layer) ? reservation : undefined;
      },
      () => undefined,
    );
  }

  /**
   * Renders a batch once a connection is free. Returns no results when a user has joined a metatile of the batch
   * meanwhile; the user then renders that metatile alone.
   */
  async #leaseRun(
    orders: readonly RenderOrder[],
    place: Place,
    stage: Stage,
    signal: AbortSignal,
  ): Promise<readonly RendererResult[]> {
    const [first] = orders;
    if (first === undefined) return [];
    const { layer } = first.tileSet;
    const upstreamLimit = this.#upstreamLimit(first);
    const epoch = this.#failures.epoch(layer);
    const turn = async () => ((await this.#jobsTurn(upstreamLimit, place, signal)) ? ("job" as const) : CANCELLED);
    const who = await this.#whileUnblocked(layer, upstreamLimit, turn, signal);
    if (typeof who !== "string") return [];
    place.begun = true;
    try {
      // Read the generation and send the orders in one turn, as for a single render.
      const generation = this.#generations.of(layer);
      stage.isSent = true;
      const sent = orders.map((order) => this.#dated(order));
      const results = await this.#renderers.renderBatch(sent, generation, signal);
      for (const [tileSet, tiles] of writtenBy(orders, results)) this.#written(tileSet, tiles, first.leave?.id);
      for (const [i, order] of orders.entries())
        this.#learn(upstreamLimit, order, results[i] ?? CANCELLED, "job", epoch);
      return results;
    } finally {
      upstreamLimit.release(who);
    }
  }

  /** Adds the `expiredBeforeMs` of the layer's soft truncations to an order. */
  #dated(order: RenderOrder): RenderOrder {
    const expiredBeforeMs = this.#expiredBeforeMs.get(order.tileSet.layer);
    return expiredBeforeMs === undefined ? order : { ...order, expiredBeforeMs };
  }

  /** Updates the throttle, the meter, the upstream limit and the remembered failures with the result of a render. */
  #learn(
    upstreamLimit: UpstreamLimit,
    order: RenderOrder,
    result: RendererResult,
    who: "user" | "job",
    epoch: number,
  ): void {
    const { layer } = order.tileSet;
    if (who === "job" && result.kind === "rendered" && result.processorMs !== undefined)
      this.#pace.took(result.processorMs);
    this.#measure(order, result);
    learn(upstreamLimit, result);
    if (result.kind === "rendered") {
      this.#failures.forget(this.#keyOf(order));
      if (result.storeFailure !== undefined) this.#ledger.notStored(layer, result.storeFailure.message, who);
    } else if (result.kind === "failed") {
      const seconds = this.#layer(layer)?.negativeCacheSeconds ?? 0;
      this.#failures.remember(layer, this.#keyOf(order), failed(result), seconds, epoch);
    } else if (result.kind === "lost") {
      for (const tileSet of tileSetsOf(order)) this.#ledger.lost(tileSet, order.rect);
    }
  }

  /**
   * Waits until the layer is not blocked, then acquires a connection. A render holds no connection while its layer is
   * blocked, as other layers share the upstream. The layer is not blocked in the turn in which this returns a
   * connection.
   * @param acquire resolves with the kind of connection, or with the reason why there is none
   */
  async #whileUnblocked<T extends object>(
    layer: string,
    upstreamLimit: UpstreamLimit,
    acquire: () => Promise<"user" | "job" | T>,
    signal: AbortSignal,
  ): Promise<"user" | "job" | T | typeof CANCELLED> {
    try {
      for (;;) {
        await this.#blocked.unblocked(layer, signal);
        const who = await acquire();
        if (typeof who !== "string") return who;
        if (!this.#blocked.has(layer) && this.#layers.has(layer)) return who;
        upstreamLimit.release(who);
        if (!this.#layers.has(layer)) return CANCELLED;
      }
    } catch (error) {
      if (signal.aborted) return CANCELLED;
      throw error;
    }
  }

  /**
   * Waits for the throttle and for a connection for a job. Returns false when a user has joined the render meanwhile;
   * the job then holds no connection.
   * @throws the signal's reason
   */
  async #jobsTurn(upstreamLimit: UpstreamLimit, place: Place, signal: AbortSignal): Promise<boolean> {
    const { wait } = place;
    const end = () => wait.abort();
    signal.addEventListener("abort", end);
    try {
      await this.#pace.turn(wait.signal);
      await upstreamLimit.acquireForJob(wait.signal);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!wait.signal.aborted) throw error;
      return false;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  #measure({ tileSet }: RenderOrder, result: RendererResult): void {
    const layer = this.#layer(tileSet.layer);
    if (layer === undefined || (result.kind !== "rendered" && result.kind !== "failed")) return;
    const failure = result.kind === "failed" ? result.failure : undefined;
    this.#meter.observe(upstreamOf(layer.source), result.upstreamMs, failure);
  }

  #written(tileSet: TileSet, tiles: readonly WrittenTile[], reservation: number | undefined): void {
    if (tiles.length === 0) return;
    const renewed = tiles.filter(({ unchanged }) => unchanged !== "left");
    if (renewed.length > 0) this.#memory.forget(renewed.map(({ x, y, z }) => tileKey(tileSet, x, y, z)));
    this.#ledger.wrote(tileSet, tiles, reservation);
  }

  async pause(layer: string): Promise<void> {
    this.#blocked.block(layer);
    await this.#renderers.settle(layer, this.#begin(layer));
  }

  /** @returns the new generation */
  #begin(layer: string): number {
    this.#failures.clear(layer);
    this.#memory.clear(layer);
    return this.#nextGeneration(layer);
  }

  #nextGeneration(layer: string): number {
    const generation = this.#generations.raise(layer);
    // Renders that were sent belong to the old generation, so new requests must not join them.
    for (const [key, { order, stage }] of this.#inFlightRenders)
      if (stage.isSent && order.tileSet.layer === layer) this.#inFlightRenders.delete(key);
    return generation;
  }

  async overtake(layer: string): Promise<void> {
    await this.#renderers.settle(layer, this.#nextGeneration(layer));
  }

  async endRuns(): Promise<void> {
    const runs = [...this.#unfinished].filter(({ isOfRun }) => isOfRun);
    for (const { abort } of runs) abort.abort(new Error("the quota has changed"));
    // Wait only for batches that were sent to a renderer: the abort keeps the others from being sent.
    await Promise.allSettled(runs.filter(({ stage }) => stage.isSent).map(({ done }) => done));
  }

  truncated(layer: string): void {
    this.#truncatedMs.set(layer, this.#now());
  }

  renew(layer: string): void {
    this.#begin(layer);
  }

  resume(layer: string): void {
    // The memory tiers may hold tiles that were read while the truncation moved them.
    this.#memory.clear(layer);
    this.#blocked.unblock(layer);
  }

  async forget(layer: string): Promise<void> {
    this.#memory.clear(layer);
    this.#failures.clear(layer);
    this.#truncatedMs.set(layer, this.#now());
  }

  expireBefore(layer: string, beforeMs: number): void {
    if (beforeMs > 0) this.#expiredBeforeMs.set(layer, beforeMs);
    else this.#expiredBeforeMs.delete(layer);
    this.#memory.expireBefore(layer, beforeMs);
  }

  sweep(signal: AbortSignal): Promise<void> {
    return this.#renderers.sweep(signal);
  }

  /** Removes the evicted tiles of a rectangle from the memory tiers. */
  evicted(tileSet: TileSet, rect: TileRect): void {
    const keys: string[] = [];
    for (let y = rect.minY; y <= rect.maxY; y++)
      for (let x = rect.minX; x <= rect.maxX; x++) keys.push(tileKey(tileSet, x, y, rect.z));
    this.#memory.forget(keys);
  }

  /** Waits until all renders have ended. */
  async idle(): Promise<void> {
    while (this.#unfinished.size > 0) await Promise.allSettled([...this.#unfinished].map((f) => f.done));
  }

  /** Aborts the renders that have not reported a tile yet. */
  cancelUnanswered(): void {
    for (const { stage, abort } of this.#unfinished) if (!stage.early.hasBegun) abort.abort(new Error("shutting down"));
  }

  cancelAll(): void {
    for (const inFlightRender of this.#unfinished) inFlightRender.abort.abort(new Error("shutting down"));
  }
}

/**
 * Counts a user as a waiter of a render. When the last waiter leaves before a renderer has the order, the render is
 * aborted: a user who pans quickly does not wait for tiles that are no longer visible. Later the render continues, as
 * its tiles serve the next request. A job's render does not depend on users.
 */
function attend(inFlightRender: InFlightRender, gone: AbortSignal): void {
  if (inFlightRender.place !== undefined) return;
  inFlightRender.waiters++;
  gone.addEventListener(
    "abort",
    () => {
      if (!inFlightRender.stage.isSent && --inFlightRender.waiters === 0)
        inFlightRender.abort.abort(new Error("nobody waits for it any more"));
    },
    { once: true },
  );
}

/** Reports a result to the upstream limit. A cancelled or lost render says nothing about the upstream. */
function learn(upstreamLimit: UpstreamLimit, result: RendererResult | InfoResult): void {
  if (result.kind === "rendered") upstreamLimit.succeeded(result.upstreamMs);
  else if (result.kind === "info") upstreamLimit.succeeded(undefined);
  else if (result.kind === "failed" && result.failure === "no_tile") upstreamLimit.succeeded(undefined);
  else if (result.kind === "failed") upstreamLimit.failed(result.failure, result.retryAfterMs);
  else upstreamLimit.unheard();
}

/** Converts the result of a job's own or joined render to the job's outcome. */
function outcomeOf({ watched, tileSet }: RenderOrder, rendered: RenderOrder, result: RenderResult): RenderOutcome {
  switch (result.kind) {
    case "rendered": {
      const written = writtenIn(tileSet.format, rendered, result);
      if (result.refused === true) return { kind: "full", reason: "there is no room for it in the store" };
      if (result.stale) return { kind: "stale" };
      if (result.storeFailure !== undefined) return notStored(result.storeFailure);
      return {
        kind: "stored",
        bytes: written.reduce((sum, tile) => sum + (tile.unchanged === undefined ? tile.bytes : 0), 0),
        upstreamMs: result.upstreamMs,
        unchanged: written.flatMap(({ unchanged, x, y }) => (unchanged === undefined ? [] : [{ x, y }])),
        ...(watched === true ? { written } : {}),
      };
    }
    case "failed":
      return failed(result);
    case "cancelled":
    case "refused":
      return CANCELLED;
    case "lost":
      return RENDERER_ENDED;
  }
}

/** Returns the outcome of a render whose tiles the store did not keep. */
function notStored({ code, message }: StoreFailure): RenderOutcome {
  switch (code) {
    case "full":
      return { kind: "full", reason: message };
    case "read_only":
    case "unavailable":
      return { kind: "store_away", reason: message };
    case "corrupt":
      return failed({ failure: "store", message, retryAfterMs: undefined });
  }
}

/** Returns the tiles that a render wrote in one of its formats. */
function writtenIn(
  format: string,
  { tileSet, beside = [] }: RenderOrder,
  { written, writtenBeside = [] }: KeptTiles,
): readonly WrittenTile[] {
  return tileSet.format === format ? written : (writtenBeside[beside.indexOf(format)] ?? []);
}

/** Groups the written tiles by tile set. Most orders of a batch share one tile set. */
function writtenBy(orders: readonly RenderOrder[], results: readonly RendererResult[]): Map<TileSet, WrittenTile[]> {
  const byTileSet = new Map<TileSet, WrittenTile[]>();
  for (const [i, result] of results.entries()) {
    const order = orders[i];
    if (order === undefined || result.kind !== "rendered") continue;
    for (const tileSet of tileSetsOf(order)) {
      const written = writtenIn(tileSet.format, order, result);
      const known = byTileSet.get(tileSet);
      if (known === undefined) byTileSet.set(tileSet, [...written]);
      else known.push(...written);
    }
  }
  return byTileSet;
}

const failed = (failure: {
  failure: FailureClass;
  message: string;
  retryAfterMs: number | undefined;
}): RenderFailure => ({
  kind: "failed",
  failure: failure.failure,
  message: failure.message,
  retryAfterMs: failure.retryAfterMs,
});

export const tileKey = (tileSet: TileSet, x: number, y: number, z: number): string =>
  `${tileSetKey(tileSet)}\n${z}/${x}/${y}`;

function waitLimitMsOf(layer: Layer | undefined): number {
  const timeoutMs = layer !== undefined && "timeoutMs" in layer.source ? layer.source.timeoutMs : USUAL_TIMEOUT_MS;
  return WAIT_LIMIT_TIMEOUTS * timeoutMs;
}

const newStage = (missed: TileIndex | undefined): Stage => ({ isSent: false, missed, early: new EarlyAnswers() });

const newPlace = (): Place => ({ wait: new AbortController(), begun: false });

/** Returns whether an in-flight render keeps the tiles that an order wants, from a picture that is new enough. */
const willDo = (inFlightRender: InFlightRender, { tileSet, wanted, sinceMs = 0 }: RenderOrder): boolean =>
  fills(inFlightRender.order, tileSet.format) &&
  (inFlightRender.order.wanted === null || sameMask(inFlightRender.order.wanted, wanted)) &&
  inFlightRender.beganMs > sinceMs;

const fills = ({ tileSet, beside = [] }: RenderOrder, format: string): boolean =>
  tileSet.format === format || beside.includes(format);

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const filledBy = ({ tileSet, beside, rect }: RenderOrder): FilledMetatile =>
  beside === undefined ? { tileSet, rect } : { tileSet, beside, rect };

function sameMask(a: Uint8Array, b: Uint8Array | null): boolean {
  return b !== null && a.byteLength === b.byteLength && a.every((bit, i) => bit === b[i]);
}
