import { timeText } from "./job-text.ts";
import { factList, textTable } from "./text-table.ts";

interface Run {
  readonly at: string;
  readonly dueAt: string | null;
  readonly by: string | null;
  readonly result: "started" | "skipped" | "refused";
  readonly jobs: readonly number[];
  readonly reason: string | null;
}

/** The fields that the command line reads from a schedule of `/api/v1/schedules`. */
export interface ScheduleAnswer {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: string;
  readonly window: { readonly start: string; readonly end: string } | null;
  readonly job: { readonly layer?: string; readonly layers?: readonly string[]; readonly type: string };
  readonly paused: boolean;
  readonly createdBy: string | null;
  readonly nextRun: string | null;
  readonly lastRun: Run | null;
  readonly runs?: readonly Run[];
}

const jobText = ({ job: { type, layer, layers = [] } }: ScheduleAnswer): string =>
  `${type} of ${layer ?? layers.join(", ")}`;
const windowText = ({ window }: ScheduleAnswer): string => (window === null ? "" : `${window.start}-${window.end}`);
const nextText = ({ nextRun }: ScheduleAnswer): string => timeText(nextRun) ?? "paused";
const resultText = ({ result, jobs, reason }: Run): string =>
  result === "started" ? jobsText(jobs) : `${result}: ${reason}`;
/** Formats the ids of one run's jobs, which are consecutive. */
const jobsText = (jobs: readonly number[]): string =>
  jobs.length === 1 ? `job ${jobs[0]}` : `${jobs.length} jobs, ${jobs[0]} to ${jobs.at(-1)}`;

export const showSchedules = ({ schedules }: { readonly schedules: readonly ScheduleAnswer[] }): string =>
  schedules.length === 0
    ? "There are no schedules.\n"
    : textTable(
        ["schedule", "cron", "time zone", "window", "job", "next run", "last run"],
        schedules.map((schedule) => [
          schedule.name,
          schedule.cron,
          schedule.timeZone,
          windowText(schedule),
          jobText(schedule),
          nextText(schedule),
          schedule.lastRun === null ? "" : `${timeText(schedule.lastRun.at)} ${resultText(schedule.lastRun)}`,
        ]),
      );

export function showSchedule(schedule: ScheduleAnswer): string {
  const facts = factList([
    ["schedule", `${schedule.name}, ${jobText(schedule)}`],
    ["cron", `${schedule.cron} in ${schedule.timeZone}`],
    ["window", windowText(schedule) || undefined],
    ["missed", schedule.missed.replaceAll("_", " ")],
    ["created by", schedule.createdBy ?? undefined],
    ["next run", nextText(schedule)],
  ]);
  const { runs = [] } = schedule;
  if (runs.length === 0) return facts;
  const rows = runs.map((run) => [
    timeText(run.at) ?? "",
    timeText(run.dueAt) ?? (run.by === null ? "asked for" : `asked for by ${run.by}`),
    resultText(run),
  ]);
  return `${facts}\n${textTable(["run", "due", "result"], rows)}`;
}
