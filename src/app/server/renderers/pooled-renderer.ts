import type { Layer } from "../../../layer/layer.ts";
import type { LayerName } from "../../../layer/tile-set.ts";
import { Channel } from "../../../lib/process/channel.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import type { Clock, Timer } from "../../../lib/time/clock.ts";
import type { EarlyTiles } from "../../../render/renderer/missed-tile-first.ts";
import { RENDERER, type RendererMethods, type RendererNotes } from "../../renderer/renderer-methods.ts";
import { ProcessWatch } from "./process-watch.ts";
import type { RendererEnd, RendererHost, RendererProcess } from "./renderer-host.ts";

/** A renderer ends after this time without work, which frees all its memory. */
const IDLE_MS = 60_000;
/**
 * The time in ms for which a renderer counts as new after its code is loaded. For jobs: about the processor time that
 * V8 needs to compile the code, because a job that ends within this time needs no second renderer. For users: 0,
 * because a user waits for each render.
 */
const NEW_MS = { user: 0, map: 0, job: 2_000 } as const;
/** A renderer that does not end within this time after a request to end is killed. */
const CLOSE_MS = 5_000;

/** A killed renderer that has not ended after this time is blocked in the kernel, and executes nothing more. */
const GIVE_UP_MS = 1_000;
const PING_MS = 1_000;
/** A renderer that has not responded for this time gets no further work. Later it counts as hung. */
const SILENT_MS = 3_000;

/**
 * Nice values. Hits come first: a hit takes microseconds, a render milliseconds. A process with the value 5 gets a
 * third, and a process with 10 a ninth, of the processor time of a process with 0.
 */
const NICE = { user: 5, map: 10, job: 10 } as const;

/** The renders of a renderer: tiles that users missed, maps composed of tiles, or metatiles of jobs. */
export type RendererRole = keyof typeof NICE;

export interface PooledRendererParts {
  readonly who: RendererRole;
  readonly host: RendererHost;
  readonly layers: readonly Layer[];
  readonly reserve: RendererNotes["reserve"];
  readonly serverHealth: (renderer: PooledRenderer, origin: string, isUp: boolean) => void;
  /** Called when the renderer did not respond and is killed. */
  readonly hung: () => void;
  /** Called before the renderer's renders resolve as lost. */
  readonly ended: (renderer: PooledRenderer, end: RendererEnd) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A renderer process that the pool has started. */
export class PooledRenderer {
  readonly who: RendererRole;
  readonly host: RendererHost;
  readonly #channel: Channel<RendererMethods>;
  /** Origins of servers that this renderer has found down. */
  readonly down = new Set<string>();
  /** The `report` functions of the renders in progress, by the numbers of the renders. */
  readonly reports = new Map<number, (tiles: EarlyTiles) => void>();
  /**
   * The functions that resolve each work in progress as lost if the renderer dies, with the layer whose tiles the work
   * stores.
   */
  readonly #lost = new Map<() => void, string | undefined>();
  readonly #process: RendererProcess;
  readonly #watch: ProcessWatch;
  readonly #exited: Promise<void>;
  readonly #clock: Clock;
  #idleTimer: Timer | undefined;
  /** Whether the renderer gets no further work. */
  #isRetiring = false;
  #isClosing = false;
  #hasEnded = false;
  /** When the process had loaded its code, ms of the monotonic clock. */
  #loadedMs: number | undefined;

  constructor(parts: PooledRendererParts) {
    const { who, host, layers, reserve, serverHealth, clock, log } = parts;
    this.who = who;
    this.#clock = clock;
    this.host = host;
    let exited = (): void => {};
    this.#exited = new Promise((resolve) => {
      exited = resolve;
    });
    this.#process = host.start(NICE[who], (end) => {
      this.#hasEnded = true;
      this.#watch.end();
      this.#idleTimer?.cancel();
      this.#channel.close(new Error("the renderer has ended"));
      parts.ended(this, end);
      for (const report of this.#lost.keys()) report();
      exited();
    });
    /** Gives up on a killed renderer: if it waits for a hanging file system it ends later. */
    const giveUp = (): void => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      this.#isRetiring = true;
      this.#channel.close(new Error("the renderer does not answer"));
      for (const report of this.#lost.keys()) report();
    };
    const local: RendererNotes = {
      serverHealth: (origin, isUp) => serverHealth(this, origin, isUp),
      reserve,
      early: (id, tiles) => this.reports.get(id)?.(tiles),
    };
    this.#channel = new Channel(this.#process.port, local, RENDERER);
    this.#watch = new ProcessWatch({
      ping: () => this.methods.alive(),
      hung: (ms) => {
        parts.hung();
        log.error("a renderer does not answer and is ended; its renders fail", {
          ...this.place,
          seconds: ms / 1000,
          renders: this.renders,
        });
        this.#process.kill();
        this.#clock.after(GIVE_UP_MS, giveUp).unref();
      },
      pingMs: PING_MS,
      clock,
    });
    this.methods.configure(layers);
    void this.methods
      .alive()
      .then(() => {
        this.#loadedMs = this.#clock.monotonicNow();
      })
      // `ended` reports the end of the process.
      .catch(() => undefined);
  }

  /** The methods of the renderer's process. */
  get methods(): RendererMethods {
    return this.#channel.remote;
  }

  /** The machine that runs the renderer, for the log. */
  get place(): { readonly pid: number } | { readonly node: string | undefined } {
    const { pid } = this.#process;
    return pid === undefined ? { node: this.host.node } : { pid };
  }

  /** The number of renders and other work in progress. */
  get renders(): number {
    return this.#lost.size;
  }

  /** Whether the process is still loading its code, or V8 has not compiled it. */
  get isNew(): boolean {
    return this.#loadedMs === undefined || this.#clock.monotonicNow() - this.#loadedMs < NEW_MS[this.who];
  }

  /** Whether the renderer gets no further work, because it ends. */
  get isRetiring(): boolean {
    return this.#isRetiring;
  }

  /** Whether the process is expected to end. */
  get isAskedToEnd(): boolean {
    return this.#isClosing;
  }

  /** Whether the renderer does not respond, for example because it waits for the file system of a store. */
  get isSilent(): boolean {
    return this.#watch.silentMs > SILENT_MS;
  }

  /** Returns whether work in progress may store tiles of a layer. */
  rendersIn(layer: LayerName): boolean {
    return [...this.#lost.values()].includes(layer);
  }

  kill(): void {
    this.#process.kill();
  }

  /** Resolves when the process has ended. */
  get exited(): Promise<void> {
    return this.#exited;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Runs work in the renderer, and starts its idle timer when no work is left. `layer` is the layer whose tiles the
   * work stores; absent if it stores none.
   */
  async work<T>(work: (renderer: this, died: Promise<void>) => Promise<T>, layer?: LayerName): Promise<T> {
    this.#idleTimer?.cancel();
    let report = () => {};
    const died = new Promise<void>((resolve) => {
      report = resolve;
    });
    this.#lost.set(report, layer);
    this.#watch.begin();
    try {
      return await work(this, died);
    } finally {
      this.#lost.delete(report);
      if (this.#lost.size === 0 && !this.#hasEnded) {
        this.#watch.end();
        if (this.#isRetiring) void this.close();
        this.#idleTimer = this.#clock.after(IDLE_MS, () => void this.close());
        this.#idleTimer.unref();
      }
    }
  }

  /** Ends the renderer after its current work. Resolves when it has ended. */
  async retire(): Promise<void> {
    this.#isRetiring = true;
    if (this.#lost.size === 0) await this.close();
    else await this.#exited;
  }

  /** Ends the renderer. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#isRetiring = true;
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#idleTimer?.cancel();
      this.methods.close();
      const timer = this.#clock.after(CLOSE_MS, () => this.#process.kill());
      void this.#exited.then(() => timer.cancel());
    }
    await this.#exited;
  }
}
