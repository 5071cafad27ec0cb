import { Link } from "../../components/link.tsx";
import { Chip, Loading, Panel } from "../../components/parts.tsx";
import type { Doc } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { dateTimeIn, relative } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

const SHOWN = 6;

/** The schedules with their last and next runs, the latest run first. */
export function SchedulesPanel() {
  const schedules = useDocument("Schedules", "schedules", { on: ["schedule"] });
  return (
    <Panel title={t("nav.schedules")} actions={<Link to="/schedules">{t("overview.more")}</Link>}>
      <Loading of={schedules}>
        {(data) =>
          data.schedules.length === 0 ? (
            <p class="soft">
              {t("overview.noSchedules")} {may("operate") && <Link to="/schedules/new">{t("schedules.new")}</Link>}
            </p>
          ) : (
            <ul class="lines">
              {[...data.schedules]
                .sort((a, b) => (b.lastRun?.at ?? "").localeCompare(a.lastRun?.at ?? ""))
                .slice(0, SHOWN)
                .map((schedule) => (
                  <li key={schedule.name}>
                    <Link to={`/schedules/${encodeURIComponent(schedule.name)}`}>{schedule.name}</Link>
                    <LastRun run={schedule.lastRun} />
                    <small>
                      {schedule.paused || schedule.nextRun === null
                        ? t("kind.paused")
                        : t("overview.next", { time: dateTimeIn(schedule.nextRun, schedule.timeZone) })}
                    </small>
                  </li>
                ))}
            </ul>
          )
        }
      </Loading>
    </Panel>
  );
}

function LastRun({ run }: { readonly run: Doc<"ScheduleRun"> | null }) {
  if (run === null) return <span class="soft">{t("overview.neverRun")}</span>;
  const tone = run.result === "started" ? "good" : run.result === "skipped" ? "plain" : "bad";
  const chip = <Chip tone={tone}>{relative(run.at)}</Chip>;
  return run.job === null ? (
    <span title={run.reason ?? undefined}>{chip}</span>
  ) : (
    <Link to={`/jobs/${run.job}`}>{chip}</Link>
  );
}
