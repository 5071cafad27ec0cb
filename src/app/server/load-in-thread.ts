import { Worker } from "node:worker_threads";
import type { Configuration } from "../../configuration/configuration.ts";
import type { ConfigurationInput } from "../../configuration/configuration-input.ts";
import type { ConfigurationProblem } from "../../configuration/problem.ts";
import { type Result, refuse } from "../../lib/result.ts";
import type { Clock, Timer } from "../../lib/time/clock.ts";
import { LATE, unlessLate } from "../../lib/time/late.ts";
import { rests, works } from "../process/busy-threads.ts";
import { nextMessage } from "../process/thread-message.ts";

export type LoadInput = Omit<ConfigurationInput, "env">;
type Loaded = Result<Configuration, readonly ConfigurationProblem[]>;

/**
 * A thread without work ends after this time. A program that changes many layers thus uses one thread for all changes.
 */
const IDLE_MS = 5_000;

/** Loading thousands of layers takes seconds. A file or a library that hangs must not delay later changes longer. */
const LIMIT_MS = 60_000;

/** The idle thread, and the timer that will end it. */
let waiting: { readonly worker: Worker; readonly timer: Timer } | undefined;

/**
 * Loads a configuration in a thread, with the variables of this process. A file with many layers takes seconds, during
 * which the server must serve tiles.
 */
export async function loadInThread(input: LoadInput, clock: Clock): Promise<Loaded> {
  const worker = waiting?.worker ?? new Worker(new URL("./load-thread.cjs", import.meta.url));
  waiting?.timer?.cancel();
  waiting = undefined;
  // The thread must not keep a server from closing.
  worker.unref();
  try {
    const next = nextMessage<Loaded>(worker);
    worker.postMessage(input);
    works(worker);
    const loaded = await unlessLate(clock, next, LIMIT_MS);
    if (loaded === LATE) {
      void worker.terminate();
      const message = `the configuration was not read within ${LIMIT_MS / 1000} seconds: a file that it names may be on a disk that does not answer`;
      return refuse([{ file: input.flags["config"] ?? "the configuration", path: "", message }]);
    }
    rests(worker);
    if (waiting === undefined) keep(worker, clock);
    else void worker.terminate();
    return loaded;
  } catch (error) {
    void worker.terminate();
    throw error;
  }
}

function keep(worker: Worker, clock: Clock): void {
  const timer = clock.after(IDLE_MS, () => {
    if (waiting?.worker === worker) waiting = undefined;
    void worker.terminate();
  });
  timer.unref();
  waiting = { worker, timer };
}
