import { Link } from "../../components/link.tsx";
import { Chip, Empty, Loading, Page } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { dateTimeIn, relative } from "../../core/format.ts";
import { t, tMaybe } from "../../core/i18n.ts";
import { useJobChanges } from "../../core/jobs.ts";
import { useDocument } from "../../core/resource.ts";
import { may } from "../../core/session.ts";
import { RunStrip } from "./runs.tsx";
import { PauseAction, RunAction, type Schedule } from "./schedule-actions.tsx";
import { scheduleAddress } from "./schedule-address.ts";

/** The number of last runs that the list shows of each schedule. */
const RUNS = 14;

/** All schedules, with the next run and the outcomes of the last runs of each. */
export function ScheduleList() {
  const loaded = useDocument("Schedules", `schedules?runs=${RUNS}`, { on: ["schedule"] });
  useJobChanges(loaded.reload, ({ schedule }) => schedule !== null);
  return (
    <Page
      title={t("nav.schedules")}
      actions={
        may("operate") && (
          <Link to="/schedules/new" class="button quiet">
            {t("schedules.new")}
          </Link>
        )
      }
    >
      <Loading of={loaded}>
        {({ schedules }) =>
          schedules.length === 0 ? (
            <Empty>
              {t("schedules.none")} {may("operate") && <Link to="/schedules/new">{t("schedules.makeFirst")}</Link>}
            </Empty>
          ) : (
            <Table caption={t("nav.schedules")} columns={columns()} rows={schedules} rowKey={({ name }) => name} />
          )
        }
      </Loading>
    </Page>
  );
}

const columns = (): readonly Column<Schedule>[] => [
  {
    key: "name",
    label: t("field.name"),
    cell: ({ name, job }) => (
      <>
        <Link to={scheduleAddress(name)}>{name}</Link>
        <small class="below">
          {tMaybe(`type.${job.type ?? "seed"}`)} · {layersText(job)}
        </small>
      </>
    ),
  },
  {
    key: "when",
    label: t("schedules.when"),
    cell: ({ cron, timeZone, window }) => (
      <>
        <code>{cron}</code>
        <small class="below">
          {timeZone}
          {window !== null && ` · ${t("schedules.windowAt", { from: window.start, to: window.end })}`}
        </small>
      </>
    ),
  },
  { key: "next", label: t("schedules.next"), cell: (schedule) => <NextRun schedule={schedule} /> },
  { key: "runs", label: t("schedules.lastRuns"), cell: ({ runs = [] }) => <RunStrip runs={runs} /> },
  ...(may("operate")
    ? [
        {
          key: "act",
          label: t("field.actions"),
          cell: (schedule: Schedule) => (
            <span class="row-actions">
              <RunAction schedule={schedule} />
              <PauseAction schedule={schedule} />
            </span>
          ),
        },
      ]
    : []),
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
