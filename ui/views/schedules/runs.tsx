import { Fragment } from "preact";
import { KIND_TONES } from "../../components/job-parts.tsx";
import { Link } from "../../components/link.tsx";
import { Chip, Empty, MARKS, type Tone } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/server/api.ts";
import { dateTimeIn, relative } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

export type Run = Doc<"ScheduleRun">;
type RunKind = "done" | "done_with_failures" | "failed" | "aborted" | "started" | "skipped" | "refused";

const kindOf = ({ result, outcome }: Run): RunKind => (result === "started" ? (outcome ?? "started") : result);

const TONES: Readonly<Record<RunKind, Tone>> = {
  ...KIND_TONES,
  started: "busy",
  skipped: "plain",
  refused: "bad",
};

/** The last runs as marks, the newest on the right. */
export function RunStrip({ runs }: { readonly runs: readonly Run[] }) {
  if (runs.length === 0) return <span class="soft">{t("schedules.neverRun")}</span>;
  const counts = new Map<RunKind, number>();
  for (const run of runs) counts.set(kindOf(run), (counts.get(kindOf(run)) ?? 0) + 1);
  const label = [...counts].map(([kind, number]) => `${number} ${t(`schedules.kind.${kind}`)}`).join(", ");
  return (
    <span class="run-strip" role="img" aria-label={t("schedules.lastRunsAre", { runs: label })}>
      {[...runs].reverse().map((run) => (
        <span
          key={run.at}
          class={`mark ${TONES[kindOf(run)]}`}
          title={`${relative(run.at)}: ${t(`schedules.kind.${kindOf(run)}`)}`}
        >
          {MARKS[TONES[kindOf(run)]]}
        </span>
      ))}
    </span>
  );
}

const columnsOf = (timeZone: string): Columns<Run> => [
  [
    t("activity.time"),
    ({ at, dueAt, by }) => (
      <>
        <time dateTime={at}>{dateTimeIn(at, timeZone)}</time>
        {dueAt === null && (
          <small class="below">{by === null ? t("schedules.byHand") : t("schedules.startedBy", { name: by })}</small>
        )}
      </>
    ),
  ],
  [t("activity.result"), (run) => <Chip tone={TONES[kindOf(run)]}>{t(`schedules.kind.${kindOf(run)}`)}</Chip>],
  [
    t("schedules.jobs"),
    ({ jobs, reason }) => (
      <>
        {jobs.slice(0, MOST_JOBS).map((id) => (
          <Fragment key={id}>
            <Link to={`/jobs/${id}`}>#{id}</Link>{" "}
          </Fragment>
        ))}
        {jobs.length > MOST_JOBS && (
          <Link to={`/jobs?requestedWith=${jobs[0]}`}>{t("schedules.allJobs", { count: jobs.length })}</Link>
        )}
        {reason}
      </>
    ),
  ],
];
const MOST_JOBS = 5;

/** The stored runs, the newest first. */
export function RunTable({ runs, timeZone }: { readonly runs: readonly Run[]; readonly timeZone: string }) {
  if (runs.length === 0) return <Empty>{t("schedules.neverRun")}</Empty>;
  return (
    <Table
      caption={t("schedules.lastRuns")}
      columns={columnsOf(timeZone)}
      rows={runs}
      rowKey={({ at, dueAt, jobs }) => `${at} ${dueAt} ${jobs[0]}`}
    />
  );
}
