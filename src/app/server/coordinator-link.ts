import { Worker } from "node:worker_threads";
import { Channel } from "../../lib/process/channel.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { Message, Port } from "../../lib/process/message.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import { atMost } from "../../lib/time/at-most.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { CoordinatorData } from "../coordinator/coordinator-host.ts";
import { works } from "../process/busy-threads.ts";
import {
  COORDINATOR,
  type CoordinatorMethods,
  SERVER_PARTS,
  type ServerMethods,
  type ServerPartMethods,
} from "../process/process-methods.ts";

const END_MS = 5_000;
const EXIT_MS = 100;

/** The thread of a coordinator, as its link uses it. */
export interface CoordinatorThread extends Port {
  postMessage(message: Message | CoordinatorData): void;
  on(event: "message", listener: (message: Message) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "exit", listener: () => void): unknown;
  once(event: "exit", listener: () => void): unknown;
  terminate(): Promise<unknown>;
}

/** Ends this process with a failure, after a time in which the log can be written. */
export function exitAfterFault(clock: Clock): void {
  process.exitCode = 1;
  clock.after(EXIT_MS, () => process.exit(1));
}

/** Starts a coordinator's thread. The thread loads its code and waits for a `CoordinatorLink`. */
export const startCoordinatorThread = (): Worker => new Worker(new URL("./coordinator-thread.cjs", import.meta.url));

/** The coordinator's thread, and the channel to it. */
export class CoordinatorLink {
  readonly #channel: Channel<CoordinatorMethods>;
  readonly #worker: CoordinatorThread;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #ended: Promise<void>;
  #called: ServerPartMethods | undefined;
  #closing = false;

  /** If the thread ends before `close`, the process ends too, because the server cannot work without it. */
  constructor(thread: CoordinatorThread, data: CoordinatorData, clock: Clock, exit: () => void, log: Logger) {
    this.#clock = clock;
    this.#log = log;
    this.#worker = thread;
    thread.postMessage(data);
    const methods: ServerMethods = {
      ...localMethods(() => this.#called, SERVER_PARTS),
      log: (level, sentence, fields) => log[level](sentence, fields),
    };
    this.#channel = new Channel(this.#worker, methods, COORDINATOR);
    this.#worker.on("error", (error) =>
      log.error("the coordinator failed", { error: String(error), stack: error.stack }),
    );
    this.#ended = new Promise<void>((resolve) => {
      this.#worker.on("exit", () => {
        this.#channel.close(new Error("the coordinator has ended"));
        if (!this.#closing) {
          log.error("the coordinator has ended; the server cannot continue");
          exit();
        }
        resolve();
      });
    });
  }

  /** The methods of the coordinator. */
  get methods(): CoordinatorMethods {
    return this.#channel.remote;
  }

  /**
   * Serves the coordinator's calls from now on. Called once, before `claim`. The coordinator makes no call before
   * `claim`.
   */
  attach(called: ServerPartMethods): void {
    this.#called = called;
  }

  /** From now on the thread may end without ending the process. */
  expectEnd(): void {
    this.#closing = true;
  }

  /** Whether the thread is expected to end. */
  get isClosing(): boolean {
    return this.#closing;
  }

  /** Stops the jobs within the time. The coordinator still counts tiles that are being written. */
  stop(graceMs: number): Promise<void> {
    return this.methods.stop(graceMs).catch((error: unknown) => this.#notClosed(error));
  }

  /** Writes the ledger, and releases the database and the lock of the data directory. */
  releaseState(): Promise<void> {
    return this.methods.close().catch((error: unknown) => this.#notClosed(error));
  }

  #notClosed(error: unknown): void {
    this.#log.error("the coordinator cannot be closed in order", { error: String(error) });
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    this.#closing = true;
    works(this.#worker);
    // A coordinator that hangs in a store or in the database must not keep the server from ending.
    await atMost(
      this.#clock,
      END_MS,
      this.#worker.terminate().then(() => this.#ended),
    );
  }
}
