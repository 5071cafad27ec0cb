import { isoTime } from "../../lib/time/iso-time.ts";
import type { JobView } from "../../plan/job/job-documents.ts";
import type { TimelineEvent } from "../record/timeline-store.ts";

/** An event of a job as `/api/v1/jobs/ID/timeline` shows it. */
export interface TimelineEntry extends Pick<TimelineEvent, "by" | "reason"> {
  readonly at: string;
  readonly event: "made" | TimelineEvent["event"] | "ended";
}

/** Returns the timeline of a job. The job's record contains its creation and its end. */
export function timelineOf(job: JobView, events: readonly TimelineEvent[]): readonly TimelineEntry[] {
  const { createdAt, createdBy, startedAt, endedAt, outcome, abortedBy, reason } = job;
  // A job that began and ended between two saves was never saved as running.
  const isMissed = startedAt !== null && (outcome ?? "aborted") !== "aborted" && events.length === 0;
  return [
    { at: createdAt, event: "made", by: createdBy, reason: null },
    ...(isMissed ? [{ at: startedAt, event: "running", by: null, reason: null } as const] : []),
    ...events.map(({ atMs, event, by, reason: why }) => ({ at: isoTime(atMs), event, by, reason: why })),
    ...(endedAt === null ? [] : [{ at: endedAt, event: "ended", by: abortedBy, reason } as const]),
  ];
}
