import { elapsedMs } from "../lib/elapsed.ts";

/** What a running server is made of, as far as closing it goes. */
export interface ClosingParts {
  /** Jobs stop within the time; the coordinator goes on accounting what is still written. */
  stopJobs(graceMs: number): Promise<void>;
  /** No request is taken any more; those in flight are answered within the time. */
  stopServing(graceMs: number): Promise<void>;
  /** Ends renders that have stored nothing yet: nobody waits for them any more. */
  cancelUnanswered(): void;
  /** Ends all renders. */
  cancelAll(): void;
  /** Resolves when no render is going on. */
  rendersEnded(): Promise<void>;
  /** Ends the renderers, by force those that do not answer: nothing is written after it. */
  closeRenderers(): Promise<void>;
  /** Writes the ledger, and releases the database and the lock of the data directory. */
  releaseState(): Promise<void>;
}

/** Renders that have been cancelled, and a coordinator that is to close, have this time. */
const END_MS = 2_000;

/**
 * Closes a server: what takes requests first, what writes next, the database and the lock last. A second server that gets
 * the lock finds that nobody writes any more.
 */
export async function closeInOrder(parts: ClosingParts, graceMs: number): Promise<void> {
  const untilMs = elapsedMs() + graceMs;
  const left = (): number => Math.max(0, untilMs - elapsedMs());
  // Jobs and users finish what is in flight together.
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
