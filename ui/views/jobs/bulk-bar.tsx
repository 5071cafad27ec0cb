import type { Signal } from "@preact/signals";
import { BulkAction } from "../../components/dialogs/bulk-action.tsx";
import { Checkbox } from "../../components/fields/checkbox.tsx";
import { canRetry, hasEnded, type Job } from "../../core/model/jobs.ts";
import type { ApiRequest } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { liveJobs } from "../../core/server/events.ts";
import { may } from "../../core/server/session.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

const ACTIONS = ["pause", "resume", "cancel", "retry"] as const;
type JobAction = (typeof ACTIONS)[number];

const fits: Readonly<Record<JobAction, (job: Job) => boolean>> = {
  pause: (job) => !hasEnded(job) && !job.paused,
  resume: (job) => !hasEnded(job) && job.paused,
  cancel: (job) => !hasEnded(job),
  retry: canRetry,
};

export const COMMANDS: Readonly<Record<JobAction, string>> = {
  pause: "pause",
  resume: "resume",
  cancel: "cancel",
  retry: "retry",
};

interface BulkBarProps {
  /** The jobs of the page when they were read. */
  readonly jobs: readonly Job[];
  readonly selected: Signal<ReadonlySet<number>>;
  readonly onDone: () => void;
}

/** Selects jobs of the page, and acts on the selected jobs. Each action shows the number of jobs that it applies to. */
export function BulkBar({ jobs, selected, onDone }: BulkBarProps) {
  if (!may("operate")) return null;
  // Events are read here and not in the list, because otherwise each event would render the whole table.
  const chosen = jobs.filter(({ id }) => selected.value.has(id)).map((job) => liveJobs.value.get(job.id) ?? job);
  return (
    <div class="row bulk">
      <Checkbox
        label={chosen.length === 0 ? t("bulk.all") : t("bulk.selected", { count: chosen.length })}
        isChecked={jobs.length > 0 && chosen.length === jobs.length}
        onChange={(isOn) => (selected.value = new Set(isOn ? jobs.map(({ id }) => id) : []))}
      />
      {chosen.length > 0 &&
        ACTIONS.map((action) => {
          const fitting = chosen.filter(fits[action]);
          return (
            <BulkAction
              key={action}
              label={t(`action.${action}`)}
              kind={action === "cancel" ? "danger" : "quiet"}
              disabled={fitting.length === 0}
              prepare={() => ({
                title: t(`bulk.${action}`, { count: fitting.length }),
                body: <Effect action={action} jobs={fitting} selected={chosen.length} />,
                requests: requestsFor(action, fitting),
                command: fitting.map(({ id }) => nuthatchCommand(COMMANDS[action], id)).join("\n"),
              })}
              onDone={() => {
                selected.value = new Set();
                onDone();
              }}
            />
          );
        })}
    </div>
  );
}

/** Returns the requests, newest job first, so that no waiting job starts because an older one was cancelled. */
export const requestsFor = (action: JobAction, jobs: readonly Job[]): readonly ApiRequest[] =>
  [...jobs].sort((a, b) => b.id - a.id).map(({ id }) => ({ method: "POST", path: `jobs/${id}/${action}` }));

function Effect(props: { readonly action: JobAction; readonly jobs: readonly Job[]; readonly selected: number }) {
  const { action, jobs, selected } = props;
  return (
    <>
      {jobs.length < selected && <p>{t("bulk.notAll", { count: jobs.length, selected })}</p>}
      {action === "cancel" && <p>{t("bulk.tilesLeft", { tiles: count(tilesLeft(jobs)) })}</p>}
      {action === "retry" && <p>{t("bulk.retryNote")}</p>}
    </>
  );
}

/** Returns the number of tiles that the jobs have not finished. */
export const tilesLeft = (jobs: readonly Job[]): bigint =>
  jobs.reduce((sum, { tiles: { total, stored, skipped, failed } }) => {
    const left = BigInt(total) - BigInt(stored) - BigInt(skipped) - BigInt(failed);
    return left > 0n ? sum + left : sum;
  }, 0n);
