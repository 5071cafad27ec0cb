import { Worker } from "node:worker_threads";
import PQueue from "p-queue";
import type { TextReport } from "../../configuration/load.ts";
import type { ConfigurationProblem } from "../../configuration/problem.ts";
import type { Documents } from "../../http/api/documents/documents.ts";
import { codeOf } from "../../lib/error-code.ts";
import { suggestionOf } from "../../lib/text/nearest.ts";
import { atMost } from "../../lib/time/at-most.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { LATE, unlessLate } from "../../lib/time/late.ts";
import { works } from "../process/busy-threads.ts";
import { nextMessage } from "../process/thread-message.ts";

type CheckedProblem = Documents["ConfigurationCheck"]["problems"][number];

/** The name of the text in the problems of a check. */
export const CHECKED_FILE = "nuthatch.yaml";
const LIMIT_MS = 10_000;
const END_MS = 1_000;
const TOO_LONG = `the check takes more than ${LIMIT_MS / 1000} seconds`;
const MAX_HEAP_MB = 256;

/** Checks texts of configurations in a thread without environment variables, one text at a time. */
export class ConfigurationChecks {
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the problems of a text. A check that takes too much time or memory is ended, which is also a problem. */
  check(text: Uint8Array): Promise<readonly CheckedProblem[]> {
    return this.#queue.add(async () => {
      const { problems, warnings } = await reportOf(text, this.#clock);
      return [...problems.map(withSeverity("error")), ...warnings.map(withSeverity("warning"))];
    });
  }
}

async function reportOf(text: Uint8Array, clock: Clock): Promise<TextReport> {
  const worker = new Worker(new URL("./check-thread.cjs", import.meta.url), {
    workerData: text,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  // The thread must not keep a server from closing.
  worker.unref();
  works(worker);
  const unchecked = (why: string): TextReport => ({
    problems: [{ file: CHECKED_FILE, path: "", message: `this text cannot be checked: ${why}` }],
    warnings: [],
  });
  let isLate = false;
  const timer = clock
    .after(LIMIT_MS, () => {
      isLate = true;
      void worker.terminate();
    })
    .unref();
  try {
    const report = await unlessLate(clock, nextMessage<TextReport>(worker), LIMIT_MS + END_MS);
    return report === LATE ? unchecked(TOO_LONG) : report;
  } catch (error) {
    if (isLate) return unchecked(TOO_LONG);
    if (codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY") return unchecked("the check takes too much memory");
    if (error instanceof RangeError) return unchecked("it is nested too deeply");
    throw error;
  } finally {
    timer.cancel();
    // A thread that hangs in a library ends later, and delays no other check.
    await atMost(clock, END_MS, worker.terminate());
  }
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
