import type { TileIndex, TileRect } from "../../grid/grid-set.ts";
import { SharedTurn } from "../../lib/process/fair-line.ts";
import type { RenderOrder, WrittenTile } from "../render-order.ts";
import { fills } from "../render-result.ts";
import type { EarlyTiles } from "../renderer/missed-tile-first.ts";
import type { RendererResult } from "../renderers.ts";
import type { Refused } from "../user-renders.ts";
import { EarlyAnswers } from "./early-answers.ts";

/**
 * The progress of one render, or of the renders of a batch:
 *
 *     waiting ──permit()──► permitted ──send()──► sent
 *
 * While waiting, a render waits for its layer to be unblocked, for a connection and, if it is a job's render, for the
 * throttle.
 */
export class RenderProgress {
  #phase: "waiting" | "permitted" | "sent" = "waiting";
  readonly #abort = new AbortController();
  /** Aborted when a job's render continues with a user's priority. Undefined for a user's render. */
  readonly #jobWait: AbortController | undefined;

  constructor(who: "user" | "job") {
    this.#jobWait = who === "job" ? new AbortController() : undefined;
  }

  /** Fires when the render is aborted. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Fires when the render is aborted or continues for a user. Undefined for a user's render. */
  get jobWait(): AbortSignal | undefined {
    return this.#jobWait?.signal;
  }

  /** Whether the order has been sent to a renderer, with the layer's generation at that moment. */
  get isSent(): boolean {
    return this.#phase === "sent";
  }

  /** Whether a job's render waits for a connection, with the priority of jobs. */
  get isWaitingAsJob(): boolean {
    return this.#phase === "waiting" && this.#jobWait?.signal.aborted === false;
  }

  /** Continues the wait of a job's render with the priority of users. */
  continueForUser(): void {
    this.#jobWait?.abort();
  }

  permit(): void {
    this.#phase = "permitted";
  }

  send(): void {
    this.#phase = "sent";
  }

  abort(reason: string): void {
    const error = new Error(reason);
    this.#abort.abort(error);
    this.#jobWait?.abort(error);
  }
}

export interface InFlightRenderParts {
  readonly order: RenderOrder;
  /** The time at which the request for the render arrived, ms since 1970. */
  readonly beganMs: number;
  readonly progress: RenderProgress;
  /** The user who missed a tile; undefined for a job's render. */
  readonly user: { readonly missed: TileIndex; readonly client: string } | undefined;
  /** Whether the render belongs to a batch. */
  readonly isOfBatch: boolean;
}

/** A render in progress, and the users and jobs that wait for it. */
export class InFlightRender {
  readonly order: RenderOrder;
  readonly beganMs: number;
  readonly progress: RenderProgress;
  readonly isOfBatch: boolean;
  /** The tile that the first user missed, if the render began for a user. Undefined for a job's render. */
  readonly missed: TileIndex | undefined;
  /** The turn of the users who wait for this render, in the fair line for a connection. */
  readonly turn: SharedTurn;
  readonly early = new EarlyAnswers();
  readonly ended: Promise<RendererResult | Refused>;
  /** The tile that the renderer stores first: the tile of the first user. */
  #firstMissed: TileIndex | undefined;
  #notifyRenderer: ((missed: TileIndex) => void) | undefined;
  #isOutdated = false;
  /** The tiles that the renderer reported before the end of the render. */
  readonly #reported: WrittenTile[] = [];
  #waiters: number;

  /** @param begin begins the render; its promise resolves at the end of the render */
  constructor(parts: InFlightRenderParts, begin: (render: InFlightRender) => Promise<RendererResult | Refused>) {
    const { order, beganMs, progress, user, isOfBatch } = parts;
    this.order = order;
    this.beganMs = beganMs;
    this.progress = progress;
    this.isOfBatch = isOfBatch;
    this.missed = user?.missed;
    this.#firstMissed = user?.missed;
    this.turn = user === undefined ? new SharedTurn() : new SharedTurn(user.client);
    // The batch itself counts as a waiter, so that a job that joins and leaves does not abort it.
    this.#waiters = isOfBatch ? 1 : 0;
    this.ended = begin(this);
  }

  get firstMissed(): TileIndex | undefined {
    return this.#firstMissed;
  }

  /** Whether the data has changed since the order was sent, so that the tiles are not stored. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  outdate(): void {
    this.#isOutdated = true;
  }

  /** Returns whether the render stores all tiles that an order wants, from a picture that is recent enough. */
  serves({ tileSet, wanted, sinceMs = 0 }: RenderOrder): boolean {
    const own = this.order.wanted;
    return fills(this.order, tileSet.format) && (own === null || isSameMask(own, wanted)) && this.beganMs > sinceMs;
  }

  /**
   * Adds a user who waits. If the last waiting user leaves before a renderer has the order, the render is aborted: a
   * user who pans quickly does not wait for tiles that are no longer visible. After that moment the render continues,
   * because its tiles serve the next request. Users do not abort a job's render.
   */
  addUser(missed: TileIndex, gone: AbortSignal): void {
    if (this.#firstMissed === undefined) {
      this.#firstMissed = missed;
      this.#notifyRenderer?.(missed);
    }
    if (this.missed === undefined) return;
    this.#waiters++;
    const leave = (): void => {
      if (!this.progress.isSent && --this.#waiters === 0)
        this.progress.abort("no request waits for the render any more");
    };
    gone.addEventListener("abort", leave, { once: true });
  }

  /**
   * Adds a job that waits. Returns the function by which the job leaves the render, which returns whether the render
   * continues for other waiters.
   * @param isOwner whether the render uses the cells and the reservation of this job, so that it ends with the job
   */
  addJob(isOwner: boolean): () => boolean {
    this.#waiters++;
    return () => {
      const continues = --this.#waiters > 0 && !isOwner;
      if (!continues) this.progress.abort("cancelled");
      return continues;
    };
  }

  /** Sets the function that reports the first user to the renderer, if the user joins after the order was sent. */
  whenUserJoins(report: (missed: TileIndex) => void): void {
    this.#notifyRenderer = report;
  }

  /**
   * Records tiles that the renderer reported before the end, and answers the users who wait for them.
   * @param isStale as in `RenderedForUser`
   */
  report(tiles: EarlyTiles, isStale: boolean): void {
    this.#reported.push(...tiles.written);
    this.early.add(tiles, isStale);
  }

  /** Returns the rectangles of the tiles that the renderer has not reported. */
  unreported(): readonly TileRect[] {
    const { rect } = this.order;
    if (this.#reported.length === 0) return [rect];
    const reported = new Set(this.#reported.map(({ x, y }) => `${x}/${y}`));
    const left: TileRect[] = [];
    for (let y = rect.minY; y <= rect.maxY; y++)
      for (let x = rect.minX; x <= rect.maxX; x++)
        if (!reported.has(`${x}/${y}`)) left.push({ z: rect.z, minX: x, minY: y, maxX: x, maxY: y });
    return left;
  }

  /** Returns the renderer's result with the tiles that were reported before. */
  withReported(result: RendererResult): RendererResult {
    if (result.kind !== "rendered" || this.#reported.length === 0) return result;
    return { ...result, written: [...this.#reported, ...result.written] };
  }
}

function isSameMask(a: Uint8Array, b: Uint8Array | null): boolean {
  return b !== null && a.byteLength === b.byteLength && a.every((bit, i) => bit === b[i]);
}
