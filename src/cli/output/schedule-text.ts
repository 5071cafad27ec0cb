import type { Received } from "../client/answer.ts";
import { factList, textTable, timeText } from "./text-table.ts";

const jobText = ({ job: { type, layer, layers = [] } }: Received<"Schedule">): string =>
  `${type} of ${layer ?? [layers].flat().join(", ")}`;
const windowText = ({ window }: Received<"Schedule">): string =>
  window === null ? "" : `${window.start}-${window.end}`;
const nextText = ({ nextRun }: Received<"Schedule">): string => timeText(nextRun) ?? "paused";
const resultText = ({ result, jobs, reason }: Received<"ScheduleRun">): string =>
  result === "started" ? jobsText(jobs) : `${result}: ${reason}`;
/** Formats the ids of one run's jobs, which are consecutive. */
const jobsText = (jobs: readonly number[]): string =>
  jobs.length === 1 ? `job ${jobs[0]}` : `${jobs.length} jobs, ${jobs[0]} to ${jobs.at(-1)}`;

export const showSchedules = ({ schedules }: Received<"Schedules">): string =>
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

export function showSchedule(schedule: Received<"Schedule">): string {
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
    timeText(run.dueAt) ?? (run.by === null ? "run by hand" : `run by ${run.by}`),
    resultText(run),
  ]);
  return `${facts}\n${textTable(["run", "due", "result"], rows)}`;
}
