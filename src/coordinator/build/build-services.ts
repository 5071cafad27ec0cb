import { AccountService } from "../../account/account-service.ts";
import { SessionService } from "../../account/session-service.ts";
import { ActivityService } from "../../activity/activity-service.ts";
import { ChangesService } from "../../feed/changes-service.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { turn } from "../../lib/time/sleep.ts";
import { JobCounter } from "../../plan/job/job-counter.ts";
import { ExportService } from "../copy/export-service.ts";
import { ImportService } from "../copy/import-service.ts";
import { StoreCopies } from "../copy/store-copies.ts";
import { CoverageService } from "../coverage/coverage-service.ts";
import { TileChanges } from "../coverage/tile-changes.ts";
import { EstimateService } from "../jobs/estimate-service.ts";
import { JobLists } from "../jobs/job-lists.ts";
import { JobService } from "../jobs/job-service.ts";
import { MetricsService } from "../metrics-service.ts";
import { QuotaService } from "../usage/quota-service.ts";
import { UsageService } from "../usage/usage-service.ts";
import type { UserWrites } from "../user-writes.ts";
import type { JobContext, JobParts } from "./build-jobs.ts";
import { buildChanges, buildFeeds, buildSchedules } from "./build-schedules.ts";

/** The parts that the builder of services uses. */
export interface ServiceContext extends JobContext {
  readonly jobs: JobParts;
  readonly userWrites: UserWrites;
}

/** Builds the services behind the operations, and the schedules. */
export function buildServices(context: ServiceContext) {
  const { ledger, publish, jobs, quota, truncations } = context;
  const counted = countedTiles(context);
  const counter = new JobCounter({ ledger, ...counted });
  const schedules = buildSchedules(context, jobs, counter);
  const changes = buildChanges(context, { ...jobs, ...schedules }, counter);
  const jobLists = new JobLists({ ...context, ...jobs });
  const answered = {
    ...context,
    ...counted,
    quota: () => quota.quota.current,
    diskSpace: () => quota.disks.all.last(),
  };
  const sessions = new SessionService(context);
  const copies = new StoreCopies({
    ...context,
    ...counted,
    truncations: truncations.ledgerTruncations,
    expire: (layer) => truncations.service.truncate({ type: "truncateLayer", mode: "soft", layer }, null),
  });
  const services = {
    jobs: new JobService({
      ...context,
      ...jobs,
      windows: schedules.windows,
      counter,
      deleted: (id) => publish({ kind: "forgotten", id }),
    }),
    jobLists,
    estimates: new EstimateService({ ...answered, counter, jobs: (filter) => jobLists.jobs(filter) }),
    schedules: schedules.service,
    truncations: truncations.service,
    usage: new UsageService({
      ...answered,
      trend: quota.trend,
      counts: () => quota.enforcer.counts,
    }),
    quota: new QuotaService({ ...context, ...quota }),
    metrics: new MetricsService({ ...context, ...jobs, ...changes }),
    coverage: new CoverageService({
      ...answered,
      ...jobs,
      evictedCells: quota.evictedCells,
      softTimes: () => truncations.service.softTimes,
    }),
    tiles: new TileChanges({ ...context, writers: ledger.writers }),
    exports: new ExportService({ ...context, ...counted }),
    imports: new ImportService({
      ...context,
      ...quota,
      truncations: truncations.ledgerTruncations,
      move: (layer) => copies.move(layer),
    }),
    copies,
    purges: context.purges,
    changes: new ChangesService(changes),
    sessions,
    activity: new ActivityService({
      ...context,
      keepDays: context.activityDays,
      written: (entry) => publish({ kind: "activity", entry }),
    }),
    accounts: new AccountService({ ...context, sessions }),
  };
  return { services, schedules, ...changes, feeds: buildFeeds(context, { ...jobs, ...schedules }, counter) };
}

/** Returns the functions with which services make sure of the ledger's counts before they answer. */
function countedTiles({ ledger, adoption, clock }: ServiceContext) {
  return {
    /** Counts all cells that a crash left open. */
    async recounted(): Promise<void> {
      while (ledger.doubted.countSome(16)) await turn(clock);
    },
    /** Returns whether all tiles of a layer have been counted. */
    isCounted(layer: LayerName): boolean {
      if (adoption.concerns(layer)) return false;
      return [...ledger.tileSets()].every(({ tileSet, complete }) => complete || tileSet.layer !== layer);
    },
  };
}
