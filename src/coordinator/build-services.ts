import type { Adoption } from "../ledger/adoption.ts";
import { JobCounter } from "../plan/job-counter.ts";
import type { MassTruncationService } from "../truncation/mass-truncation-service.ts";
import type { Webhooks } from "../webhook/webhooks.ts";
import type { JobParts } from "./build-jobs.ts";
import type { QuotaParts } from "./build-quota.ts";
import { buildSchedules, type ScheduleParts } from "./build-schedules.ts";
import type { BuildContext } from "./coordinator-parts.ts";
import { EstimateService } from "./estimate-service.ts";
import { JobService } from "./job-service.ts";
import { MetricsService } from "./metrics-service.ts";
import type { Services } from "./operations.ts";
import { QuotaService } from "./quota-service.ts";
import { UsageService } from "./usage-service.ts";

export interface ServiceSources extends JobParts {
  readonly quota: QuotaParts;
  readonly truncations: MassTruncationService;
  readonly adoption: Adoption;
  readonly webhooks: Webhooks;
}

/** Builds the services behind the operations, and the schedules. */
export function buildServices(
  context: BuildContext,
  sources: ServiceSources,
): { readonly services: Services; readonly schedules: ScheduleParts } {
  const { store, ledger, gate, catalogue, initialQuota, publish, state, stateLoss, now, monotonicNow, closing, log } =
    context;
  const { jobs, runner, history, quota, truncations, adoption, webhooks } = sources;
  const counted = countedTiles(context, adoption);
  const counter = new JobCounter({ ledger, ...counted });
  const schedules = buildSchedules(context, runner, counter);
  const jobService = new JobService({
    jobs,
    runner,
    windows: schedules.windows,
    catalogue,
    counter,
    ledger,
    state,
    deleted: (id) => publish({ kind: "forgotten", id }),
    monotonicNow,
  });
  const answered = {
    ledger,
    store,
    catalogue,
    ...counted,
    quota: () => quota.quota.current,
    diskSpace: () => quota.disk.last(),
  };
  const services: Services = {
    jobs: jobService,
    estimates: new EstimateService({ ...answered, counter, jobs: (filter) => jobService.jobs(filter) }),
    schedules: schedules.service,
    truncations,
    usage: new UsageService({
      ...answered,
      adoption,
      trend: quota.trend,
      accesses: quota.accesses,
      counts: () => quota.enforcer.counts,
      now,
      closing,
    }),
    quota: new QuotaService({ quota: quota.quota, enforcer: quota.enforcer, gate, catalogue, initialQuota, log }),
    metrics: new MetricsService({ runner, history, webhooks, ledger, stateLoss }),
  };
  return { services, schedules };
}

/** Returns what answers ask of the ledger before they rely on its counts. */
function countedTiles({ ledger }: BuildContext, adoption: Adoption) {
  return {
    /** Counts all cells that a crash left open. */
    async recounted(): Promise<void> {
      while (ledger.recountSome(16)) await new Promise(setImmediate);
    },
    /** Returns whether all tiles of a layer have been counted. */
    isCounted(layer: string): boolean {
      if (adoption.concerns(layer)) return false;
      return [...ledger.tileSets()].every(({ tileSet, complete }) => complete || tileSet.layer !== layer);
    },
  };
}
