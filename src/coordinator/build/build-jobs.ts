import type { ActiveJob } from "../../jobs/active/active-job.ts";
import { JobLog } from "../../jobs/job-log.ts";
import { JobRunner } from "../../jobs/job-runner.ts";
import { JobStop } from "../../jobs/job-stop.ts";
import { HistoryTrimmer } from "../../jobs/record/history-trimmer.ts";
import { JobStore } from "../../jobs/record/job-store.ts";
import { Seeding } from "../../jobs/seed/seeding.ts";
import { Truncating } from "../../jobs/truncating.ts";
import { waitingForState } from "../../jobs/wait/state-wait.ts";
import { StoreWait, waitingForStore } from "../../jobs/wait/store-wait.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { RepeatedLog } from "../../lib/process/repeated-log.ts";
import type { RenderFailure } from "../../render/render-order.ts";
import { WebhookOutbox } from "../../webhook/webhook-outbox.ts";
import { createWebhookPost } from "../../webhook/webhook-post.ts";
import { Webhooks } from "../../webhook/webhooks.ts";
import type { BuildContext } from "../coordinator-parts.ts";
import type { QuotaParts } from "./build-quota.ts";
import type { TruncationParts } from "./build-truncations.ts";

/** The parts that the builder of jobs uses. */
export interface JobContext extends BuildContext {
  readonly quota: QuotaParts;
  readonly truncations: TruncationParts;
  /** The deliveries to webhooks. */
  readonly deliveries: Webhooks;
}

/** Builds the deliveries of job events to webhooks. */
export const buildWebhooks = (context: BuildContext): Webhooks =>
  new Webhooks({
    ...context,
    outbox: new WebhookOutbox(context.db),
    post: createWebhookPost(context.clock),
  });

export type JobParts = ReturnType<typeof buildJobs>;

/** Builds the jobs, and makes the state writer save them. */
export function buildJobs(context: JobContext) {
  const { db, ledger, jobOptions: options, publish, quota, deliveries, state, truncations } = context;
  const jobs = new JobStore(db);
  const jobLog = new JobLog(context.log, context.closing);
  const waits = {
    ready: (layer: LayerName) => truncations.ledgerTruncations.interrupted.complete(layer),
    waits: (job: ActiveJob) => jobLog.reported(job.view(context.clock.monotonicNow()), job.waitReason),
    stop: new JobStop(context.clock, context.closing),
    random: context.random,
  };
  const runner = new JobRunner({
    ...context,
    jobs,
    seeding: waitingForState(buildSeeding(context, jobs), waits),
    truncation: waitingForState(
      waitingForStore(
        new Truncating({ ...context, ...truncations }),
        new StoreWait({ ...context, stop: waits.stop, options }),
      ),
      waits,
    ),
    storedMetatiles: (tileSet, walk) => ledger.storedMetatiles(tileSet, walk),
    options,
    beforeAbort: () => quota.enforcer.cleanUp(),
    announce: (moment, layer, view) => deliveries.announce(moment, layer, view),
    report: (job, waitReason) => {
      jobLog.reported(job, waitReason);
      publish({ kind: "job", job });
    },
    takenUp: (job) => jobLog.takenUp(job),
  });
  state.attach(runner.records);
  const history = new HistoryTrimmer({
    ...context,
    jobs,
    options,
  });
  return { jobs, runner, history };
}

function buildSeeding(context: JobContext, jobs: JobStore): Seeding {
  const { jobOptions, sharedStore, quota, truncations, adoption, clockRecord, store } = context;
  const failures = new RepeatedLog((fields) => context.log.warn("tiles of jobs have failed", fields));
  context.closing.addEventListener("abort", () => failures.close(), { once: true });
  return new Seeding({
    ...context,
    jobs,
    expiredBeforeMs: (layer) => truncations.service.softTimes.get(layer) ?? 0,
    sharedStore: (layer) => sharedStore() || adoption.isChecking(layer),
    latestMs: () => clockRecord.latestMs(),
    options: jobOptions,
    reservations: {
      allocated: (bytes, layer) => store.allocated(bytes, layer),
      begin: (layer) => quota.reservations.begin(layer, "seed"),
      tryReserve: (reservation, size) => quota.enforcer.tryReserve(reservation, size),
      reserve: quota.admit,
    },
    failedTiles: (layer, failure, tiles) =>
      failures.add(`${layer}\n${failure.failure}`, failedTiles(layer, failure), tiles),
  });
}

/** Returns the fields of a log line about failed tiles, with the message of the last failure. */
const failedTiles = (layer: LayerName, { failure, message }: RenderFailure) => ({ layer, class: failure, message });
