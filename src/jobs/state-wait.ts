import { jittered } from "../lib/back-off.ts";
import { StateError } from "../state/data-directory.ts";
import type { JobStop } from "./job-stop.ts";
import type { Work } from "./work.ts";

/** The next attempt to use the database follows after this time. */
const PAUSE_MS = 1_000;

export interface StateWaitParts {
  readonly stop: JobStop;
  /** 0 ≤ n < 1. */
  readonly random: () => number;
}

/**
 * Returns work that waits while the state database is away, as one on another machine may be: a step that could not
 * read it gives back its metatiles and is done again.
 */
export function waitingForState(work: Work, { stop, random }: StateWaitParts): Work {
  return {
    async step(job, task, signal, crowded) {
      try {
        return await work.step(job, task, signal, crowded);
      } catch (error) {
        if (!(error instanceof StateError) || error.code !== "unavailable" || stop.isDue(signal)) throw error;
        job.giveBack(task, task.claim);
        const waiting = `waiting for the state database: ${error.message}`;
        job.beginWait(waiting);
        await stop.sleep(jittered(PAUSE_MS, random()), signal);
        job.endWait(waiting);
        return true;
      }
    },
  };
}
