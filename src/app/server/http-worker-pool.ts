import cluster, { type Worker } from "node:cluster";
import { fileURLToPath } from "node:url";
import { Channel } from "../../lib/process/channel.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { portOfProcess } from "../../lib/process/message.ts";
import type { Random } from "../../lib/random/random.ts";
import { type BackOff, pauseAfter } from "../../lib/time/back-off.ts";
import type { Clock } from "../../lib/time/clock.ts";
import {
  type CalledByMembers,
  HTTP_WORKER,
  type HttpServerMethods,
  type HttpWorkerMethods,
  type ServingData,
  type ServingProcesses,
} from "../process/process-methods.ts";
import type { NewsMember, StoreNewsExchange } from "../process/store-news-exchange.ts";
import { ProcessWatch } from "./renderers/process-watch.ts";
import { methodsForMembers, ServingMembers } from "./serving-members.ts";

interface Member {
  readonly worker: Worker;
  readonly methods: HttpWorkerMethods;
}

export interface HttpWorkerPoolParts extends Pick<ServingData, "configuration" | "instance"> {
  readonly core: CalledByMembers;
  readonly storeNews: StoreNewsExchange;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The time after which a silent HTTP worker counts as hung. It normally responds in milliseconds. */
const DEADLINE_MS = 10_000;
/** The pause before a dead HTTP worker is replaced. Doubles with each replacement that cannot serve. */
const RESTARTS: BackOff = { firstMs: 500, longestMs: 30_000 };

/**
 * HTTP workers that share one port. Each has its own HTTP interfaces and memory tier. Only the server renders, accounts
 * and manages. Connections are distributed in turn.
 */
export class HttpWorkerPool extends ServingMembers implements ServingProcesses {
  readonly #parts: HttpWorkerPoolParts;
  readonly #methods: CalledByMembers;
  /** The HTTP workers that have started. */
  readonly #members = new Set<Member>();
  readonly #first: readonly Promise<Member>[];
  #address: { readonly host: string; readonly port: number } | undefined;
  #closing = false;
  /** The number of consecutive replacements that could not serve. */
  #failures = 0;

  constructor(parts: HttpWorkerPoolParts) {
    const { configuration, core } = parts;
    super(configuration, parts.log);
    this.#parts = parts;
    this.#methods = methodsForMembers(core, () => this.applied());
    cluster.setupPrimary({
      exec: fileURLToPath(new URL("./http-worker-process.cjs", import.meta.url)),
      args: [],
      serialization: "advanced",
      // Only the server writes to stdout. stderr is the log.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#first = Array.from({ length: configuration.server.workers }, () => this.#start());
  }

  /**
   * Starts an HTTP worker.
   * @throws Error if the HTTP worker ends before it has started
   */
  #start(): Promise<Member> {
    const { instance, storeNews, clock, random } = this.#parts;
    return new Promise((resolve, reject) => {
      const worker = cluster.fork();
      let news: NewsMember | undefined;
      const begin = (): void => {
        methods.begin({
          instance,
          ...this.state,
          // An HTTP worker that starts later has missed earlier events, so its sequence of events has a new id.
          eventsId: this.#address === undefined ? instance : random.uuid(),
        });
        news = storeNews.join((told) => methods.storeNews(told));
        this.#members.add(member);
        this.addMember(methods, () => worker.process.kill("SIGKILL"));
        watch.begin();
        resolve(member);
      };
      const hello = (): void => void methods.prepare(this.state.configuration.stores).then(begin, reject);
      const local: HttpServerMethods = {
        ...this.#methods,
        hello,
        storeNews: (found) => news?.found(found),
      };
      const channel = new Channel(portOfProcess(worker.process), local, HTTP_WORKER);
      const methods = channel.remote;
      const member: Member = { worker, methods };
      // A stopped process would block its clients and every change, and would later serve outdated tiles.
      const watch = new ProcessWatch({
        ping: () => methods.applied(),
        clock,
        deadlineMs: DEADLINE_MS,
        hung: (ms) => {
          const { pid } = worker.process;
          this.#parts.log.error("an HTTP worker does not answer and is ended", { pid, seconds: ms / 1000 });
          worker.process.kill("SIGKILL");
        },
      });
      worker.on("exit", (code, signal) => {
        watch.end();
        news?.leave();
        const gone = new Error(`an HTTP worker ended with ${signal ?? code}`);
        this.#members.delete(member);
        this.removeMember(methods);
        channel.close(gone);
        reject(gone);
        if (this.#closing) return;
        this.#parts.log.error("an HTTP worker ended unexpectedly", { code, signal });
        const address = this.#address;
        if (address === undefined) return;
        this.#parts.clock.after(pauseAfter(this.#failures + 1, RESTARTS), () => void this.#replace(address)).unref();
      });
    });
  }

  /**
   * Replaces an HTTP worker. Ends a replacement that cannot listen because another program uses the port. Each exit
   * starts another replacement.
   */
  async #replace({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
    if (this.#closing) return;
    let started: Member | undefined;
    try {
      started = await this.#start();
      await started.methods.listen(host, port);
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      this.#parts.log.error("an HTTP worker cannot serve", { error: String(error) });
      started?.worker.process.kill("SIGKILL");
    }
  }

  /**
   * Listens on the address with all HTTP workers.
   * @throws Error if the address is not available
   */
  async listen(host: string, port: number): Promise<{ readonly port: number }> {
    const listening = this.#first.map(async (begun) => (await begun).methods.listen(host, port));
    const [first] = await Promise.all(listening);
    if (first === undefined) throw new Error("there is no HTTP worker");
    this.#address = { host, port: first.port };
    return first;
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const gone = [...this.#members].map(({ worker }) => new Promise((resolve) => worker.once("exit", resolve)));
    const timer = this.#parts.clock.after(graceMs + 5_000, () => {
      for (const { worker } of this.#members) worker.process.kill("SIGKILL");
    });
    const closing = [...this.#members].map(async ({ worker, methods }) => {
      try {
        await methods.close(graceMs);
      } catch (error) {
        if (worker.isDead()) return;
        this.#parts.log.error("an HTTP worker cannot be closed in order", { error: String(error) });
        worker.process.kill("SIGKILL");
      }
    });
    await Promise.all(closing);
    await Promise.all(gone);
    timer.cancel();
  }
}
