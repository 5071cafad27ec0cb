import type { LayerName } from "../../layer/tile-set.ts";
import type { Random } from "../../lib/random/random.ts";
import { jittered } from "../../lib/time/back-off.ts";
import { isStateAway } from "../../state/state-wait.ts";
import type { ActiveJob } from "../active/active-job.ts";
import type { JobStop } from "../job-stop.ts";
import type { Work } from "../work.ts";

/** The pause before the next attempt to use the database. */
const PAUSE_MS = 1_000;

export interface StateWaitParts {
  /**
   * Makes the records of a layer agree with its tiles, if they do not.
   * @throws StateError if this is not possible yet
   */
  readonly ready: (layer: LayerName) => void;
  /**
   * Called when a job begins to wait. The reason cannot be saved, and otherwise a job is reported only when it is
   * saved.
   */
  readonly waits: (job: ActiveJob) => void;
  readonly stop: JobStop;
  readonly random: Random;
}

/**
 * Returns work that waits while the state database is unavailable, as a remote database may be. A step that could not
 * read the database gives back its metatiles and is repeated.
 */
export function waitingForState(work: Work, { ready, waits, stop, random }: StateWaitParts): Work {
  return {
    async step(job, task, signal, crowded) {
      try {
        ready(job.request.layer);
        return await work.step(job, task, signal, crowded);
      } catch (error) {
        if (!isStateAway(error) || stop.isDue(signal)) throw error;
        job.giveBack(task, task.claim);
        const waiting = `waiting for the state database: ${error.message}`;
        job.beginWait(waiting);
        waits(job);
        await stop.sleep(jittered(PAUSE_MS, random.fraction()), signal);
        job.endWait(waiting);
        return true;
      }
    },
  };
}
