import { Panel } from "../../components/parts.tsx";
import { dateTime } from "../../core/format.ts";
import { t, tMaybe } from "../../core/i18n.ts";
import type { Job } from "../../core/jobs.ts";

interface Moment {
  readonly at: string;
  readonly event: string;
  readonly by: string | null;
  readonly reason: string | null;
}

/** What happened to the job, oldest first. */
export function JobTimeline({ job }: { readonly job: Job }) {
  return (
    <Panel title={t("timeline")}>
      <ol class="timeline">
        {momentsOf(job).map(({ at, event, by, reason }) => (
          <li key={`${at} ${event}`}>
            <time dateTime={at}>{dateTime(at)}</time> <b>{tMaybe(`timeline.${event}`)}</b>
            {by !== null && ` ${t("timeline.by", { name: by })}`}
            {reason !== null && <small>{reason}</small>}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** The moments that the document of the job has. */
const momentsOf = ({ createdAt, createdBy, startedAt, endedAt, abortedBy, reason }: Job): readonly Moment[] => [
  { at: createdAt, event: "made", by: createdBy, reason: null },
  ...(startedAt === null ? [] : [{ at: startedAt, event: "running", by: null, reason: null }]),
  ...(endedAt === null ? [] : [{ at: endedAt, event: "ended", by: abortedBy, reason }]),
];
