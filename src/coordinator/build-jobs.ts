import { JobHistory } from "../jobs/job-history.ts";
import { JobRunner } from "../jobs/job-runner.ts";
import { JobStore } from "../jobs/job-store.ts";
import { Seeding } from "../jobs/seeding.ts";
import { Truncation } from "../jobs/truncating.ts";
import type { Adoption } from "../ledger/adoption.ts";
import type { ClockRecord } from "../state/clock-record.ts";
import type { MassTruncationService } from "../truncation/mass-truncation-service.ts";
import type { Reclaim } from "../truncation/reclaim.ts";
import type { LedgerTruncations } from "../truncation/truncations.ts";
import type { Webhooks } from "../webhook/webhooks.ts";
import type { QuotaParts } from "./build-quota.ts";
import type { BuildContext } from "./coordinator-parts.ts";

export interface JobSources {
  readonly quota: QuotaParts;
  readonly truncations: MassTruncationService;
  readonly ledgerTruncations: LedgerTruncations;
  readonly reclaim: Reclaim;
  readonly adoption: Adoption;
  readonly clock: ClockRecord;
  readonly webhooks: Webhooks;
}

/** The jobs: those that run, and all that are stored. */
export interface JobParts {
  readonly jobs: JobStore;
  readonly runner: JobRunner;
  readonly history: JobHistory;
}

/** Builds the jobs, and has the state writer save them. */
export function buildJobs(context: BuildContext, sources: JobSources): JobParts {
  const { db, ledger, catalogue, jobOptions: options, publish, state, now, monotonicNow, log } = context;
  const { quota, webhooks } = sources;
  const jobs = new JobStore(db);
  const runner = new JobRunner({
    jobs,
    seeding: buildSeeding(context, sources, jobs),
    truncation: buildTruncating(context, sources),
    catalogue,
    storedMetatiles: (tileSet, walk) => ledger.storedMetatiles(tileSet, walk),
    options,
    persist: (also) => state.write(also),
    onRollback: (undo) => db.onRollback(undo),
    beforeAbort: () => quota.enforcer.cleanUp(),
    announce: (moment, layer, view) => webhooks.announce(moment, layer, view),
    report: (job) => publish({ kind: "job", job }),
    now,
    monotonicNow,
    log,
  });
  state.attach(runner.records);
  const history = new JobHistory({
    jobs,
    options,
    persist: (also) => state.write(also),
    unsynced: (body) => db.unsynced(body),
    monotonicNow,
    log,
  });
  return { jobs, runner, history };
}

function buildSeeding(context: BuildContext, sources: JobSources, jobs: JobStore): Seeding {
  const { ledger, store, gate, catalogue, jobOptions, sharedStore, state, now, monotonicNow, random, closing } =
    context;
  const { quota, truncations, adoption, clock } = sources;
  return new Seeding({
    ledger,
    store,
    gate,
    jobs,
    catalogue,
    expiredBeforeMs: (layer) => truncations.softTimes.get(layer) ?? 0,
    sharedStore: (layer) => sharedStore() || adoption.isChecking(layer),
    latestMs: () => clock.latestMs(),
    options: jobOptions,
    persist: (also) => state.writeAll(also),
    reservations: {
      begin: (layer) => quota.reservations.begin(layer, "seed"),
      tryReserve: (reservation, size) => quota.enforcer.tryReserve(reservation, size),
      reserve: quota.admit,
    },
    marksCommitted: () => state.marksCommitted(),
    now,
    monotonicNow,
    random,
    closing,
  });
}

function buildTruncating(context: BuildContext, { ledgerTruncations, reclaim }: JobSources): Truncation {
  const { ledger, store, gate, catalogue, state } = context;
  return new Truncation({
    ledger,
    marksCommitted: () => state.marksCommitted(),
    store,
    ledgerTruncations,
    catalogue,
    clearLayer: (layer) => gate.clearLayer(layer),
    saveCounts: () => state.saveJobs(),
    sweep: () => reclaim.sweep(),
  });
}
