import type { TileIndex, TileRect } from "../grid/grid-set.ts";
import { changedLayers } from "../layer/catalogue.ts";
import type { Layer } from "../layer/layer.ts";
import { SharedTurn } from "../lib/fair-line.ts";
import { waitSeconds } from "../lib/wait-seconds.ts";
import type { FailureClass, Question } from "../source/source.ts";
import { type TileSet, tileSetKey } from "../tile/tile-set.ts";
import { BlockedLayers } from "./blocked-layers.ts";
import {
  type DrawFailure,
  type DrawGate,
  type DrawOrder,
  type DrawOutcome,
  type FilledMetatile,
  isWanted,
  RUN_MS,
  tileSetsOf,
  type WrittenTile,
} from "./draw.ts";
import type { DrawPace } from "./draw-pace.ts";
import { EarlyAnswers } from "./early-answers.ts";
import { FailureMemory, type RememberedFailure } from "./failure-memory.ts";
import { DOWN_AFTER_FAILURES, type Governor, type Refused } from "./governor.ts";
import { type Governors, upstreamOf } from "./governors.ts";
import type { KeptTiles, StoreFailure } from "./keep-tiles.ts";
import { LayerEpochs } from "./layer-epochs.ts";
import type { HotTiles } from "./memory-tier.ts";
import type { EarlyTiles } from "./missed-tile-first.ts";
import type { InfoResult, Painters, PaintResult } from "./painters.ts";
import type { UpstreamMeter } from "./upstream-meter.ts";
import type { DrawStanding, Metatile, UserAnswer, UserDraw, UserDraws } from "./user-draws.ts";

/** What the front asks of the keeper for a draw. */
export interface LedgerGate {
  /**
   * Opens the cells of a metatile that a user missed a tile of. Undefined: there is no room, it must not be stored.
   * @throws Error when the keeper has ended
   */
  open(order: FilledMetatile, missed: TileIndex): Promise<number | undefined>;
  closeCells(id: number): void;
  /** `reservation`: the one under which they were written. */
  wrote(tileSet: TileSet, tiles: readonly WrittenTile[], reservation: number | undefined): void;
  lost(tileSet: TileSet, rect: TileRect): void;
  /** A metatile of a layer was rendered for somebody, and the store could not keep it: why. */
  notStored(layer: string, reason: string, who: "user" | "job"): void;
}

/** How long an answer may take where the source names no time. */
const USUAL_TIMEOUT_MS = 30_000;
/** Time-outs that a user waits for a connection at most: an upstream that hangs is known to be down before. */
const PATIENCE = DOWN_AFTER_FAILURES + 1;
const PAINTER_DIED: DrawFailure = {
  kind: "failed",
  failure: "store",
  message: "the painter died",
  retryAfterMs: undefined,
};

const LAYER_REMOVED = { kind: "layer_removed" } as const;

const CANCELLED = { kind: "cancelled" } as const;

/** What becomes of a draw; only a user's may be refused. */
type FlightResult = PaintResult | ({ readonly kind: "refused" } & Refused);

interface Flight {
  readonly order: DrawOrder;
  readonly beganMs: number;
  readonly done: Promise<FlightResult>;
  readonly abort: AbortController;
  /** Of a job's draw. */
  readonly place: Place | undefined;
  /** It is drawn after, and before, others. */
  readonly isOfRun: boolean;
  readonly stage: Stage;
  /** Of the users who wait for it, for a connection. */
  readonly turn: SharedTurn;
  waiters: number;
}

/** How far a draw has come; those of a run share it. */
interface Stage {
  /** A painter draws it, under the generation of that moment. */
  isSent: boolean;
  /** The first tile that a user waits for. */
  missed: TileIndex | undefined;
  readonly early: EarlyAnswers;
  /** Under which it stores its tiles, once that is known. */
  reservation?: number;
}

/** Where a job's draw stands before it begins. */
interface Place {
  /** Ends its wait for its turn and its connection. */
  readonly wait: AbortController;
  /** It has its connection. */
  begun: boolean;
}

/**
 * Gives out leases: for one metatile at a time a connection to its upstream, the only draw of it, and the generation under
 * which it may be kept. Users and jobs share the draws; users come first.
 */
export class Draws implements DrawGate, UserDraws {
  readonly #painters: Painters;
  readonly #ledger: LedgerGate;
  readonly #memory: HotTiles;
  /** Raised by every truncation of the layer. A draw that began under an older one is not kept. */
  readonly #generations = new LayerEpochs();
  readonly #layer: (name: string) => Layer | undefined;
  /** ms since 1970. */
  readonly #now: () => number;
  #configured: readonly Layer[] = [];
  readonly #governors: Governors;
  readonly #meter: UpstreamMeter;
  readonly #pace: DrawPace;
  readonly #failures: FailureMemory;
  /** Those that others may join, by `#keyOf`. */
  readonly #flights = new Map<string, Flight>();
  /** All of them: also those that a truncation has overtaken. */
  readonly #aloft = new Set<Flight>();
  /** When a layer or a part of it was truncated last, ms since 1970. */
  readonly #truncatedMs = new Map<string, number>();
  /** As the order's `expiredBeforeMs`, by layer. */
  readonly #expiredBeforeMs = new Map<string, number>();
  /** Tiles of one colour that have been written, since the start. */
  uniformTiles = 0;
  readonly #blocked = new BlockedLayers();

  constructor(parts: {
    readonly painters: Painters;
    readonly ledger: LedgerGate;
    readonly memory: HotTiles;
    readonly governors: Governors;
    readonly meter: UpstreamMeter;
    readonly pace: DrawPace;
    readonly layer: (name: string) => Layer | undefined;
    readonly now: () => number;
  }) {
    this.#painters = parts.painters;
    this.#ledger = parts.ledger;
    this.#memory = parts.memory;
    this.#governors = parts.governors;
    this.#meter = parts.meter;
    this.#pace = parts.pace;
    this.#layer = parts.layer;
    this.#now = parts.now;
    this.#failures = new FailureMemory();
  }

  configure(layers: readonly Layer[]): void {
    // What failed may have been what the operator has just put right.
    this.#failures.clearAll();
    this.#governors.configure(layers);
    this.#meter.configure(layers.map(({ source }) => upstreamOf(source)));
    const before = this.#configured;
    this.#configured = layers;
    const names = new Set(layers.map(({ name }) => name));
    for (const name of this.#truncatedMs.keys()) if (!names.has(name)) this.#truncatedMs.delete(name);
    for (const name of changedLayers(before, layers)) {
      // What is drawn, or waits for its turn, is of the layer as it was.
      for (const [key, { order }] of this.#flights) if (order.tileSet.layer === name) this.#flights.delete(key);
      this.#memory.clear(name);
      void this.overtake(name);
    }
    this.#generations.keep(names);
  }

  /** Equal for draws that must not go on beside each other, as they write the same tiles. */
  #keyOf({ tileSet, rect }: Metatile): string {
    const together = this.#layer(tileSet.layer)?.formatsTogether === true;
    return `${tileSetKey(together ? { ...tileSet, format: "" } : tileSet)}\n${rect.z}/${rect.minX}/${rect.minY}`;
  }

  #governor(order: DrawOrder): Governor {
    const layer = this.#layer(order.tileSet.layer);
    if (layer === undefined) throw new Error(`no layer ${order.tileSet.layer}`);
    return this.#governors.of(layer);
  }

  async drawForUser(order: DrawOrder, missed: TileIndex, client: string, gone: AbortSignal): Promise<UserDraw> {
    if (gone.aborted) return CANCELLED;
    if (this.#layer(order.tileSet.layer) === undefined) return LAYER_REMOVED;
    const key = this.#keyOf(order);
    const flying = this.#flights.get(key);
    if (flying !== undefined) {
      const { place, turn } = flying;
      turn.join(client);
      if (place !== undefined && !place.begun && !place.wait.signal.aborted) {
        const refused = this.#governor(order).refuseUser(client);
        if (refused !== undefined) return { kind: "refused", ...refused };
        // A job's draw that has not begun goes on as a user's.
        place.wait.abort();
      }
      attend(flying, gone);
      flying.stage.missed ??= missed;
      const { format } = order.tileSet;
      const ended = flying.isOfRun ? this.#ofRun(flying) : flying.done;
      const early = flying.order.tileSet.format === format ? await flying.stage.early.of(missed, ended) : undefined;
      if (early !== undefined) return early;
      const result = await ended;
      const { wanted, rect } = flying.order;
      if (result.kind === "painted" && fills(flying.order, format) && isWanted(wanted, rect, missed.x, missed.y))
        return result.stale ? this.drawForUser(order, missed, client, gone) : { kind: "stored" };
      if (result.kind === "failed") return this.#failedForUser(order, result);
      if (result.kind === "refused") return result;
      // The job that drew it was killed, or did not want this tile.
      return this.drawForUser(order, missed, client, gone);
    }
    const remembered = this.#failures.find(order.tileSet.layer, key);
    if (remembered !== undefined) return this.#rememberedOf(remembered, "before");
    const refused = this.#governor(order).refuseUser(client);
    if (refused !== undefined) return { kind: "refused", ...refused };
    const flight = this.#fly(order, missed, client);
    attend(flight, gone);
    const early = await flight.stage.early.of(missed, flight.done);
    if (early !== undefined) return early;
    const result = await flight.done;
    switch (result.kind) {
      case "painted":
        return { kind: "stored" };
      case "refused":
      case "cancelled":
        return result;
      case "failed":
        return this.#failedForUser(order, result);
      case "lost":
        return PAINTER_DIED;
    }
  }

  /** A run whose upstream has become slow is ended for a user, who may want what comes last. */
  async #ofRun({ done, abort }: Flight): Promise<FlightResult> {
    const timer = setTimeout(() => abort.abort(new Error("a user waits")), RUN_MS);
    try {
      return await done;
    } finally {
      clearTimeout(timer);
    }
  }

  #failedForUser(order: DrawOrder, result: Extract<PaintResult, { readonly kind: "failed" }>): UserDraw {
    const remembered = this.#failures.find(order.tileSet.layer, this.#keyOf(order));
    return remembered === undefined ? failed(result) : this.#rememberedOf(remembered, "just now");
  }

  #rememberedOf({ failure, leftMs }: RememberedFailure, asked: "just now" | "before"): UserDraw {
    return { kind: "remembered", failure, retryAfterSeconds: waitSeconds(leftMs), asked };
  }

  async standing(layer: string, metatile: Metatile | undefined): Promise<DrawStanding> {
    const key = metatile === undefined ? undefined : this.#keyOf(metatile);
    const failing = key === undefined ? undefined : this.#failures.find(layer, key);
    return {
      drawing: key !== undefined && this.#flights.has(key),
      failing:
        failing === undefined ? undefined : { message: failing.failure.message, untilMs: this.#now() + failing.leftMs },
      truncatedMs: this.#truncatedMs.get(layer),
    };
  }

  async ask(layer: Layer, question: Question, client: string, gone: AbortSignal): Promise<UserAnswer> {
    if (gone.aborted) return CANCELLED;
    // The serving process that asks may not have heard of the reload yet.
    const configured = this.#layer(layer.name);
    if (configured === undefined) return LAYER_REMOVED;
    const governor = this.#governors.of(configured);
    const refused = governor.refuseUser(client);
    if (refused !== undefined) return { kind: "refused", ...refused };
    try {
      const late = await governor.acquireForUser(new SharedTurn(client), patienceMsOf(layer), gone);
      if (late !== undefined) return { kind: "refused", ...late };
    } catch (error) {
      if (gone.aborted) return CANCELLED;
      throw error;
    }
    try {
      const result = await this.#painters.ask(layer.name, question, gone);
      learn(governor, result);
      if (result.kind === "failed") return failed(result);
      return result.kind === "lost" ? PAINTER_DIED : result;
    } finally {
      governor.release("user");
    }
  }

  async draw(order: DrawOrder, signal: AbortSignal): Promise<DrawOutcome> {
    if (this.#layer(order.tileSet.layer) === undefined) return { kind: "cancelled" };
    const key = this.#keyOf(order);
    let flight = this.#flights.get(key);
    if (flight !== undefined && !willDo(flight, order)) {
      // A job that is ended meanwhile is let go at once.
      await Promise.race([flight.done, aborted(signal)]);
      return signal.aborted ? { kind: "cancelled" } : this.draw(order, signal);
    }
    // The cells and the reservation of a draw are those of the job that began it, and end with it: so does the draw.
    const isOwn = flight === undefined;
    flight ??= this.#fly(order);
    flight.waiters++;
    const mine = flight;
    const leave = () => {
      if (--mine.waiters === 0 || isOwn) mine.abort.abort(new Error("cancelled"));
    };
    // The draw of somebody else goes on; the job is let go at once.
    const left = new Promise<FlightResult>((resolve) => {
      signal.addEventListener("abort", () => {
        leave();
        if (mine.waiters > 0 && !isOwn) resolve({ kind: "cancelled" });
      });
    });
    if (signal.aborted) {
      leave();
      return { kind: "cancelled" };
    }
    const result = await Promise.race([flight.done, left]);
    // Killed by somebody else while this one had just joined, or the user was refused: draw again, a job waits.
    const again = result.kind === "cancelled" || result.kind === "refused";
    if (again && !signal.aborted) return this.draw(order, signal);
    const outcome = outcomeOf(order, mine.order, result);
    if (outcome.kind !== "failed" || this.#layer(order.tileSet.layer) === undefined) return outcome;
    const { answeredMsAgo } = this.#governor(order);
    return answeredMsAgo === undefined ? outcome : { ...outcome, answeredMsAgo };
  }

  async drawRun(orders: readonly DrawOrder[], signal: AbortSignal): Promise<readonly DrawOutcome[]> {
    const [first] = orders;
    if (first === undefined || this.#layer(first.tileSet.layer) === undefined || signal.aborted) return [];
    const taken = orders.findIndex((order) => this.#flights.has(this.#keyOf(order)));
    const run = taken < 0 ? orders : orders.slice(0, taken);
    // While users read, draws are spaced one by one.
    if (run.length < 2 || this.#pace.isSpacing) return [await this.draw(first, signal)];
    const abort = new AbortController();
    const end = (): void => abort.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    const place = newPlace();
    const stage = newStage(undefined);
    const ended = this.#leaseRun(run, place, stage, abort.signal);
    for (const [i, order] of run.entries()) {
      const drawn = ended.then((results) => results[i] ?? CANCELLED);
      // The run itself never leaves: others that join it do not end it.
      const { done } = this.#follow(drawn, {
        order,
        abort,
        place,
        stage,
        turn: new SharedTurn(),
        isOfRun: true,
        waiters: 1,
      });
      // A fault is thrown to the job below, and to whoever joins.
      done.catch(() => undefined);
    }
    try {
      // What was cancelled it did not come to.
      const results = (await ended).filter(({ kind }) => kind !== "cancelled");
      // A painter that dies was at one of them.
      const told = results[0]?.kind === "lost" ? results.slice(0, 1) : results;
      return told.map((result, i) => {
        const order = orders[i] ?? first;
        return outcomeOf(order, order, result);
      });
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  /** `missed`: by a user of a client; undefined: it is a job's. */
  #fly(order: DrawOrder, missed?: TileIndex, ...clients: readonly string[]): Flight {
    const abort = new AbortController();
    const place = missed === undefined ? newPlace() : undefined;
    const stage = newStage(missed);
    const turn = new SharedTurn(...clients);
    const drawn = this.#lease(order, place, stage, turn, missed, abort.signal);
    return this.#follow(drawn, { order, abort, place, stage, turn, isOfRun: false, waiters: 0 });
  }

  /** Until it ends, others may join it. */
  #follow(drawn: Promise<FlightResult>, about: Omit<Flight, "done" | "beganMs">): Flight {
    const key = this.#keyOf(about.order);
    const done = drawn.finally(() => {
      this.#aloft.delete(flight);
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    const flight: Flight = { ...about, beganMs: this.#now(), done };
    this.#flights.set(key, flight);
    this.#aloft.add(flight);
    return flight;
  }

  async #lease(
    order: DrawOrder,
    place: Place | undefined,
    stage: Stage,
    turn: SharedTurn,
    missed: TileIndex | undefined,
    signal: AbortSignal,
  ): Promise<FlightResult> {
    // Opened while the upstream draws: a user waits for neither longer than for both.
    const opened = missed === undefined ? undefined : this.#ledger.open(filledBy(order), missed);
    try {
      return await this.#leased(order, place, stage, turn, opened, signal);
    } finally {
      // After what was written has been told. A fault of it has been thrown above, but for a user who was refused.
      void opened?.then(
        (id) => id !== undefined && this.#ledger.closeCells(id),
        () => undefined,
      );
    }
  }

  /** `opened`: the cells, where they are not its job's to open. */
  async #leased(
    order: DrawOrder,
    place: Place | undefined,
    stage: Stage,
    turn: SharedTurn,
    opened: Promise<number | undefined> | undefined,
    signal: AbortSignal,
  ): Promise<FlightResult> {
    const { layer } = order.tileSet;
    const governor = this.#governor(order);
    const epoch = this.#failures.epoch(layer);
    const acquire = async () => {
      if (place !== undefined && (await this.#jobsTurn(governor, place, signal))) return "job";
      const refused = await governor.acquireForUser(turn, patienceMsOf(this.#layer(layer)), signal);
      return refused === undefined ? "user" : ({ kind: "refused", ...refused } as const);
    };
    const who = await this.#whileUnblocked(layer, governor, acquire, signal);
    if (typeof who !== "string") return who;
    if (place !== undefined) place.begun = true;
    try {
      // In the same turn: a truncation that comes between the two would not reach a painter that has no work.
      const generation = this.#generations.of(layer);
      stage.isSent = true;
      if (order.leave !== undefined) stage.reservation = order.leave.id;
      const reservation = opened && this.#mayKeep(opened, layer, generation, stage);
      const { missed, early } = stage;
      const reported: WrittenTile[] = [];
      const report = (tiles: EarlyTiles): void => {
        this.#written(order.tileSet, tiles.written, stage.reservation);
        reported.push(...tiles.written);
        early.add(tiles);
      };
      const user = who === "user" && missed !== undefined ? { missed, reservation, report } : undefined;
      const rest = await this.#painters.paint(this.#dated(order), generation, user, signal);
      for (const [tileSet, tiles] of writtenBy([order], [rest])) this.#written(tileSet, tiles, stage.reservation);
      const painted = rest.kind === "painted" ? { ...rest, written: [...reported, ...rest.written] } : rest;
      this.#learn(governor, order, painted, who, epoch);
      await opened;
      return painted;
    } finally {
      governor.release(who);
    }
  }

  /** A truncation that found no cell open has not waited for this draw: its word came before that of the cells. */
  #mayKeep(
    opened: Promise<number | undefined>,
    layer: string,
    generation: number,
    stage: Stage,
  ): Promise<number | undefined> {
    return opened.then(
      (id) => {
        if (id !== undefined) stage.reservation = id;
        return generation === this.#generations.of(layer) ? id : undefined;
      },
      () => undefined,
    );
  }

  /** None: a user waits for one of them, and draws it without the others. */
  async #leaseRun(
    orders: readonly DrawOrder[],
    place: Place,
    stage: Stage,
    signal: AbortSignal,
  ): Promise<readonly PaintResult[]> {
    const [first] = orders;
    if (first === undefined) return [];
    const { layer } = first.tileSet;
    const governor = this.#governor(first);
    const epoch = this.#failures.epoch(layer);
    const turn = async () => ((await this.#jobsTurn(governor, place, signal)) ? ("job" as const) : CANCELLED);
    const who = await this.#whileUnblocked(layer, governor, turn, signal);
    if (typeof who !== "string") return [];
    place.begun = true;
    try {
      // In the same turn, as of a single draw.
      const generation = this.#generations.of(layer);
      stage.isSent = true;
      const sent = orders.map((order) => this.#dated(order));
      const results = await this.#painters.paintRun(sent, generation, signal);
      for (const [tileSet, tiles] of writtenBy(orders, results)) this.#written(tileSet, tiles, first.leave?.id);
      for (const [i, order] of orders.entries()) this.#learn(governor, order, results[i] ?? CANCELLED, "job", epoch);
      return results;
    } finally {
      governor.release(who);
    }
  }

  /** With what soft truncations say of its layer. */
  #dated(order: DrawOrder): DrawOrder {
    const expiredBeforeMs = this.#expiredBeforeMs.get(order.tileSet.layer);
    return expiredBeforeMs === undefined ? order : { ...order, expiredBeforeMs };
  }

  /** What a draw tells of its upstream, its cost, and of the next draw of the same. */
  #learn(governor: Governor, order: DrawOrder, result: PaintResult, who: "user" | "job", epoch: number): void {
    const { layer } = order.tileSet;
    if (who === "job" && result.kind === "painted" && result.processorMs !== undefined)
      this.#pace.took(result.processorMs);
    this.#measure(order, result);
    learn(governor, result);
    if (result.kind === "painted") {
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
   * Waits until the layer is not blocked, and then for what `acquire` waits for: no connection is held while the layer is
   * blocked, as other layers have the same upstream. Answered in a turn in which the layer is not blocked.
   * @param acquire answers whose connection it has, or why it has none
   */
  async #whileUnblocked<T extends object>(
    layer: string,
    governor: Governor,
    acquire: () => Promise<"user" | "job" | T>,
    signal: AbortSignal,
  ): Promise<"user" | "job" | T | typeof CANCELLED> {
    try {
      for (;;) {
        await this.#blocked.unblocked(layer, signal);
        const who = await acquire();
        if (typeof who !== "string" || !this.#blocked.has(layer)) return who;
        governor.release(who);
      }
    } catch (error) {
      if (signal.aborted) return CANCELLED;
      throw error;
    }
  }

  /**
   * Waits for a job's turn and its connection. False: a user waits for the draw now, and it has neither.
   * @throws the signal's reason
   */
  async #jobsTurn(governor: Governor, place: Place, signal: AbortSignal): Promise<boolean> {
    const { wait } = place;
    const end = () => wait.abort();
    signal.addEventListener("abort", end);
    try {
      await this.#pace.turn(wait.signal);
      await governor.acquireForJob(wait.signal);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!wait.signal.aborted) throw error;
      return false;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  #measure({ tileSet }: DrawOrder, result: PaintResult): void {
    const layer = this.#layer(tileSet.layer);
    if (layer === undefined || (result.kind !== "painted" && result.kind !== "failed")) return;
    const failure = result.kind === "failed" ? result.failure : undefined;
    this.#meter.observe(upstreamOf(layer.source), result.upstreamMs, failure);
  }

  #written(tileSet: TileSet, tiles: readonly WrittenTile[], reservation: number | undefined): void {
    if (tiles.length === 0) return;
    for (const { uniform } of tiles) if (uniform === true) this.uniformTiles++;
    const renewed = tiles.filter(({ unchanged }) => unchanged !== "left");
    if (renewed.length > 0) this.#memory.forget(renewed.map(({ x, y, z }) => tileKey(tileSet, x, y, z)));
    this.#ledger.wrote(tileSet, tiles, reservation);
  }

  async pause(layer: string): Promise<void> {
    this.#blocked.block(layer);
    await this.#painters.settle(layer, this.#begin(layer));
  }

  /** @returns the new generation */
  #begin(layer: string): number {
    this.#failures.clear(layer);
    this.#memory.clear(layer);
    return this.#nextGeneration(layer);
  }

  #nextGeneration(layer: string): number {
    const generation = this.#generations.raise(layer);
    // What a painter draws now is of the map as it was: whoever asks from now on has a draw of their own.
    for (const [key, { order, stage }] of this.#flights)
      if (stage.isSent && order.tileSet.layer === layer) this.#flights.delete(key);
    return generation;
  }

  async overtake(layer: string): Promise<void> {
    await this.#painters.settle(layer, this.#nextGeneration(layer));
  }

  async endRuns(): Promise<void> {
    const runs = [...this.#aloft].filter(({ isOfRun }) => isOfRun);
    for (const { abort } of runs) abort.abort(new Error("the quota has changed"));
    // One that no renderer has yet is not sent any more.
    await Promise.allSettled(runs.filter(({ stage }) => stage.isSent).map(({ done }) => done));
  }

  truncated(layer: string): void {
    this.#truncatedMs.set(layer, this.#now());
  }

  renew(layer: string): void {
    this.#begin(layer);
  }

  resume(layer: string): void {
    // What was read while the tiles were going away must not outlive them.
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
    return this.#painters.sweep(signal);
  }

  /** Tiles have left the store one by one. */
  evicted(tileSet: TileSet, rect: TileRect): void {
    const keys: string[] = [];
    for (let y = rect.minY; y <= rect.maxY; y++)
      for (let x = rect.minX; x <= rect.maxX; x++) keys.push(tileKey(tileSet, x, y, rect.z));
    this.#memory.forget(keys);
  }

  /** Waits until nothing is drawn any more. */
  async idle(): Promise<void> {
    while (this.#aloft.size > 0) await Promise.allSettled([...this.#aloft].map((f) => f.done));
  }

  /** Ends renders of which no tile has been stored. */
  cancelUnanswered(): void {
    for (const { stage, abort } of this.#aloft) if (!stage.early.hasBegun) abort.abort(new Error("shutting down"));
  }

  cancelAll(): void {
    for (const flight of this.#aloft) flight.abort.abort(new Error("shutting down"));
  }
}

/**
 * A user waits for a draw. One who goes away before the upstream is asked leaves it, and with the last it ends: who pans
 * fast does not wait for what is out of sight. Afterwards it is worth keeping for the next. A job's draw is the job's.
 */
function attend(flight: Flight, gone: AbortSignal): void {
  if (flight.place !== undefined) return;
  flight.waiters++;
  gone.addEventListener(
    "abort",
    () => {
      if (!flight.stage.isSent && --flight.waiters === 0) flight.abort.abort(new Error("nobody waits for it any more"));
    },
    { once: true },
  );
}

/** How the upstream did; of a draw that was cancelled or lost nothing is known. */
function learn(governor: Governor, result: PaintResult | InfoResult): void {
  if (result.kind === "painted") governor.succeeded(result.upstreamMs);
  else if (result.kind === "info") governor.succeeded(undefined);
  else if (result.kind === "failed" && result.failure === "no_tile") governor.succeeded(undefined);
  else if (result.kind === "failed") governor.failed(result.failure, result.retryAfterMs);
  else governor.unheard();
}

/** What a job is told of its draw, or of one that it has joined. */
function outcomeOf({ watched, tileSet }: DrawOrder, drawn: DrawOrder, result: FlightResult): DrawOutcome {
  switch (result.kind) {
    case "painted": {
      const written = writtenIn(tileSet.format, drawn, result);
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
      return PAINTER_DIED;
  }
}

/** What a job is told when the store has not kept its tiles. */
function notStored({ code, message }: StoreFailure): DrawOutcome {
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

/** What a draw has written of one of the formats that it fills. */
function writtenIn(
  format: string,
  { tileSet, beside = [] }: DrawOrder,
  { written, writtenBeside = [] }: KeptTiles,
): readonly WrittenTile[] {
  return tileSet.format === format ? written : (writtenBeside[beside.indexOf(format)] ?? []);
}

/** What was written of each tile set; those of a run that are one after the other are mostly of one. */
function writtenBy(orders: readonly DrawOrder[], results: readonly PaintResult[]): Map<TileSet, WrittenTile[]> {
  const byTileSet = new Map<TileSet, WrittenTile[]>();
  for (const [i, result] of results.entries()) {
    const order = orders[i];
    if (order === undefined || result.kind !== "painted") continue;
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
}): DrawFailure => ({
  kind: "failed",
  failure: failure.failure,
  message: failure.message,
  retryAfterMs: failure.retryAfterMs,
});

export const tileKey = (tileSet: TileSet, x: number, y: number, z: number): string =>
  `${tileSetKey(tileSet)}\n${z}/${x}/${y}`;

function patienceMsOf(layer: Layer | undefined): number {
  const timeoutMs = layer !== undefined && "timeoutMs" in layer.source ? layer.source.timeoutMs : USUAL_TIMEOUT_MS;
  return PATIENCE * timeoutMs;
}

const newStage = (missed: TileIndex | undefined): Stage => ({ isSent: false, missed, early: new EarlyAnswers() });

const newPlace = (): Place => ({ wait: new AbortController(), begun: false });

/** What is being drawn keeps what is wanted, of a picture that is new enough. */
const willDo = (flight: Flight, { tileSet, wanted, sinceMs = 0 }: DrawOrder): boolean =>
  fills(flight.order, tileSet.format) &&
  (flight.order.wanted === null || sameMask(flight.order.wanted, wanted)) &&
  flight.beganMs > sinceMs;

const fills = ({ tileSet, beside = [] }: DrawOrder, format: string): boolean =>
  tileSet.format === format || beside.includes(format);

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const filledBy = ({ tileSet, beside, rect }: DrawOrder): FilledMetatile =>
  beside === undefined ? { tileSet, rect } : { tileSet, beside, rect };

function sameMask(a: Uint8Array, b: Uint8Array | null): boolean {
  return b !== null && a.byteLength === b.byteLength && a.every((bit, i) => bit === b[i]);
}
