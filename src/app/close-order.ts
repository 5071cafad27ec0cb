import { elapsedMs } from "../lib/elapsed.ts";

/** The parts of a running server that have to be closed. */
export interface ClosingParts {
  /** Stops the jobs within the time. The coordinator continues to account for tiles that are still being written. */
  stopJobs(graceMs: number): Promise<void>;
  /** Stops accepting requests, and answers those in flight within the time. */
  stopServing(graceMs: number): Promise<void>;
  /** Aborts renders that have stored nothing yet: no user waits for them any more. */
  cancelUnanswered(): void;
  /** Aborts all renders. */
  cancelAll(): void;
  /** Waits until no render is in flight. */
  rendersEnded(): Promise<void>;
  /** Ends the renderers, by force those that do not answer. Nothing is written afterwards. */
  closeRenderers(): Promise<void>;
  /** Writes the ledger, and releases the database and the lock of the data directory. */
  releaseState(): Promise<void>;
}

/** Time for cancelled renders to end, and for the coordinator to close. */
const END_MS = 2_000;

/**
 * Closes a server: first the parts that accept requests, then the parts that write, then the database and the lock. A
 * second server that gets the lock can rely on the first one writing nothing more.
 */
export async function closeInOrder(parts: ClosingParts, graceMs: number): Promise<void> {
  const untilMs = elapsedMs() + graceMs;
  const left = (): number => Math.max(0, untilMs - elapsedMs());
  // Jobs and users finish their in-flight renders at the same time.
  const jobsStopped = parts.stopJobs(left());
  await parts.stopServing(left());
  await atMost(left() + END_MS, jobsStopped);
  parts.cancelUnanswered();
  await atMost(left(), parts.rendersEnded());
  parts.cancelAll();
  await atMost(END_MS, parts.rendersEnded());
  await parts.closeRenderers();
  await parts.rendersEnded();
  await atMost(END_MS, parts.releaseState());
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
