import { Worker } from "node:worker_threads";
import type { Configuration } from "../config/configuration.ts";
import type { ConfigurationInput } from "../config/load.ts";
import type { ConfigurationProblem } from "../config/problem.ts";
import type { Result } from "../lib/result.ts";
import { messageOf } from "./message-of.ts";

export type LoadInput = Omit<ConfigurationInput, "env">;

/**
 * Loads a configuration in a thread of its own, with the variables of this process: a file of many layers takes seconds,
 * in which the server serves tiles.
 */
export function loadInThread(input: LoadInput): Promise<Result<Configuration, readonly ConfigurationProblem[]>> {
  return messageOf(new Worker(new URL("./load-thread.js", import.meta.url), { workerData: input }));
}
