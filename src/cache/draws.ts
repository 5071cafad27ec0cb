import { rectCount, type TileIndex, type TileRect } from "../grid/grid-set.ts";
import type { Layer } from "../layer/layer.ts";
import { waitSeconds } from "../lib/wait-seconds.ts";
import type { FailureClass, Question } from "../source/source.ts";
import { type TileSet, tileSetKey } from "../tile/tile-set.ts";
import {
  type DrawFailure,
  type DrawGate,
  type DrawOrder,
  type DrawOutcome,
  isWanted,
  type WrittenTile,
} from "./draw.ts";
import type { DrawPace } from "./draw-pace.ts";
import { FailureMemory, type RememberedFailure } from "./failure-memory.ts";
import type { Governor, Refused } from "./governor.ts";
import { type Governors, upstreamOf } from "./governors.ts";
import type { HotTiles } from "./memory-tier.ts";
import type { InfoResult, Painters, PaintResult } from "./painters.ts";
import type { UpstreamMeter } from "./upstream-meter.ts";
import type { DrawStanding, Metatile, UserAnswer, UserDraw, UserDraws } from "./user-draws.ts";

/** What the front asks of the keeper for a draw. */
export interface LedgerGate {
  /** Opens the cells of a metatile that a user missed a tile of. Undefined: there is no room, it must not be stored. */
  open(tileSet: TileSet, rect: TileRect, missed: TileIndex): Promise<number | undefined>;
  closeCells(id: number): void;
  wrote(tileSet: TileSet, tiles: readonly WrittenTile[]): void;
  lost(tileSet: TileSet, rect: TileRect): void;
}

const NEVER = new AbortController().signal;
const PAINTER_DIED: DrawFailure = {
  kind: "failed",
  failure: "store",
  message: "the painter died",
  retryAfterMs: undefined,
};

/** What becomes of a draw; only a user's may be refused. */
type FlightResult = PaintResult | ({ readonly kind: "refused" } & Refused);

interface Flight {
  readonly order: DrawOrder;
  readonly beganMs: number;
  readonly done: Promise<FlightResult>;
  readonly abort: AbortController;
  /** Of a job's draw. */
  readonly place: Place | undefined;
  waiters: number;
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
  /** Raised by every truncation of the layer; absent is 0. A draw that began under an older one is not kept. */
  readonly #generations = new Map<string, number>();
  readonly #layer: (name: string) => Layer | undefined;
  readonly #now: () => number;
  readonly #governors: Governors;
  readonly #meter: UpstreamMeter;
  readonly #pace: DrawPace;
  readonly #failures: FailureMemory;
  readonly #flights = new Map<string, Flight>();
  /** When a layer or a part of it was truncated last, ms since 1970. */
  readonly #truncatedMs = new Map<string, number>();
  /** As the order's `expiredBeforeMs`, by layer. */
  readonly #expiredBeforeMs = new Map<string, number>();
  readonly #paused = new Map<string, { depth: number; resumed: Promise<void>; resume: () => void }>();

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
    this.#failures = new FailureMemory(parts.now);
  }

  configure(layers: Iterable<Layer>): void {
    // What failed may have been what the operator has just put right.
    this.#failures.clearAll();
    this.#governors.configure(layers);
  }

  #governor(order: DrawOrder): Governor {
    const layer = this.#layer(order.tileSet.layer);
    if (layer === undefined) throw new Error(`no layer ${order.tileSet.layer}`);
    return this.#governors.of(layer);
  }

  async drawForUser(order: DrawOrder, missed: TileIndex): Promise<UserDraw> {
    const key = flightKey(order);
    const flying = this.#flights.get(key);
    if (flying !== undefined) {
      const { place } = flying;
      if (place !== undefined && !place.begun && !place.wait.signal.aborted) {
        const refused = this.#governor(order).refuseUser();
        if (refused !== undefined) return { kind: "refused", ...refused };
        // A job's draw that has not begun goes on as a user's.
        place.wait.abort();
      }
      const result = await flying.done;
      if (result.kind === "painted" && result.tiles.length > 0) return result;
      const { wanted, rect } = flying.order;
      if (result.kind === "painted" && isWanted(wanted, rect, missed.x, missed.y))
        return result.stale ? this.drawForUser(order, missed) : { kind: "stored" };
      if (result.kind === "failed") return this.#failedForUser(order, result);
      if (result.kind === "refused") return result;
      // The job that drew it was killed, or did not want this tile.
      return this.drawForUser(order, missed);
    }
    const remembered = this.#failures.find(order.tileSet.layer, key);
    if (remembered !== undefined) return this.#rememberedOf(remembered, "before");
    const refused = this.#governor(order).refuseUser();
    if (refused !== undefined) return { kind: "refused", ...refused };
    const flight = this.#fly(key, order, missed);
    const result = await flight.done;
    switch (result.kind) {
      case "painted":
      case "refused":
      case "cancelled":
        return result;
      case "failed":
        return this.#failedForUser(order, result);
      case "lost":
        return PAINTER_DIED;
    }
  }

  #failedForUser(order: DrawOrder, result: Extract<PaintResult, { readonly kind: "failed" }>): UserDraw {
    const remembered = this.#failures.find(order.tileSet.layer, flightKey(order));
    return remembered === undefined ? failed(result) : this.#rememberedOf(remembered, "just now");
  }

  #rememberedOf({ failure, untilMs }: RememberedFailure, asked: "just now" | "before"): UserDraw {
    return { kind: "remembered", failure, retryAfterSeconds: waitSeconds(untilMs - this.#now()), asked };
  }

  async standing(layer: string, metatile: Metatile | undefined): Promise<DrawStanding> {
    const key = metatile === undefined ? undefined : flightKey(metatile);
    const failing = key === undefined ? undefined : this.#failures.find(layer, key);
    return {
      drawing: key !== undefined && this.#flights.has(key),
      failing: failing === undefined ? undefined : { message: failing.failure.message, untilMs: failing.untilMs },
      truncatedMs: this.#truncatedMs.get(layer),
    };
  }

  async ask(layer: Layer, question: Question): Promise<UserAnswer> {
    const governor = this.#governors.of(layer);
    const refused = governor.refuseUser();
    if (refused !== undefined) return { kind: "refused", ...refused };
    const late = await governor.acquire("user", NEVER);
    if (late !== undefined) return { kind: "refused", ...late };
    try {
      const result = await this.#painters.ask(layer.name, question);
      learn(governor, result);
      if (result.kind === "failed") return failed(result);
      return result.kind === "lost" ? PAINTER_DIED : result;
    } finally {
      governor.release("user");
    }
  }

  async draw(order: DrawOrder, signal: AbortSignal): Promise<DrawOutcome> {
    if (this.#layer(order.tileSet.layer) === undefined) return { kind: "cancelled" };
    const key = flightKey(order);
    let flight = this.#flights.get(key);
    if (flight !== undefined && !willDo(flight, order)) {
      // A job that is ended meanwhile is let go at once.
      await Promise.race([flight.done, aborted(signal)]);
      return signal.aborted ? { kind: "cancelled" } : this.draw(order, signal);
    }
    flight ??= this.#fly(key, order, undefined);
    flight.waiters++;
    const mine = flight;
    const leave = () => {
      if (--mine.waiters === 0) mine.abort.abort(new Error("cancelled"));
    };
    // A draw that a user waits for goes on; the job is let go at once.
    const left = new Promise<FlightResult>((resolve) => {
      signal.addEventListener("abort", () => {
        leave();
        if (mine.waiters > 0) resolve({ kind: "cancelled" });
      });
    });
    if (signal.aborted) {
      leave();
      return { kind: "cancelled" };
    }
    const result = await Promise.race([flight.done, left]);
    switch (result.kind) {
      case "painted":
        if (result.stale) return { kind: "stale" };
        if (result.storeFull) return { kind: "full", reason: result.storeFailure ?? "the store is full" };
        if (result.storeFailure !== undefined) {
          return failed({ failure: "store", message: result.storeFailure, retryAfterMs: undefined });
        }
        return {
          kind: "stored",
          bytes: result.written.reduce((sum, tile) => sum + (tile.unchanged === undefined ? tile.bytes : 0), 0),
          unchanged: result.written.flatMap(({ unchanged, x, y }) => (unchanged === undefined ? [] : [{ x, y }])),
          ...(order.watched === true ? { written: result.written } : {}),
        };
      case "failed":
        return failed(result);
      case "cancelled":
        // Killed by somebody else while this one had just joined: draw again.
        return signal.aborted ? result : this.draw(order, signal);
      case "refused":
        // The user was; a job waits.
        return signal.aborted ? { kind: "cancelled" } : this.draw(order, signal);
      case "lost":
        return PAINTER_DIED;
    }
  }

  /** `missed`: by a user; undefined: it is a job's. */
  #fly(key: string, order: DrawOrder, missed: TileIndex | undefined): Flight {
    const abort = new AbortController();
    const place = missed === undefined ? { wait: new AbortController(), begun: false } : undefined;
    const done = this.#lease(order, place, missed, abort.signal).finally(() => this.#flights.delete(key));
    // A user is a waiter that never leaves: what is drawn for one is worth keeping for the next.
    const flight: Flight = { order, beganMs: this.#now(), done, abort, place, waiters: place === undefined ? 1 : 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  async #lease(
    order: DrawOrder,
    place: Place | undefined,
    missed: TileIndex | undefined,
    signal: AbortSignal,
  ): Promise<FlightResult> {
    const governor = this.#governor(order);
    let who: "user" | "job" = place === undefined ? "user" : "job";
    const opened = missed === undefined ? undefined : await this.#ledger.open(order.tileSet, order.rect, missed);
    const epoch = this.#failures.epoch(order.tileSet.layer);
    const unstored = missed !== undefined && opened === undefined;
    try {
      if (place !== undefined && !(await this.#jobsTurn(governor, place, signal))) who = "user";
      const refused = who === "user" ? await governor.acquire("user", signal) : undefined;
      if (refused !== undefined) {
        if (opened !== undefined) this.#ledger.closeCells(opened);
        return { kind: "refused", ...refused };
      }
    } catch (error) {
      if (opened !== undefined) this.#ledger.closeCells(opened);
      if (signal.aborted) return { kind: "cancelled" };
      throw error;
    }
    try {
      for (
        let pause = this.#paused.get(order.tileSet.layer);
        pause !== undefined;
        pause = this.#paused.get(order.tileSet.layer)
      ) {
        await pause.resumed;
      }
      const generation = this.#generations.get(order.tileSet.layer) ?? 0;
      const expiredBeforeMs = this.#expiredBeforeMs.get(order.tileSet.layer);
      const dated = expiredBeforeMs === undefined ? order : { ...order, expiredBeforeMs };
      const painted = await this.#painters.paint(unstored ? unkept(dated) : dated, generation, who, signal);
      if (painted.kind === "painted") {
        if (who === "job") this.#pace.took(painted.processorMs);
        this.#written(order.tileSet, painted.written);
      }
      // A job that joined must not take it for stored.
      const result = unstored && painted.kind === "painted" ? { ...painted, stale: true } : painted;
      this.#measure(order, painted);
      learn(governor, result);
      if (result.kind === "painted") this.#failures.forget(flightKey(order));
      else if (result.kind === "failed") {
        const seconds = this.#layer(order.tileSet.layer)?.negativeCacheSeconds ?? 0;
        this.#failures.remember(order.tileSet.layer, flightKey(order), failed(result), seconds, epoch);
      } else if (result.kind === "lost") this.#ledger.lost(order.tileSet, order.rect);
      return result;
    } finally {
      governor.release(who);
      if (opened !== undefined) this.#ledger.closeCells(opened);
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
      await governor.acquire("job", wait.signal);
      place.begun = true;
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

  #written(tileSet: TileSet, tiles: readonly WrittenTile[]): void {
    if (tiles.length === 0) return;
    const renewed = tiles.filter(({ unchanged }) => unchanged !== "left");
    if (renewed.length > 0) this.#memory.forget(renewed.map(({ x, y, z }) => tileKey(tileSet, x, y, z)));
    this.#ledger.wrote(tileSet, tiles);
  }

  async pause(layer: string): Promise<void> {
    const paused = this.#paused.get(layer);
    if (paused !== undefined) paused.depth++;
    else {
      let resume = () => {};
      const resumed = new Promise<void>((resolve) => {
        resume = resolve;
      });
      this.#paused.set(layer, { depth: 1, resumed, resume });
    }
    await this.#painters.settle(layer, this.#begin(layer));
  }

  /** @returns the new generation */
  #begin(layer: string): number {
    const generation = (this.#generations.get(layer) ?? 0) + 1;
    this.#generations.set(layer, generation);
    this.#truncatedMs.set(layer, this.#now());
    this.#failures.clear(layer);
    this.#memory.clear(layer);
    return generation;
  }

  renew(layer: string): void {
    this.#begin(layer);
  }

  resume(layer: string): void {
    const paused = this.#paused.get(layer);
    // What was read while the tiles were going away must not outlive them.
    this.#memory.clear(layer);
    if (paused === undefined || --paused.depth > 0) return;
    this.#paused.delete(layer);
    paused.resume();
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
    while (this.#flights.size > 0) await Promise.allSettled([...this.#flights.values()].map((f) => f.done));
  }

  cancelAll(): void {
    for (const flight of this.#flights.values()) flight.abort.abort(new Error("shutting down"));
  }
}

/** How the upstream did; of a draw that was cancelled or lost nothing is known. */
function learn(governor: Governor, result: PaintResult | InfoResult): void {
  if (result.kind === "painted") governor.succeeded(result.upstreamMs);
  else if (result.kind === "info") governor.succeeded(undefined);
  else if (result.kind === "failed" && result.failure === "no_tile") governor.succeeded(undefined);
  else if (result.kind === "failed") governor.failed(result.failure, result.retryAfterMs);
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

/** What is being drawn keeps what is wanted, of a picture that is new enough. */
const willDo = (flight: Flight, { wanted, sinceMs = 0 }: DrawOrder): boolean =>
  (flight.order.wanted === null || sameMask(flight.order.wanted, wanted)) && flight.beganMs > sinceMs;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const flightKey = ({ tileSet, rect }: Metatile): string =>
  `${tileSetKey(tileSet)}\n${rect.z}/${rect.minX}/${rect.minY}`;

/** The same picture, with nothing kept of it. */
const unkept = (order: DrawOrder): DrawOrder => ({ ...order, wanted: new Uint8Array(Number(rectCount(order.rect))) });

function sameMask(a: Uint8Array, b: Uint8Array | null): boolean {
  return b !== null && a.byteLength === b.byteLength && a.every((bit, i) => bit === b[i]);
}
