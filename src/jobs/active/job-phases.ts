import type { TimelineEvent } from "../record/timeline-store.ts";
import type { ActiveJob } from "./active-job.ts";

/** The state of an unfinished job, in the terms of its timeline. */
interface Phase {
  readonly kind: "pending" | "running" | "paused" | "waiting";
  readonly reason: string | null;
}

/** Derives the events of jobs by comparing the states in which they are saved. */
export class JobPhases {
  readonly #saved = new WeakMap<ActiveJob, Phase>();

  /** Records the state in which a job was inserted. A job without such a record comes from the last process. */
  inserted(job: ActiveJob): void {
    this.#saved.set(job, phaseOf(job));
  }

  /**
   * Returns the events since the job was last saved, and a function that undoes this call if the transaction is rolled
   * back.
   */
  saved(job: ActiveJob, atMs: number): { readonly events: readonly TimelineEvent[]; readonly undo: () => void } {
    const before = this.#saved.get(job);
    const now = phaseOf(job);
    this.#saved.set(job, now);
    const undo = (): void => {
      if (before === undefined) this.#saved.delete(job);
      else this.#saved.set(job, before);
    };
    return { events: eventsBetween(before, now, job.changedBy).map((event) => ({ ...event, atMs })), undo };
  }
}

function phaseOf(job: ActiveJob): Phase {
  if (job.life.isPaused) return { kind: "paused", reason: job.reason };
  if (job.waitReason !== null) return { kind: "waiting", reason: job.waitReason };
  return { kind: job.startedMs === null ? "pending" : "running", reason: null };
}

function eventsBetween(before: Phase | undefined, now: Phase, by: string | null): Omit<TimelineEvent, "atMs">[] {
  if (before === undefined) return [{ event: "restarted", by: null, reason: null }];
  const resumed = before.kind === "paused" && now.kind !== "paused";
  const events: Omit<TimelineEvent, "atMs">[] = resumed ? [{ event: "resumed", by, reason: null }] : [];
  const isSame = now.kind === before.kind && now.reason === before.reason;
  // A resumed job that runs again has only the event "resumed": only its first start is the event "running".
  if (isSame || now.kind === "pending" || (resumed && now.kind === "running")) return events;
  return [...events, { event: now.kind, by: now.kind === "paused" ? by : null, reason: now.reason }];
}
