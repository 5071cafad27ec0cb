import { fork } from "node:child_process";
import { availableParallelism, getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { Logger } from "../../../lib/process/logger.ts";
import { type Port, portOfProcess } from "../../../lib/process/message.ts";
import { notesTo } from "../../../lib/process/method-table.ts";
import type { StoreNews } from "../../../store/store-news.ts";
import type { StoreOptions } from "../../../store/store-options.ts";
import type { NewsMember, StoreNewsExchange } from "../../process/store-news-exchange.ts";
import { RENDERER, type RendererNews, type RendererOwner } from "../../renderer/renderer-methods.ts";
import type { RendererEnd, RendererHost, RendererProcess } from "./renderer-host.ts";

const MOST = 16;
/**
 * A small young generation, in MiB. The pixels of a metatile are outside of V8's heap, and the next scavenge frees
 * them. With V8's default of 16 MiB scavenges are rare, so V8 collects the whole heap because of the pixels: a seeded
 * metatile then takes 8 % more CPU.
 */
const YOUNG_MIB = 2;

const STORE_NEWS: keyof RendererNews = "storeNews";

/** The program of a renderer, beside the bundle of the server. */
const PROGRAM = fileURLToPath(new URL("./renderer-process.cjs", import.meta.url));

/** Starts the processes of renderers on a machine. */
export interface RendererProcesses {
  /** As `RendererHost.most`. */
  readonly most: number;
  /** @param ended called once */
  start(nice: number, ended: (end: RendererEnd) => void): RendererProcess;
}

/** Starts renderers as children of this process. */
export class ForkedRenderers implements RendererProcesses {
  readonly most = Math.min(availableParallelism(), MOST);
  readonly #log: Logger;
  readonly #program: string;
  #mayLower = true;

  constructor(log: Logger, program = PROGRAM) {
    this.#log = log;
    this.#program = program;
  }

  start(nice: number, ended: (end: RendererEnd) => void): RendererProcess {
    const child = fork(this.#program, {
      serialization: "advanced",
      execArgv: [...process.execArgv, `--max-semi-space-size=${YOUNG_MIB}`],
      // The renderer reports over the channel. stderr is for a crash.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    // Set the priority now, because threads of the process inherit it.
    if (child.pid !== undefined) this.#lower(child.pid, nice);
    let hasEnded = false;
    const end = (how: RendererEnd): void => {
      if (hasEnded) return;
      hasEnded = true;
      ended(how);
    };
    child.on("error", (error) => {
      if (child.pid === undefined) end({ kind: "not_started", error: String(error) });
    });
    child.on("exit", (code, signal) => end({ kind: "exited", code, signal }));
    return { port: portOfProcess(child), pid: child.pid, kill: () => void child.kill("SIGKILL") };
  }

  /** Lowers the priority of a process. A server that was started with `nice` must not raise it. */
  #lower(pid: number, nice: number): void {
    if (!this.#mayLower) return;
    try {
      setPriority(pid, Math.max(nice, getPriority()));
    } catch (error) {
      // A sandbox may forbid the call. Rendering matters more than priority.
      this.#mayLower = false;
      this.#log.warn("renderers have the priority of the server, which may not lower it", { error: String(error) });
    }
  }
}

/** The renderers of this machine. They share the news about remote stores with each other. */
export class LocalRenderers implements RendererHost {
  readonly node: string | undefined;
  readonly most: number;
  readonly #ports = new Set<Port>();
  readonly #news: NewsMember;
  readonly #processes: RendererProcesses;
  #owner: RendererOwner;

  constructor(
    owner: Omit<RendererOwner, "parentPid" | "storesAway">,
    node: string | undefined,
    storeNews: StoreNewsExchange,
    processes: RendererProcesses,
  ) {
    this.#processes = processes;
    this.most = processes.most;
    this.#owner = { ...owner, parentPid: process.pid, storesAway: [] };
    this.#news = storeNews.join((news) => this.#tellStores(news, undefined));
    this.node = node;
  }

  start(nice: number, ended: (end: RendererEnd) => void): RendererProcess {
    const process = this.#processes.start(nice, (end) => {
      this.#ports.delete(port);
      ended(end);
    });
    const found = (news: StoreNews): void => {
      this.#tellStores(news, port);
      this.#news.found(news);
    };
    // The news concern this machine, but the pool of the renderer may be on another machine.
    const port: Port = withoutStoreNews(process.port, found);
    this.#ports.add(port);
    notesTo(port, RENDERER).own(this.#owner);
    return { ...process, port };
  }

  /**
   * Sends news to all other renderers. Renderers that start later get it with their first message. `from` has sent the
   * news.
   */
  #tellStores(news: StoreNews, from: Port | undefined): void {
    const others = this.#owner.storesAway.filter(({ store }) => store !== news.store);
    this.#owner = { ...this.#owner, storesAway: news.away === null ? others : [...others, news] };
    for (const port of this.#ports) if (port !== from) notesTo(port, RENDERER).storeNews(news);
  }

  /** Stores nothing after this time of `Clock.machineNow`. */
  storesUntil(ms: number): void {
    this.#owner = { ...this.#owner, storesUntilMs: ms };
    for (const port of this.#ports) notesTo(port, RENDERER).storesUntil(ms);
  }

  /** Replaces the stores. The renderers use them from the next `configure` on. */
  configureStores(stores: readonly StoreOptions[]): void {
    this.#owner = { ...this.#owner, stores };
    for (const port of this.#ports) notesTo(port, RENDERER).configureStores(stores);
  }
}

/** Returns a port without the notes `storeNews`. These notes go to `taken`. */
const withoutStoreNews = (port: Port, taken: RendererNews["storeNews"]): Port => ({
  postMessage: (message) => port.postMessage(message),
  on: (event, listener) =>
    port.on(event, (message) => {
      if (message.kind === "note" && message.method === STORE_NEWS) Reflect.apply(taken, undefined, message.args);
      else listener(message);
    }),
});
