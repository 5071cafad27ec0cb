import { locale, t } from "../../core/text/i18n.ts";
import { MOST_PREVIEWED } from "./use-preview.ts";
import { DAY_MINUTES, type WeekDay, weekOf } from "./week.ts";

const HOURS = [0, 6, 12, 18] as const;
const MOST_NAMED = 5;
const HEIGHT = 24;

interface WeekGridProps {
  readonly runs: readonly string[];
  readonly windows: readonly { readonly from: string; readonly to: string }[];
  readonly timeZone: string;
}

/** The next seven days in the time zone of the schedule: windows as bars, runs as ticks. */
export function WeekGrid({ runs, windows, timeZone }: WeekGridProps) {
  const days = weekOf({ runs, windows }, timeZone, Date.now());
  return (
    <figure class="week">
      <div class="week-hours" aria-hidden="true">
        {HOURS.map((hour) => (
          <span key={hour}>{clockText(hour * 60)}</span>
        ))}
      </div>
      <ol>
        {days.map((day) => (
          <li key={day.fromMs}>
            <span class="week-day">
              {dayName(day)}
              {day.hours !== 24 && <small> {t("schedules.clockChange", { hours: day.hours })}</small>}
            </span>
            <Row day={day} />
          </li>
        ))}
      </ol>
      <figcaption>
        <span>
          <i class="tick" aria-hidden="true" /> {t("schedules.run")}
        </span>
        {windows.length > 0 && (
          <span>
            <i class="bar" aria-hidden="true" /> {t("schedules.window")}
          </span>
        )}
        <span>{t("schedules.inZone", { zone: timeZone })}</span>
        {runs.length >= MOST_PREVIEWED && <span>{t("schedules.firstRuns", { count: runs.length })}</span>}
      </figcaption>
    </figure>
  );
}

function Row({ day }: { readonly day: WeekDay }) {
  return (
    <svg viewBox={`0 0 ${DAY_MINUTES} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={describe(day)}>
      {HOURS.map((hour) => (
        <line key={hour} class="hour" x1={hour * 60} x2={hour * 60} y1="0" y2={HEIGHT} />
      ))}
      {day.windows.map(([from, to]) => (
        <rect key={from} class="open" x={from} width={Math.max(0, to - from)} y="5" height={HEIGHT - 10} />
      ))}
      {day.runs.map(({ minute, isPast }, n) => (
        <line key={n} class={isPast ? "run past" : "run"} x1={minute} x2={minute} y1="2" y2={HEIGHT - 2} />
      ))}
      {day.now !== undefined && <line class="now" x1={day.now} x2={day.now} y1="0" y2={HEIGHT} />}
    </svg>
  );
}

/** Returns the runs and windows of a day in words, for screen readers. */
function describe(day: WeekDay): string {
  const named = day.runs.slice(0, MOST_NAMED).map(({ minute }) => clockText(minute));
  const times = [...named, ...(day.runs.length > MOST_NAMED ? ["…"] : [])].join(", ");
  return [
    dayName(day),
    day.runs.length === 0 ? t("schedules.noRuns") : t("schedules.runsAt", { count: day.runs.length, times }),
    ...day.windows.map(([from, to]) => t("schedules.windowAt", { from: clockText(from), to: clockText(to) })),
  ].join("; ");
}

const dayName = ({ date }: WeekDay): string =>
  new Intl.DateTimeFormat(locale.value, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" }).format(
    date,
  );

const clockText = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
