import { FeedStore } from "../../feed/feed-store.ts";
import { Feeds } from "../../feed/feeds.ts";
import { WatchedFileStore } from "../../feed/files/watched-file-store.ts";
import { WatchedFiles } from "../../feed/files/watched-files.ts";
import { LayerChanges } from "../../feed/layer-changes.ts";
import { Outboxes } from "../../feed/outbox/outboxes.ts";
import { TileListStore } from "../../feed/tile-lists/tile-list-store.ts";
import { TileLists } from "../../feed/tile-lists/tile-lists.ts";
import type { JobRunner } from "../../jobs/job-runner.ts";
import type { JobStore } from "../../jobs/record/job-store.ts";
import type { JobCounter } from "../../plan/job/job-counter.ts";
import { RunWindows } from "../../schedule/run-windows.ts";
import { ScheduleRuns } from "../../schedule/schedule-runs.ts";
import { ScheduleService } from "../../schedule/schedule-service.ts";
import { ScheduleStore } from "../../schedule/schedule-store.ts";
import { Scheduler } from "../../schedule/scheduler.ts";
import { ChangedTiles } from "../../truncation/changed-tiles.ts";
import type { BuildContext } from "../coordinator-parts.ts";
import type { TruncationParts } from "./build-truncations.ts";

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

/** Builds the reading of changes of the data: from the outboxes of databases, and from lists of expired tiles. */
export function buildChanges(
  context: BuildContext & { readonly truncations: TruncationParts },
  { runner, windows }: Pick<ScheduleParts, "windows"> & { readonly runner: JobRunner },
  counter: JobCounter,
) {
  const { db, machine, truncations, adoption, sharedStore } = context;
  const tiles = new ChangedTiles({
    ...context,
    ...truncations,
    sharedStore: (layer) => sharedStore() || adoption.isChecking(layer),
  });
  const changes = new LayerChanges({
    ...context,
    runner,
    windows,
    counter,
    tiles,
    truncations: truncations.service,
    options: context.jobOptions,
  });
  return {
    outboxes: new Outboxes({ ...context, changes }),
    tileLists: new TileLists({ ...context, changes, disk: machine.disk, store: new TileListStore(db) }),
    watchedFiles: new WatchedFiles({ ...context, changes, disk: machine.disk, store: new WatchedFileStore(db) }),
  };
}
