import { ButtonLink, Link } from "../../components/link.tsx";
import { Chip, Loading, Page } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import { useJobChanges } from "../../core/model/jobs.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { dateTimeIn, relative } from "../../core/text/format.ts";
import { t, tMaybe } from "../../core/text/i18n.ts";
import { RunStrip } from "./runs.tsx";
import { PauseAction, RunAction, type Schedule, scheduleAddress } from "./schedule-actions.tsx";

/** The number of last runs that the list shows of each schedule. */
const RUNS = 14;

/** All schedules, with the next run and the outcomes of the last runs of each. */
export function ScheduleList() {
  const loaded = useDocument("Schedules", `schedules?runs=${RUNS}`, { on: ["schedule"] });
  useJobChanges(loaded.reload, ({ schedule }) => schedule !== null);
  return (
    <Page
      title={t("nav.schedules")}
      actions={may("operate") && <ButtonLink kind="quiet" to="/schedules/new" label={t("schedules.new")} />}
    >
      <Loading of={loaded}>
        {({ schedules }) => (
          <Table
            caption={t("nav.schedules")}
            columns={columns()}
            rows={schedules}
            rowKey={({ name }) => name}
            none={
              <>
                {t("schedules.none")} {may("operate") && <Link to="/schedules/new">{t("schedules.createFirst")}</Link>}
              </>
            }
          />
        )}
      </Loading>
    </Page>
  );
}

const columns = (): Columns<Schedule> => [
  [
    t("field.name"),
    ({ name, job }) => (
      <>
        <Link to={scheduleAddress(name)}>{name}</Link>
        <small class="below">
          {tMaybe(`type.${job.type ?? "seed"}`)} · {layersText(job)}
        </small>
      </>
    ),
  ],
  [
    t("schedules.when"),
    ({ cron, timeZone, window }) => (
      <>
        <code>{cron}</code>
        <small class="below">
          {timeZone}
          {window !== null && ` · ${t("schedules.windowAt", { from: window.start, to: window.end })}`}
        </small>
      </>
    ),
  ],
  [t("schedules.next"), (schedule) => <NextRun schedule={schedule} />],
  [t("schedules.lastRuns"), ({ runs = [] }) => <RunStrip runs={runs} />],
  may("operate") && [
    t("field.actions"),
    (schedule) => (
      <span class="row-actions">
        <RunAction schedule={schedule} />
        <PauseAction schedule={schedule} />
      </span>
    ),
  ],
];

/** Shows the next run of the schedule, or why there is no next run. */
export function NextRun({ schedule: { paused, nextRun, timeZone } }: { readonly schedule: Schedule }) {
  if (paused || nextRun === null) return <Chip tone="plain">{t("schedules.paused")}</Chip>;
  return (
    <>
      {dateTimeIn(nextRun, timeZone)}
      <small class="below">{relative(nextRun, Date.now(), timeZone)}</small>
    </>
  );
}

/** Returns the layer of a job, or its patterns. */
export const layersText = ({ layer, layers }: Schedule["job"]): string =>
  layer ?? (typeof layers === "string" ? layers : (layers ?? []).join(", "));
