/** The minutes of a day with 24 hours: the width of a row of the week. */
export const DAY_MINUTES = 1_440;
const DAYS = 7;
const HOUR_MS = 3_600_000;

/** One day of the week in a time zone. */
export interface WeekDay {
  /** The beginning of the day, ms since 1970. */
  readonly fromMs: number;
  /** Noon of the same date in UTC, for its name. */
  readonly date: Date;
  /** The length of the day. Not 24 if the clocks change. */
  readonly hours: number;
  /** The windows, from and to, in minutes by the clock. */
  readonly windows: readonly (readonly [number, number])[];
  readonly runs: readonly { readonly minute: number; readonly isPast: boolean }[];
  /** The present time in minutes by the clock. Undefined on any other day. */
  readonly now: number | undefined;
}

interface Times {
  /** The runs as ISO times. */
  readonly runs: readonly string[];
  readonly windows: readonly { readonly from: string; readonly to: string }[];
}

/** Returns the seven days from today on, with the runs and the open windows of each. */
export function weekOf({ runs, windows }: Times, timeZone: string, nowMs: number): readonly WeekDay[] {
  const clock = clockOf(timeZone);
  const today = clock(nowMs);
  const starts = Array.from({ length: DAYS + 1 }, (_, n) => startOf(today.year, today.month, today.day + n, clock));
  const times = runs.map((run) => Date.parse(run));
  return starts.slice(0, DAYS).map((fromMs, n) => {
    const toMs = starts[n + 1] ?? fromMs + 24 * HOUR_MS;
    const isIn = (ms: number): boolean => ms >= fromMs && ms < toMs;
    return {
      fromMs,
      date: new Date(Date.UTC(today.year, today.month - 1, today.day + n, 12)),
      hours: Math.round((toMs - fromMs) / HOUR_MS),
      windows: windows.flatMap(({ from, to }) => {
        const [first, last] = [Math.max(fromMs, Date.parse(from)), Math.min(toMs, Date.parse(to))];
        if (first >= last) return [];
        return [
          [first === fromMs ? 0 : clock(first).minute, last === toMs ? DAY_MINUTES : clock(last).minute] as const,
        ];
      }),
      runs: times.filter(isIn).map((ms) => ({ minute: clock(ms).minute, isPast: ms <= nowMs })),
      now: isIn(nowMs) ? clock(nowMs).minute : undefined,
    };
  });
}

/** Returns the end of the week that `weekOf` shows, ms since 1970, to within an hour. */
export const weekEnd = (nowMs: number): number => nowMs + DAYS * 24 * HOUR_MS;

interface ClockTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** The minute of the day. */
  readonly minute: number;
}
type Clock = (ms: number) => ClockTime;

function clockOf(timeZone: string): Clock {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    return { year: part("year"), month: part("month"), day: part("day"), minute: part("hour") * 60 + part("minute") };
  };
}

/** Returns when a day begins in a time zone, ms since 1970. `day` may be beyond the end of the month. */
function startOf(year: number, month: number, day: number, clock: Clock): number {
  const wanted = Date.UTC(year, month - 1, day);
  let ms = wanted;
  // The second step corrects the first if the clocks change between the guess and the day.
  for (let step = 0; step < 2; step++) {
    const there = clock(ms);
    ms += wanted - (Date.UTC(there.year, there.month - 1, there.day) + there.minute * 60_000);
  }
  return ms;
}
