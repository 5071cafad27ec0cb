import type { JobOutcome, JobState, WindowHold } from "../../plan/job/job-request.ts";
import type { JobType } from "../../plan/seed-request.ts";
import type { JobTally } from "./job-tally.ts";

/** The states that lists show for a job that has not ended. */
export type ListedState = Extract<JobState, "pending" | "running">;

/**
 * The states of a job, each with the facts that exist only in this state.
 *
 * - pending → running: a task has begun. Running → pending: no task is working; also after a restart.
 * - pending, running → paused: by a user, a window that has closed, or the seed guard. The tasks stop after that.
 * - paused → pending, running: resumed by a user, or by a window that has opened.
 * - pending, running, paused → ending: a kill of all tasks, the failure limit, the removal of the layer, a long outage,
 *   or a fault. Lists show the previous state until the tasks have stopped.
 * - pending, running → ended: the last task has found no more work. Ending → ended: the tasks have stopped.
 * - paused → ended: at a start, if the server was killed before it had saved the end.
 */
type Phase =
  | { readonly kind: ListedState; readonly hold: "released" | null }
  | {
      readonly kind: "paused";
      readonly listed: ListedState;
      readonly hold: "held" | null;
      readonly reason: string | null;
    }
  | {
      readonly kind: "ending";
      readonly listed: ListedState;
      readonly isPaused: boolean;
      readonly hold: WindowHold | null;
      readonly reason: string;
      readonly by: string | null;
    }
  | {
      readonly kind: "ended";
      readonly outcome: JobOutcome;
      readonly endedMs: number;
      readonly reason: string | null;
      readonly by: string | null;
    };

const NEXT: Readonly<Record<Phase["kind"], readonly Phase["kind"][]>> = {
  pending: ["pending", "running", "paused", "ending", "ended"],
  running: ["pending", "running", "paused", "ending", "ended"],
  paused: ["pending", "running", "paused", "ending", "ended"],
  ending: ["ending", "ended"],
  ended: [],
};

/** Takes back a change that could not be saved. */
export type Undo = () => void;

/** The state of a job. `ActiveJob` calls its methods. */
export class JobLife {
  #phase: Phase;

  /** Makes the life of a job that was read from the database or just accepted. No task of the job is working. */
  constructor(paused: boolean, hold: WindowHold | null, reason: string | null) {
    this.#phase = paused
      ? { kind: "paused", listed: "pending", hold: hold === "held" ? hold : null, reason }
      : { kind: "pending", hold: hold === "released" ? hold : null };
  }

  /** Moves the job to its next state. The only place that sets the state. */
  #move(next: Phase): Undo {
    const before = this.#phase;
    if (!NEXT[before.kind].includes(next.kind)) throw new Error(`a job cannot go from ${before.kind} to ${next.kind}`);
    this.#phase = next;
    return () => {
      this.#phase = before;
    };
  }

  /** The state in lists. A paused job is listed as running until its tasks have stopped. */
  get state(): JobState {
    if (this.outcome !== null) return this.outcome === "aborted" ? "aborted" : "done";
    return this.#listed;
  }

  get #listed(): ListedState {
    const phase = this.#phase;
    if ("listed" in phase) return phase.listed;
    return phase.kind === "running" ? "running" : "pending";
  }

  /** Null if the job has not ended. */
  get outcome(): JobOutcome | null {
    return this.#phase.kind === "ended" ? this.#phase.outcome : null;
  }

  get endedMs(): number | null {
    return this.#phase.kind === "ended" ? this.#phase.endedMs : null;
  }

  /** Whether the end has begun, so that no task of the job may run. */
  get isEnding(): boolean {
    return this.#phase.kind === "ending" || this.#phase.kind === "ended";
  }

  get isPaused(): boolean {
    return this.#phase.kind === "paused" || (this.#phase.kind === "ending" && this.#phase.isPaused);
  }

  get hold(): WindowHold | null {
    return this.#phase.kind === "ended" ? null : this.#phase.hold;
  }

  /** Why the job is paused or has its outcome. Null in any other state. */
  get reason(): string | null {
    return "reason" in this.#phase ? this.#phase.reason : null;
  }

  get abortedBy(): string | null {
    return "by" in this.#phase ? this.#phase.by : null;
  }

  /** Sets the state in lists, which follows the tasks until the end begins. */
  list(state: ListedState): void {
    switch (this.#phase.kind) {
      case "pending":
      case "running":
        this.#move({ ...this.#phase, kind: state });
        return;
      case "paused":
        this.#move({ ...this.#phase, listed: state });
        return;
      case "ending":
      case "ended":
    }
  }

  /** @param hold `held` if a window has closed */
  pause(reason: string, hold: "held" | null): Undo {
    return this.#move({ kind: "paused", listed: this.#listed, hold, reason });
  }

  /** @param hold `released` if the job was resumed outside its run window: it runs until the next window closes */
  resume(hold: "released" | null): Undo {
    return this.#move({ kind: this.#listed, hold });
  }

  /** Lets the next window that closes pause the job, although a user had released it from an earlier window. */
  endRelease(): void {
    if (this.#phase.kind === "pending" || this.#phase.kind === "running") this.#move({ ...this.#phase, hold: null });
  }

  /** Begins to abort the job. A further call before the end replaces the reason and the user. */
  beginEnd(reason: string, by: string | null): void {
    const { isPaused, hold } = this;
    this.#move({ kind: "ending", listed: this.#listed, isPaused, hold, reason, by });
  }

  /** Ends the job: as aborted if its end had begun, otherwise with `result`. */
  end(endedMs: number, result: JobResult): void {
    const phase = this.#phase;
    this.#move(
      phase.kind === "ending"
        ? { kind: "ended", outcome: "aborted", endedMs, reason: phase.reason, by: phase.by }
        : { kind: "ended", ...result, endedMs, by: null },
    );
  }
}

/** The result of a job that ended because its work was done. */
interface JobResult {
  readonly outcome: Exclude<JobOutcome, "aborted">;
  readonly reason: string | null;
}

/** Returns the result of a job whose last task has found no more work. */
export function resultOf(type: JobType, { sum, errors }: Pick<JobTally, "sum" | "errors">): JobResult {
  const { stored, skipped, unchanged, failed, deleted } = sum;
  if (type === "truncate")
    return { outcome: "done", reason: deleted === 0n ? "no tile was stored in its range" : null };
  if (failed === 0n) return { outcome: "done", reason: null };
  if (stored + skipped + unchanged > 0n) return { outcome: "done_with_failures", reason: null };
  const [first] = errors;
  return {
    outcome: "failed",
    reason: first === undefined ? "every tile failed" : `every tile failed: ${first.message}`,
  };
}
