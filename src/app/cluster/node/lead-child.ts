import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Channel } from "../../../lib/process/channel.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import { portOfProcess } from "../../../lib/process/message.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { StartRefusal } from "../../process/process-methods.ts";
import type { StoreNewsExchange } from "../../process/store-news-exchange.ts";
import { LEAD_PROCESS, type LeadData, type LeadParentMethods, type LeadProcessMethods } from "../link/lead-methods.ts";

/** Time for the process to end in order, with the renders in flight. */
const CLOSE_MS = 25_000;

/** The lead's process, started and ended by its node. */
export class LeadChild {
  readonly #process: ChildProcess;
  readonly #methods: LeadProcessMethods;
  readonly #ended: Promise<void>;
  readonly #clock: Clock;
  #isClosing = false;

  constructor(
    data: LeadData,
    node: { refused(refusal: StartRefusal): void; ended(): void },
    storeNews: StoreNewsExchange,
    clock: Clock,
    log: Logger,
  ) {
    this.#clock = clock;
    const child = fork(fileURLToPath(new URL("./lead-process.cjs", import.meta.url)), {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#process = child;
    const local: LeadParentMethods = {
      refused: (refusal) => node.refused(refusal),
      storeNews: (found) => news.found(found),
    };
    this.#methods = new Channel(portOfProcess(child), local, LEAD_PROCESS).remote;
    child.on("error", (error) => log.error("the process of the lead cannot be started", { error: String(error) }));
    this.#ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        if (!this.#isClosing) log.error("the process of the lead has ended", { code, signal });
        news.leave();
        node.ended();
        resolve();
      });
    });
    this.#methods.begin(data);
    const news = storeNews.join((told) => this.#methods.storeNews(told));
  }

  /** Ends the lead in order. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#methods.close();
    const late = this.#clock.after(CLOSE_MS, () => this.#process.kill("SIGKILL"));
    await this.#ended;
    late.cancel();
  }
}
