import { FeedStore } from "../../feed/feed-store.ts";
import { Feeds } from "../../feed/feeds.ts";
import { Outboxes } from "../../feed/outbox/outboxes.ts";
import type { JobRunner } from "../../jobs/job-runner.ts";
import type { JobStore } from "../../jobs/record/job-store.ts";
import type { JobCounter } from "../../plan/job/job-counter.ts";
import { RunWindows } from "../../schedule/run-windows.ts";
import { ScheduleRuns } from "../../schedule/schedule-runs.ts";
import { ScheduleService } from "../../schedule/schedule-service.ts";
import { ScheduleStore } from "../../schedule/schedule-store.ts";
import { Scheduler } from "../../schedule/scheduler.ts";
import type { BuildContext } from "../coordinator-parts.ts";

export type ScheduleParts = ReturnType<typeof buildSchedules>;

/** Builds the schedules, and the windows in which jobs may work. */
export function buildSchedules(
  context: BuildContext,
  { runner, jobs }: { readonly runner: JobRunner; readonly jobs: JobStore },
  counter: JobCounter,
) {
  const { db, jobOptions: options, publish } = context;
  const changed = (name: string): void => publish({ kind: "schedule", name });
  const schedules = new ScheduleStore(db);
  const windows = new RunWindows({ ...context, runner, hours: (name) => schedules.hours(name) });
  const runs = new ScheduleRuns({ ...context, schedules, runner, windows, counter, options, changed });
  const parts = {
    ...context,
    schedules,
    runs,
    windows,
    options,
    changed,
    endings: (ids: readonly number[]) => jobs.endings(ids),
  };
  return { windows, scheduler: new Scheduler(parts), service: new ScheduleService(parts) };
}

/** Builds the polling of feeds. The first poll loads the code that reads feeds over HTTP. */
export const buildFeeds = (
  context: BuildContext,
  { runner, windows }: Pick<ScheduleParts, "windows"> & { readonly runner: JobRunner },
  counter: JobCounter,
): Feeds =>
  new Feeds({
    ...context,
    store: new FeedStore(context.db),
    runner,
    windows,
    counter,
    options: context.jobOptions,
    fetch: async (url, source, signal) =>
      (await import("../../feed/fetch-feed.ts")).fetchFeed(context.clock, url, source, signal),
  });

/** Builds the reading of the outboxes of databases. */
export const buildOutboxes = (
  context: BuildContext,
  { runner, windows }: Pick<ScheduleParts, "windows"> & { readonly runner: JobRunner },
  counter: JobCounter,
): Outboxes => new Outboxes({ ...context, runner, windows, counter, options: context.jobOptions });
