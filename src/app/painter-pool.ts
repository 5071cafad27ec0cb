import { type ChildProcess, fork } from "node:child_process";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { Reserve } from "../cache/admission.ts";
import type { DrawOrder } from "../cache/draw.ts";
import type { UserRender } from "../cache/missed-tile-first.ts";
import type { AskingUser, InfoResult, MapRefused, Painters, PaintResult } from "../cache/painters.ts";
import type { Composed, Composition } from "../image/compose.ts";
import type { Layer } from "../layer/layer.ts";
import { Channel, portOfProcess } from "../lib/channel.ts";
import type { Logger } from "../lib/logger.ts";
import type { Question } from "../source/source.ts";
import { MapQueue } from "./map-queue.ts";
import type { PainterData, PainterMethods, PainterNotes } from "./painter-process.ts";
import { ProcessWatch } from "./process-watch.ts";

/** A painter without work for this long ends: its memory goes with it, all of it, as it is a process. */
const IDLE_MS = 60_000;

/**
 * Nice values. Hits come first: they take microseconds, a draw takes milliseconds. Beside others that want its processor a
 * process gets a third of what they get with 5, a ninth with 10.
 */
const NICE = { user: 5, map: 10, job: 10 } as const;

/** What a painter works for: users who miss tiles, maps that are put together of tiles, or jobs. */
type Work = keyof typeof NICE;

const LOST: PaintResult = { kind: "lost" };

interface Painter {
  readonly who: Work;
  readonly process: ChildProcess;
  readonly channel: Channel<PainterNotes, PainterMethods>;
  /** Servers that it has seen to be down, by their origins. */
  readonly down: Set<string>;
  /** Of users' renders that it works on. */
  readonly reports: Map<number, UserRender["report"]>;
  /** Draws it works on; each is answered "lost" should it die. */
  readonly lost: Set<() => void>;
  readonly watch: ProcessWatch;
  idleTimer: NodeJS.Timeout | undefined;
  closing: boolean;
}

/**
 * Painter processes: started by the first draw, one per core at most for users, as many for jobs and half as many for maps
 * that are put together of tiles, so that those are in nobody's way; ended after an idle minute. While users read tiles, jobs leave a core to them: on a machine whose cores are all drawing, every hit waits
 * for the scheduler, whatever the priorities.
 */
export class PainterPool implements Painters {
  readonly #data: Omit<PainterData, "layers">;
  readonly #log: Logger;
  readonly #max: number;
  readonly #maps: MapQueue;
  readonly #usersActive: () => boolean;
  readonly #atRest: () => void;
  readonly #reserve: Reserve;
  readonly #painters = new Set<Painter>();
  #layers: readonly Layer[];
  #nextRender = 1;
  /** Painters that did not answer any more and were ended, since the start. */
  hung = 0;

  constructor(parts: {
    readonly data: PainterData;
    readonly max: number;
    /** Tiles are being read. */
    readonly usersActive: () => boolean;
    /** The last painter has ended. */
    readonly atRest: () => void;
    readonly reserve: Reserve;
    readonly log: Logger;
  }) {
    const { layers, ...data } = parts.data;
    this.#data = data;
    this.#layers = layers;
    this.#max = parts.max;
    this.#maps = new MapQueue(Math.max(1, Math.floor(parts.max / 2)));
    this.#usersActive = parts.usersActive;
    this.#atRest = parts.atRest;
    this.#reserve = parts.reserve;
    this.#log = parts.log;
  }

  #start(who: Work): Painter {
    const child = fork(fileURLToPath(new URL("./painter-process.js", import.meta.url)), {
      serialization: "advanced",
      // What it has to say goes over the channel; stderr is for a crash.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    // Now, as its threads will take it over.
    if (child.pid !== undefined) setPriority(child.pid, NICE[who]);
    const down = new Set<string>();
    const reports: Painter["reports"] = new Map();
    const channel = new Channel<PainterNotes, PainterMethods>(portOfProcess(child), {
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
    const painter: Painter = {
      who,
      process: child,
      channel,
      down,
      reports,
      lost: new Set(),
      watch: new ProcessWatch({
        ask: () => channel.call("alive"),
        hung: (ms) => {
          this.hung++;
          this.#log.error("a painter does not answer and is ended; its renders are given up", {
            pid: child.pid,
            seconds: ms / 1000,
            renders: painter.lost.size,
          });
          child.kill("SIGKILL");
        },
      }),
      idleTimer: undefined,
      closing: false,
    };
    channel.note("begin", [{ ...this.#data, layers: this.#layers }]);
    const gone = (): void => {
      this.#painters.delete(painter);
      painter.watch.end();
      clearTimeout(painter.idleTimer);
      channel.close(new Error("the painter has ended"));
      for (const tell of painter.lost) tell();
      if (this.#painters.size === 0) this.#atRest();
    };
    child.on("error", (error) => {
      this.#log.error("a painter cannot be started", { error: String(error) });
      if (child.pid === undefined) gone();
    });
    child.on("exit", (code, signal) => {
      if (!painter.closing) this.#log.error("a painter ended unexpectedly", { code, signal });
      gone();
    });
    this.#painters.add(painter);
    return painter;
  }

  /** The one with the least to do; a new one while all have something to do. */
  #choose(who: Work): Painter {
    const max =
      who === "map"
        ? this.#maps.concurrency
        : who === "job" && this.#usersActive()
          ? Math.max(1, this.#max - 1)
          : this.#max;
    let best: Painter | undefined;
    let painters = 0;
    for (const painter of this.#painters) {
      if (painter.closing || painter.who !== who) continue;
      if (painters++ === max) break;
      if (best === undefined || painter.lost.size < best.lost.size) best = painter;
    }
    if (best === undefined || (best.lost.size > 0 && painters < max)) return this.#start(who);
    return best;
  }

  async paint(
    order: DrawOrder,
    generation: number,
    user: AskingUser | undefined,
    signal: AbortSignal,
  ): Promise<PaintResult> {
    if (signal.aborted) return { kind: "cancelled" };
    if (user === undefined)
      return this.#draw("job", order, LOST, ({ channel }) =>
        channel.callUntil(signal, "paint", order, generation, undefined),
      );
    const { missed, reservation } = user;
    const id = this.#nextRender++;
    return this.#draw("user", order, LOST, async ({ channel, reports }) => {
      reports.set(id, user.report);
      const asked = { id, missed, needsPermit: reservation !== undefined };
      const painted = channel.callUntil(signal, "paint", order, generation, asked);
      // It comes after its order: nothing is sent later in this turn.
      void reservation?.then((number) => channel.note("permit", [id, number]));
      return painted.finally(() => reports.delete(id));
    });
  }

  async paintRun(
    orders: readonly DrawOrder[],
    generation: number,
    signal: AbortSignal,
  ): Promise<readonly PaintResult[]> {
    const [first] = orders;
    if (first === undefined || signal.aborted) return [];
    const lost = orders.map(() => LOST);
    return this.#draw("job", first, lost, ({ channel }) => channel.callUntil(signal, "paintRun", orders, generation));
  }

  /** `lost`: what is answered for a painter that died, or did not understand. */
  #draw<T>(who: "user" | "job", { tileSet }: DrawOrder, lost: T, ask: (painter: Painter) => Promise<T>): Promise<T> {
    return this.#busy(who, async (painter, died) => {
      // A painter that died answers nothing: its own promise is then rejected, and `died` has won.
      const answer = ask(painter).catch((error: unknown) => {
        this.#log.error("a draw failed by a fault", { layer: tileSet.layer, error: String(error) });
        return lost;
      });
      return await Promise.race([died.then(() => lost), answer]);
    });
  }

  ask(layer: string, question: Question, signal: AbortSignal): Promise<InfoResult> {
    return this.#busy("user", ({ channel }) =>
      channel.callUntil(signal, "ask", layer, question).catch((error: unknown) => {
        this.#log.error("a question to an upstream failed by a fault", { layer, error: String(error) });
        return { kind: "lost" } as const;
      }),
    );
  }

  sweep(signal: AbortSignal): Promise<void> {
    return this.#busy("job", ({ channel }) => channel.callUntil(signal, "sweep"));
  }

  compose(composition: Composition, signal: AbortSignal): Promise<Composed | MapRefused> {
    return this.#maps.add(
      (within) => this.#busy("map", ({ channel }) => channel.callUntil(within, "compose", composition)),
      signal,
    );
  }

  /** Has a painter do something, and lets it end when it has had nothing to do for long. */
  async #busy<T>(who: Work, work: (painter: Painter, died: Promise<void>) => Promise<T>): Promise<T> {
    const painter = this.#choose(who);
    clearTimeout(painter.idleTimer);
    let tell = () => {};
    const died = new Promise<void>((resolve) => {
      tell = resolve;
    });
    painter.lost.add(tell);
    painter.watch.begin();
    try {
      return await work(painter, died);
    } finally {
      painter.lost.delete(tell);
      if (painter.lost.size === 0) {
        painter.watch.end();
        painter.idleTimer = setTimeout(() => void this.#end(painter), IDLE_MS);
        painter.idleTimer.unref();
      }
    }
  }

  async settle(layer: string, generation: number): Promise<void> {
    // One without work writes nothing, and its next draw is of this generation or a later one.
    const atWork = [...this.#painters].filter(({ lost }) => lost.size > 0);
    if (atWork.length === 0) return;
    await Promise.all(atWork.map(({ channel }) => channel.call("settle", layer, generation).catch(() => undefined)));
    // Answers to draws came before these: whoever waits for one has had its turn then.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Whether a painter knows a server to be down that another of its source may stand in for. */
  isDown(origin: string): boolean {
    return [...this.#painters].some(({ down }) => down.has(origin));
  }

  configure(layers: readonly Layer[]): void {
    this.#layers = layers;
    for (const painter of this.#painters) painter.channel.note("configure", [layers]);
  }

  async #end(painter: Painter): Promise<void> {
    if (painter.closing) return;
    painter.closing = true;
    clearTimeout(painter.idleTimer);
    const exited = new Promise((resolve) => painter.process.once("exit", resolve));
    painter.channel.note("close", []);
    const timer = setTimeout(() => void painter.process.kill("SIGKILL"), 5_000);
    await exited;
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#painters].map((painter) => this.#end(painter)));
  }
}
