import cluster, { type Worker } from "node:cluster";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { type Accounts, NO_ACCOUNTS } from "../account/account-service.ts";
import { type StoreTierView, sumOfTiers } from "../cache/disk-tier-view.ts";
import { addTileCounts, type TileCounts } from "../cache/tile-cache.ts";
import type { Configuration } from "../config/configuration.ts";
import type { ServerEvent } from "../coordinator/server-event.ts";
import type { TileIndex } from "../grid/grid-set.ts";
import { type Readiness, STARTING } from "../http/readiness.ts";
import { addTileTimes, TileTimes } from "../http/tiles/tile-times.ts";
import { addTraffic, noTraffic, type TrafficByLayer, type TrafficCounts } from "../http/tiles/tile-traffic.ts";
import { type BackOff, pauseAfter } from "../lib/back-off.ts";
import { Channel, localMethods, portOfProcess } from "../lib/channel.ts";
import type { Logger } from "../lib/logger.ts";
import type { UserRender } from "../render/user-renders.ts";
import { forwardOperations } from "./operations-channel.ts";
import {
  type HttpServerMethods,
  type HttpWorkerMethods,
  SERVING_CALLS,
  type ServingCalls,
  type ServingData,
  type ServingMetrics,
  type ServingProcesses,
  USER_RENDERS,
} from "./process-methods.ts";
import { ProcessWatch } from "./process-watch.ts";
import type { Core } from "./serving.ts";

interface Member {
  readonly worker: Worker;
  readonly channel: Channel<HttpServerMethods, HttpWorkerMethods>;
}

/** An HTTP worker answers in milliseconds, even while it serves requests. */
const DEADLINE_MS = 10_000;
/**
 * An HTTP worker that has died is replaced after this time. The time doubles with each replacement that cannot serve.
 */
const RESTARTS: BackOff = { firstMs: 500, longestMs: 30_000 };

/**
 * HTTP workers that share one port. Each has its own HTTP interfaces and memory tier. The server alone renders, accounts and
 * manages. Connections are distributed in turn.
 */
export class ServingPool implements ServingProcesses {
  readonly #data: Pick<ServingData, "instance">;
  readonly #log: Logger;
  readonly #methods: Omit<HttpServerMethods, "hello">;
  /** The HTTP workers that have begun. */
  readonly #members = new Set<Member>();
  /** The times of `expireBefore` by layer, for HTTP workers that start later. */
  readonly #expiredBefore = new Map<string, number>();
  readonly #first: readonly Promise<Member>[];
  #configuration: Configuration;
  #readiness: Readiness = STARTING;
  #accounts: Accounts = NO_ACCOUNTS;
  #address: { readonly host: string; readonly port: number } | undefined;
  #closing = false;
  /** Replacements that could not serve since the last one that could. */
  #failures = 0;

  constructor(configuration: Configuration, data: Pick<ServingData, "instance">, core: Core, log: Logger) {
    this.#configuration = configuration;
    this.#data = data;
    this.#log = log;
    this.#methods = {
      ...forwardOperations(core.operations, { applied: () => this.#allApplied() }),
      ...localMethods(() => core.renders, USER_RENDERS),
      ...localMethods<ServingCalls>(() => core, SERVING_CALLS),
      renderForUser: async (order, missed, client, gone) =>
        only(await core.renders.renderForUser(order, missed, client, gone), missed),
    };
    cluster.setupPrimary({
      exec: fileURLToPath(new URL("./http-worker-process.js", import.meta.url)),
      args: [],
      serialization: "advanced",
      // Only the server writes to stdout; stderr is the log.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#first = Array.from({ length: configuration.server.workers }, () => this.#start());
  }

  /**
   * Starts an HTTP worker.
   * @throws Error when the HTTP worker ends before it has begun
   */
  #start(): Promise<Member> {
    return new Promise((resolve, reject) => {
      const worker = cluster.fork();
      const begin = (): void => {
        channel.note("begin", [
          {
            ...this.#data,
            configuration: this.#configuration,
            expiredBefore: this.#expiredBefore,
            readiness: this.#readiness,
            accounts: this.#accounts,
            // An HTTP worker that starts later has not received the earlier events.
            eventsId: this.#address === undefined ? this.#data.instance : randomUUID(),
          },
        ]);
        this.#members.add(member);
        watch.begin();
        resolve(member);
      };
      const hello = (): void => void channel.call("prepare", this.#configuration.stores).then(begin, reject);
      const channel = new Channel<HttpServerMethods, HttpWorkerMethods>(portOfProcess(worker.process), {
        ...this.#methods,
        hello,
      });
      const member: Member = { worker, channel };
      // A stopped process would block its clients and every change, and would later serve outdated tiles.
      const watch = new ProcessWatch({
        ping: () => channel.call("applied"),
        deadlineMs: DEADLINE_MS,
        hung: (ms) => {
          const { pid } = worker.process;
          this.#log.error("an HTTP worker does not answer and is ended", { pid, seconds: ms / 1000 });
          worker.process.kill("SIGKILL");
        },
      });
      worker.on("exit", (code, signal) => {
        watch.end();
        const gone = new Error(`an HTTP worker ended with ${signal ?? code}`);
        this.#members.delete(member);
        channel.close(gone);
        reject(gone);
        if (this.#closing) return;
        this.#log.error("an HTTP worker ended unexpectedly", { code, signal });
        const address = this.#address;
        if (address === undefined) return;
        setTimeout(() => void this.#replace(address), pauseAfter(this.#failures + 1, RESTARTS)).unref();
      });
    });
  }

  /**
   * Replaces an HTTP worker. A replacement that cannot listen, because another program has the port, is ended. Every
   * exit is followed by another replacement.
   */
  async #replace({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
    if (this.#closing) return;
    let started: Member | undefined;
    try {
      started = await this.#start();
      await started.channel.call("listen", host, port);
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      this.#log.error("an HTTP worker cannot serve", { error: String(error) });
      started?.worker.process.kill("SIGKILL");
    }
  }

  #all<T>(call: (member: Member) => Promise<T>): Promise<(T | undefined)[]> {
    // An HTTP worker that dies loses its memory tier, so it has no change to apply.
    return Promise.all([...this.#members].map((member) => call(member).catch(() => undefined)));
  }

  publish(event: ServerEvent): void {
    for (const { channel } of this.#members) channel.note("publish", [event]);
  }

  setAccounts(accounts: Accounts): void {
    this.#accounts = accounts;
    for (const { channel } of this.#members) channel.note("setAccounts", [accounts]);
  }

  async metrics(): Promise<ServingMetrics> {
    const tiles = new Map<string, TileCounts>();
    let times = new TileTimes().view();
    const diskTiers: StoreTierView[] = [];
    const sum = { memory: { tiles: 0, bytes: 0, limitBytes: 0 }, maps: 0, listeners: 0 };
    for (const one of await this.#all(({ channel }) => channel.call("metrics"))) {
      if (one === undefined) continue;
      addTileCounts(tiles, one.tiles);
      times = addTileTimes(times, one.times);
      sum.memory.tiles += one.memory.tiles;
      sum.memory.bytes += one.memory.bytes;
      sum.memory.limitBytes += one.memory.limitBytes;
      diskTiers.push(...one.diskTiers);
      sum.maps += one.maps;
      sum.listeners += one.listeners;
    }
    return { ...sum, tiles, times, diskTiers: sumOfTiers(diskTiers) };
  }

  async collectTraffic(): Promise<TrafficByLayer> {
    const sums = new Map<string, TrafficCounts>();
    for (const one of await this.#all(({ channel }) => channel.call("collectTraffic")))
      for (const [layer, counts] of one ?? []) {
        const sum = sums.get(layer) ?? noTraffic();
        addTraffic(sum, counts);
        sums.set(layer, sum);
      }
    return sums;
  }

  clear(layer: string): void {
    for (const { channel } of this.#members) channel.note("clear", [layer]);
  }

  remove(keys: readonly string[]): void {
    for (const { channel } of this.#members) channel.note("remove", [keys]);
  }

  expireBefore(layer: string, beforeMs: number): void {
    this.#expiredBefore.set(layer, beforeMs);
    for (const { channel } of this.#members) channel.note("expireBefore", [layer, beforeMs]);
  }

  /** Waits until all HTTP workers have applied the changes before, so that an answer is true of all of them. */
  async #allApplied(): Promise<void> {
    await this.#all(({ channel }) => channel.call("applied"));
  }

  async configure(configuration: Configuration): Promise<void> {
    this.#configuration = configuration;
    await this.#all(({ channel }) => channel.call("configure", configuration));
  }

  async ready(readiness: Readiness): Promise<void> {
    this.#readiness = readiness;
    await this.#all(({ channel }) => channel.call("ready", readiness));
  }

  /**
   * Listens on the address with all HTTP workers.
   * @throws Error when the address is not available
   */
  async listen(host: string, port: number): Promise<{ readonly port: number }> {
    const listening = this.#first.map(async (begun) => (await begun).channel.call("listen", host, port));
    const [first] = await Promise.all(listening);
    if (first === undefined) throw new Error("there is no HTTP worker");
    this.#address = { host, port: first.port };
    return first;
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const gone = [...this.#members].map(({ worker }) => new Promise((resolve) => worker.once("exit", resolve)));
    const timer = setTimeout(() => {
      for (const { worker } of this.#members) worker.process.kill("SIGKILL");
    }, graceMs + 5_000);
    await Promise.all([...this.#members].map(({ channel }) => channel.call("close", graceMs).catch(() => undefined)));
    await Promise.all(gone);
    clearTimeout(timer);
  }
}

/** Removes all tiles but the requested one from a render, as processes exchange no others. */
const only = (rendered: UserRender, { x, y }: TileIndex): UserRender =>
  rendered.kind === "rendered"
    ? { ...rendered, tiles: rendered.tiles.filter((t) => t.x === x && t.y === y) }
    : rendered;
