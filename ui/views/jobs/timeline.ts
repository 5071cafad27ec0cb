import type { Job } from "../../core/model/jobs.ts";
import type { Doc } from "../../core/server/api.ts";

type TimelineEntry = Doc<"JobTimeline">["timeline"][number];

/** An entry of a timeline, and the time until the next one. */
export interface LastingEntry extends TimelineEntry {
  /** Undefined for the last entry. */
  readonly seconds: number | undefined;
}

/** Returns the entries, each with its duration. */
export const lasting = (timeline: readonly TimelineEntry[]): readonly LastingEntry[] =>
  timeline.map((moment, n) => {
    const next = timeline[n + 1];
    return { ...moment, seconds: next && (Date.parse(next.at) - Date.parse(moment.at)) / 1000 };
  });

export const isStandstill = ({ event }: Pick<TimelineEntry, "event">): boolean =>
  event === "waiting" || event === "paused";

/**
 * Returns since when a job waits or is paused, even if the reason has changed since. Undefined if the job does neither.
 */
export function standstillSince(
  { outcome }: Pick<Job, "outcome">,
  timeline: readonly TimelineEntry[],
): string | undefined {
  const last = timeline.at(-1);
  if (outcome !== null || last === undefined || !isStandstill(last)) return undefined;
  const before = timeline.findLastIndex(({ event }) => event !== last.event);
  return timeline[before + 1]?.at;
}

/** The number of moments of a long timeline that are shown first: the first one, and the last ones. */
const SHOWN = 12;

/** Returns the hidden moments in the middle of a long timeline. */
export const hiddenOf = <T>(moments: readonly T[]): readonly T[] =>
  moments.length <= SHOWN + 2 ? [] : moments.slice(1, -SHOWN);
