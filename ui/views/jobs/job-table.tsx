import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Age } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { Action } from "../../components/dialogs/action.tsx";
import { JobChip, JobLink, JobMeter, JobTiles } from "../../components/job-parts.tsx";
import { Link } from "../../components/link.tsx";
import { Meter } from "../../components/parts.tsx";
import { type Columns, type Look, Table } from "../../components/table.tsx";
import { canRetry, hasEnded, type Job, kindOf, processedOf, useLiveJob } from "../../core/model/jobs.ts";
import { setQuery } from "../../core/page/router.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { share } from "../../core/server/json.ts";
import { may } from "../../core/server/session.ts";
import { count, decimal, duration } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { COMMANDS } from "./bulk-bar.tsx";
import { CancelJob } from "./cancel-job.tsx";
import { type JobRow, jobsIn } from "./job-rows.ts";

interface JobTableProps {
  readonly rows: readonly JobRow[];
  readonly open: ReadonlySet<number>;
  readonly selected: Signal<ReadonlySet<number>>;
}

export function JobTable({ rows, open, selected }: JobTableProps) {
  return (
    <Table
      caption={t("nav.jobs")}
      columns={columnsOf(open)}
      rows={rows}
      rowKey={(row) => (row.kind === "job" ? row.job.id : `batch ${row.id}`)}
      {...(may("operate") ? { lead: (row: JobRow) => <SelectBox row={row} selected={selected} /> } : {})}
    />
  );
}

function SelectBox({ row, selected }: { readonly row: JobRow; readonly selected: Signal<ReadonlySet<number>> }) {
  const ids = jobsIn(row).map(({ id }) => id);
  const isAll = ids.every((id) => selected.value.has(id));
  return (
    <input
      type="checkbox"
      aria-label={row.kind === "job" ? t("bulk.select", { id: row.job.id }) : t("bulk.selectBatch", { id: row.id })}
      checked={isAll}
      onChange={({ currentTarget: { checked } }) => {
        const next = new Set(selected.value);
        for (const id of ids) {
          if (checked) next.add(id);
          else next.delete(id);
        }
        selected.value = next;
      }}
    />
  );
}

/** Returns a column that is empty for batches, or shows the result of `ofBatch`. */
const column = (
  label: string,
  ofJob: (job: Job) => ComponentChildren,
  ofBatch?: (jobs: readonly Job[]) => ComponentChildren,
  look?: Look,
): Columns<JobRow>[number] => [label, (row) => (row.kind === "job" ? ofJob(row.job) : ofBatch?.(row.jobs)), look];

const columnsOf = (open: ReadonlySet<number>): Columns<JobRow> => [
  [
    t("field.job"),
    (row) =>
      row.kind === "batch" ? (
        <BatchToggle row={row} open={open} />
      ) : (
        <span class={row.isMember ? "member" : undefined}>
          <JobLink job={row.job} />
        </span>
      ),
  ],
  column(t("field.layer"), layerAndLevels, sameLayer),
  column(t("field.state"), (job) => <JobChip job={job} />, stateCounts),
  column(t("field.progress"), (job) => <JobMeter job={job} />, batchMeter),
  column(t("field.tiles"), (job) => <JobTiles job={job} />, undefined, "number wide"),
  column(t("field.rate"), (job) => <Rate job={job} />, undefined, "number"),
  column(t("activity.time"), (job) => <WorkTime job={job} />, undefined, "number minor"),
  column(t("field.created"), created, ([newest]) => newest && created(newest)),
  column(t("field.by"), origin, ([newest]) => newest && origin(newest), "wide"),
  column(t("field.actions"), (job) => <RowActions job={job} />),
];

/** Returns the layer if all jobs of a batch have the same one. */
function sameLayer(jobs: readonly Job[]): string {
  const all = new Set(jobs.map(({ layer }) => layer));
  const [only = ""] = all;
  return all.size === 1 ? only : t("batch.several", { count: all.size });
}

function BatchToggle({ row, open }: { readonly row: JobRow & { kind: "batch" }; readonly open: ReadonlySet<number> }) {
  const next = new Set(open);
  if (!next.delete(row.id)) next.add(row.id);
  return (
    <Button
      label={[
        <span aria-hidden="true">{row.isOpen ? "▾" : "▸"}</span>,
        ` ${t("batch", { id: row.id, count: row.jobs.length })}`,
      ]}
      class="fold"
      aria-expanded={row.isOpen}
      onPress={() => setQuery({ open: [...next].join(",") })}
    />
  );
}

function stateCounts(jobs: readonly Job[]): string {
  const kinds = new Map<string, number>();
  for (const job of jobs) kinds.set(t(`kind.${kindOf(job)}`), (kinds.get(t(`kind.${kindOf(job)}`)) ?? 0) + 1);
  return [...kinds].map(([name, number]) => `${count(number)} ${name}`).join(" · ");
}

function batchMeter(jobs: readonly Job[]) {
  const total = jobs.reduce((sum, { tiles }) => sum + Number(tiles.total), 0);
  const done = jobs.reduce((sum, { tiles }) => sum + Number(processedOf(tiles)), 0);
  return total === 0 ? null : <Meter value={share(done, total)} label={t("field.progress")} />;
}

const layerAndLevels = ({ layer, gridSet, zoomStart, zoomStop }: Job) => {
  const levels = t("job.zooms", { from: String(zoomStart), to: String(zoomStop) });
  const range = `${gridSet ?? t("job.allGridSets")} · ${levels}`;
  return (
    <span class="one-line" title={`${layer} · ${range}`}>
      <Link to={`/layers/${encodeURIComponent(layer)}`}>{layer}</Link> <small>{range}</small>
    </span>
  );
};

function Rate({ job }: { readonly job: Job }) {
  const { tilesPerSecond } = useLiveJob(job);
  return (
    <>{tilesPerSecond !== null && t("job.rate", { rate: decimal(tilesPerSecond, tilesPerSecond < 100 ? 1 : 0) })}</>
  );
}

/** Shows the time that is left, or the time that an ended job worked. */
function WorkTime({ job }: { readonly job: Job }) {
  const { timeLeft, outcome, secondsWorked } = useLiveJob(job);
  if (outcome === null && timeLeft !== null) return <>{t("job.left", { time: duration(timeLeft.seconds) })}</>;
  const text = outcome === null ? "timeline.soFar" : "job.elapsed";
  return <>{Math.round(secondsWorked) > 0 && t(text, { time: duration(secondsWorked) })}</>;
}

const created = ({ createdAt }: Job) => <Age at={createdAt} />;

/** Shows the account, and the schedule or the retried job that the job comes from. */
const origin = ({ createdBy, schedule, retryOf }: Job) => (
  <>
    {createdBy !== null && `${createdBy} `}
    {schedule !== null && <Link to={`/schedules/${encodeURIComponent(schedule)}`}>{schedule}</Link>}
    {retryOf !== null && <Link to={`/jobs/${retryOf}`}>{t("job.retryOf", { id: retryOf })}</Link>}
  </>
);

/** The most frequent actions for a job in its state. The page of the job has all actions. */
function RowActions({ job }: { readonly job: Job }) {
  const now = useLiveJob(job);
  const action = hasEnded(now) ? (canRetry(now) ? "retry" : undefined) : now.paused ? "resume" : "pause";
  if (action === undefined) return null;
  const titleOf = (label: string): string => t("action.ofJob", { action: label, id: now.id });
  return (
    <span class="row-actions">
      <Action
        label={t(`action.${action}`)}
        title={titleOf(t(`action.${action}`))}
        isSmall
        request={{ method: "POST", path: `jobs/${now.id}/${action}` }}
        command={nuthatchCommand(COMMANDS[action], now.id)}
      />
      {!hasEnded(now) && <CancelJob job={now} title={titleOf(t("action.cancel"))} isSmall />}
    </span>
  );
}
