import { jsonText } from "../../core/server/json.ts";
import { usePosted } from "../../core/server/posted.ts";
import { weekEnd } from "./week.ts";

/**
 * The number of runs in the first request. They fill a week unless the schedule runs more often than every three hours.
 */
const FEW = 60;
/** The most runs that the server previews. */
export const MOST_PREVIEWED = 1_000;

interface Times {
  readonly cron: string;
  readonly timeZone: string;
  readonly window: { readonly start: string; readonly end: string } | null;
}

/** Returns the next runs and open windows of a schedule for at least a week, after each change of its times. */
export function usePreview(times: Times) {
  const few = usePosted("SchedulePreview", "schedules/preview", jsonText({ ...times, count: FEW }));
  const last = few.data?.runs.at(FEW - 1);
  const isShort = last !== undefined && Date.parse(last) < weekEnd(Date.now());
  const many = usePosted(
    "SchedulePreview",
    "schedules/preview",
    isShort ? jsonText({ ...times, count: MOST_PREVIEWED }) : undefined,
  );
  return { data: many.data ?? few.data, problem: few.problem };
}
