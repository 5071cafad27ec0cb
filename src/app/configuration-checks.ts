import { Worker } from "node:worker_threads";
import PQueue from "p-queue";
import type { TextReport } from "../config/load.ts";
import type { ConfigurationProblem } from "../config/problem.ts";
import type { CheckedProblem } from "../http/resource.ts";
import { codeOf } from "../lib/error-code.ts";
import { suggestionOf } from "../lib/nearest.ts";

/** The name of the text in the problems of a check. */
export const CHECKED_FILE = "nuthatch.yaml";
const LIMIT_MS = 10_000;
const MAX_HEAP_MB = 256;

/** Checks texts of configurations in a thread without variables of the environment, one text at a time. */
export class ConfigurationChecks {
  readonly #turns = new PQueue({ concurrency: 1 });

  /** Returns the problems of a text. A check that takes too much time or memory is ended, and is a problem too. */
  check(text: Uint8Array): Promise<readonly CheckedProblem[]> {
    return this.#turns.add(async () => {
      const { problems, warnings } = await reportOf(text);
      return [...problems.map(withSeverity("error")), ...warnings.map(withSeverity("warning"))];
    });
  }
}

function reportOf(text: Uint8Array): Promise<TextReport> {
  const worker = new Worker(new URL("./check-thread.js", import.meta.url), {
    workerData: text,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  // A check does not keep a server from closing.
  worker.unref();
  const unchecked = (why: string): TextReport => ({
    problems: [{ file: CHECKED_FILE, path: "", message: `this text cannot be checked: ${why}` }],
    warnings: [],
  });
  return new Promise<TextReport>((resolve, reject) => {
    const timer = setTimeout(
      () => resolve(unchecked(`the check takes more than ${LIMIT_MS / 1000} seconds`)),
      LIMIT_MS,
    ).unref();
    worker.once("message", resolve);
    worker.once("error", (error) => {
      if (codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY") resolve(unchecked("the check takes too much memory"));
      else if (error instanceof RangeError) resolve(unchecked("it is nested too deeply"));
      else reject(error);
    });
    worker.once("exit", (code) => {
      clearTimeout(timer);
      reject(new Error(`the thread of the check has ended with ${code}`));
    });
  }).finally(() => worker.terminate());
}

const withSeverity =
  (severity: CheckedProblem["severity"]) =>
  ({ file, line, column, path, message }: ConfigurationProblem): CheckedProblem => ({
    file,
    line: line ?? null,
    column: column ?? null,
    path,
    message,
    suggestion: suggestionOf(message),
    severity,
  });
