import { Worker } from "node:worker_threads";
import type { Configuration } from "../config/configuration.ts";
import type { ConfigurationInput } from "../config/configuration-input.ts";
import type { ConfigurationProblem } from "../config/problem.ts";
import type { Result } from "../lib/result.ts";
import { nextMessage } from "./thread-message.ts";

export type LoadInput = Omit<ConfigurationInput, "env">;
type Loaded = Result<Configuration, readonly ConfigurationProblem[]>;

/** A thread without work ends after this time: a program that changes many layers does not start one for each. */
const IDLE_MS = 5_000;

/** The idle thread, and the timer that ends it. */
let waiting: { readonly worker: Worker; readonly timer: NodeJS.Timeout } | undefined;

/**
 * Loads a configuration in a thread of its own, with the variables of this process: a file of many layers takes seconds,
 * in which the server serves tiles.
 */
export async function loadInThread(input: LoadInput): Promise<Loaded> {
  const worker = waiting?.worker ?? new Worker(new URL("./load-thread.js", import.meta.url));
  clearTimeout(waiting?.timer);
  waiting = undefined;
  // The thread does not keep a server from closing.
  worker.unref();
  try {
    const next = nextMessage<Loaded>(worker);
    worker.postMessage(input);
    const loaded = await next;
    if (waiting === undefined) keep(worker);
    else void worker.terminate();
    return loaded;
  } catch (error) {
    void worker.terminate();
    throw error;
  }
}

function keep(worker: Worker): void {
  const timer = setTimeout(() => {
    if (waiting?.worker === worker) waiting = undefined;
    void worker.terminate();
  }, IDLE_MS);
  timer.unref();
  waiting = { worker, timer };
}
