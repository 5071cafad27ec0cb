import { useComputed, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Doc } from "../server/api.ts";
import { liveJobs } from "../server/events.ts";
import { add, type Count, share } from "../server/json.ts";

export type Job = Doc<"Job">;

/** The kinds of jobs that the list counts: the outcome of an ended job, else its state. `paused` counts as a state. */
export const JOB_KINDS = ["running", "pending", "paused", "failed", "done_with_failures", "done", "aborted"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

type KindFields = Pick<Job, "outcome" | "paused" | "state">;
export const kindOf = ({ outcome, paused, state }: KindFields): JobKind =>
  outcome ?? (paused ? "paused" : state === "running" ? "running" : "pending");

export const hasEnded = ({ outcome }: Pick<Job, "outcome">): boolean => outcome !== null;
/** Returns whether a job can be retried: a retry renders failed tiles, and tiles that an aborted job did not reach. */
export const canRetry = ({ outcome }: Pick<Job, "outcome">): boolean => outcome !== null && outcome !== "done";

type Tiles = Pick<Job["tiles"], "total" | "stored" | "skipped" | "failed" | "deleted">;

/** Returns the number of tiles that the job has finished, including failed ones. */
export const processedOf = ({ stored, skipped, failed, deleted = 0 }: Tiles): Count =>
  [skipped, failed, deleted].reduce<Count>((sum, one) => add(sum, one), stored);

/** Returns the progress of a job from 0 to 1. The total of a truncate is unknown before it starts. */
export const progressOf = ({ tiles, outcome }: Pick<Job, "tiles" | "outcome">): number =>
  Number(tiles.total) === 0 ? (outcome === null ? 0 : 1) : share(processedOf(tiles), tiles.total);

/** Returns the newest state of a job from a list or a document. */
export function useLiveJob(job: Job): Job {
  const { id } = job;
  const live = useComputed(() => liveJobs.value.get(id)).value;
  return live === undefined ? job : { ...job, ...live };
}

/**
 * Calls `changed` when a job appears, ends, starts, is paused or resumed, but not if only its counts change.
 * @param isWanted selects the jobs
 */
export function useJobChanges(changed: () => void, isWanted: (job: Job) => boolean = () => true): void {
  const latest = useRef(changed);
  latest.current = changed;
  const kinds = useComputed(() =>
    [...liveJobs.value.values()]
      .filter(isWanted)
      .map((job) => `${job.id}${kindOf(job)}`)
      // Sorted, because the order of the map is the order of the changes.
      .sort()
      .join(),
  );
  const before = useRef<string | undefined>(undefined);
  useSignalEffect(() => {
    const now = kinds.value;
    if (before.current !== undefined && before.current !== now) latest.current();
    before.current = now;
  });
}
