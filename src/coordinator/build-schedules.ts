import type { JobRunner } from "../jobs/job-runner.ts";
import type { JobCounter } from "../plan/job-counter.ts";
import { RunWindows } from "../schedule/run-windows.ts";
import { ScheduleRuns } from "../schedule/schedule-runs.ts";
import { ScheduleService } from "../schedule/schedule-service.ts";
import { ScheduleStore } from "../schedule/schedule-store.ts";
import { Scheduler } from "../schedule/scheduler.ts";
import type { BuildContext } from "./coordinator-parts.ts";

/** The schedules, and the windows in which jobs may work. */
export interface ScheduleParts {
  readonly windows: RunWindows;
  readonly scheduler: Scheduler;
  readonly service: ScheduleService;
}

/** Builds the schedules. */
export function buildSchedules(context: BuildContext, runner: JobRunner, counter: JobCounter): ScheduleParts {
  const { db, ledger, catalogue, jobOptions: options, state, now, log } = context;
  const persist = (also?: () => void): void => state.write(also);
  const schedules = new ScheduleStore(db);
  const windows = new RunWindows({ runner, hours: (name) => schedules.hours(name), now, log });
  const runs = new ScheduleRuns({
    schedules,
    runner,
    windows,
    catalogue,
    counter,
    ledger,
    options,
    persist,
    now,
    log,
  });
  return {
    windows,
    scheduler: new Scheduler({ schedules, runs, windows, persist, now, log }),
    service: new ScheduleService({ schedules, runs, options, persist, now }),
  };
}
