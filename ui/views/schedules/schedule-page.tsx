import { Facts, type NamedValue } from "../../components/facts.tsx";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Chip, Loading, Page, Panel } from "../../components/parts.tsx";
import { toastProblem } from "../../components/toast.tsx";
import { useJobChanges } from "../../core/model/jobs.ts";
import { useShortcuts } from "../../core/page/keys.ts";
import { navigate, pathOf } from "../../core/page/router.ts";
import { send } from "../../core/server/api.ts";
import { jsonText } from "../../core/server/json.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { dateTimeIn, relative } from "../../core/text/format.ts";
import { t, tMaybe } from "../../core/text/i18n.ts";
import { RunStrip, RunTable } from "./runs.tsx";
import { PauseAction, RemoveAction, RunAction, type Schedule, schedulePath } from "./schedule-actions.tsx";
import { layersText } from "./schedule-list.tsx";
import { usePreview } from "./use-preview.ts";
import { WeekGrid } from "./week-grid.tsx";

const MOST_RUNS = 50;
const NEXT_RUNS = 10;

/** One schedule: its week, its next and last runs, and its job. */
export function SchedulePage({ name }: { readonly name: string }) {
  const loaded = useDocument("Schedule", `${schedulePath(name)}?runs=${MOST_RUNS}`, { on: ["schedule"] });
  useJobChanges(loaded.reload, ({ schedule }) => schedule === name);
  if (loaded.data === undefined)
    return (
      <Page title={name}>
        <Loading of={loaded}>{() => null}</Loading>
      </Page>
    );
  return <Shown schedule={loaded.data} />;
}

function Shown({ schedule }: { readonly schedule: Schedule }) {
  const { name, paused, runs = [], timeZone } = schedule;
  const edit = pathOf("schedules", name, "edit");
  useShortcuts(
    may("operate")
      ? [
          { keys: "e", label: "edit", run: () => navigate(edit) },
          { keys: "p", label: "schedules.toggle", run: () => void toggle(schedule) },
        ]
      : [],
  );
  return (
    <Page
      title={name}
      actions={
        may("operate") && (
          <>
            <RunAction schedule={schedule} />
            <PauseAction schedule={schedule} />
            <ButtonLink kind="quiet" to={edit} label={t("edit")} />
            <RemoveAction schedule={schedule} />
          </>
        )
      }
    >
      {paused && <p class="notice warn">{t("schedules.pausedNote")}</p>}
      <Times schedule={schedule} />
      <div class="panels">
        <Panel title={t("schedules.lastRuns")} actions={runs.length > 0 && <JobsLink name={name} />}>
          {runs.length > 0 && <RunStrip runs={runs} />}
          <RunTable runs={runs} timeZone={timeZone} />
        </Panel>
        <JobPanel schedule={schedule} />
      </div>
    </Page>
  );
}

const JobsLink = ({ name }: { readonly name: string }) => (
  <Link to={`/jobs?schedule=${encodeURIComponent(name)}`}>{t("schedules.itsJobs")}</Link>
);

function Times({ schedule }: { readonly schedule: Schedule }) {
  const { cron, timeZone, window, paused, runs = [] } = schedule;
  const { data } = usePreview({ cron, timeZone, window });
  const next = paused ? [] : (data?.runs ?? []);
  const past = runs.filter(({ result }) => result === "started").map(({ at }) => at);
  return (
    <div class="schedule-times">
      <Panel title={t("schedules.week")}>
        <WeekGrid runs={[...past, ...next]} windows={data?.windows ?? []} timeZone={timeZone} />
      </Panel>
      <Panel title={t("schedules.nextRuns")}>
        {paused ? <Chip tone="plain">{t("schedules.paused")}</Chip> : <NextRuns runs={next} timeZone={timeZone} />}
      </Panel>
    </div>
  );
}

/** The next runs in the time zone of the schedule. */
export function NextRuns({ runs, timeZone }: { readonly runs: readonly string[]; readonly timeZone: string }) {
  return (
    <ol class="next-runs">
      {runs.slice(0, NEXT_RUNS).map((run) => (
        <li key={run}>
          <time dateTime={run}>{dateTimeIn(run, timeZone)}</time> <small>{relative(run, Date.now(), timeZone)}</small>
        </li>
      ))}
    </ol>
  );
}

function JobPanel({ schedule }: { readonly schedule: Schedule }) {
  const { cron, timeZone, window, missed, job, createdBy, createdAt } = schedule;
  const { type = "seed", layer, layers: _layers, ...others } = job;
  const facts: readonly NamedValue[] = [
    [t("schedules.cron"), <code>{cron}</code>],
    [t("field.timeZone"), timeZone],
    [t("schedules.window"), window === null ? t("schedules.always") : `${window.start}–${window.end}`],
    [t("schedules.missed"), t(`schedules.missed.${missed}`)],
    [t("field.type"), tMaybe(`type.${type}`)],
    [t("field.layer"), layer === undefined ? layersText(job) : <Link to={pathOf("layers", layer)}>{layer}</Link>],
    ...Object.entries(others).map(([field, value]) => [tMaybe(`schedules.field.${field}`), valueText(value)] as const),
    [t("schedules.createdBy"), `${createdBy ?? t("job.nobody")}, ${dateTimeIn(createdAt, timeZone)}`],
  ];
  return (
    <Panel title={t("schedules.what")}>
      <Facts facts={facts} />
    </Panel>
  );
}

const MOST_SHOWN = 200;

function valueText(value: unknown): string {
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ");
  const text = typeof value === "object" ? jsonText(value) : String(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

const toggle = ({ name, paused }: Schedule): Promise<unknown> =>
  send({ method: "POST", path: `${schedulePath(name)}/${paused ? "resume" : "pause"}` }).catch(toastProblem);
