import type { IgnoredChanges, Outboxes } from "../feed/outbox/outboxes.ts";
import type { JobMetrics } from "../jobs/active/job-totals.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { HistoryTrimmer } from "../jobs/record/history-trimmer.ts";
import type { PurgeView } from "../purge/purge-documents.ts";
import type { StateLoss } from "../state/running-mark.ts";
import type { Webhooks } from "../webhook/webhooks.ts";
import type { BuildContext } from "./coordinator-parts.ts";

/** The counts of the coordinator since the start of the server. */
export interface CoordinatorMetrics extends JobMetrics {
  readonly history: ReturnType<HistoryTrimmer["metrics"]>;
  readonly webhooks: ReturnType<Webhooks["metrics"]>;
  readonly purges: readonly PurgeView[];
  /** The changes of databases that had no effect. */
  readonly ignoredChanges: readonly IgnoredChanges[];
  /** The number of corrupt rows of the ledger. Their blocks were counted from the store. */
  readonly corruptBlocks: number;
  /** The number of failures of background work, for which no caller waits. */
  readonly failedNotes: number;
  /** The parts of the state that were missing at the start of this server. Null if the state was complete. */
  readonly stateLoss: StateLoss | null;
}

export interface MetricsServiceParts extends Pick<BuildContext, "ledger" | "stateLoss" | "purges"> {
  readonly runner: JobRunner;
  readonly history: HistoryTrimmer;
  readonly deliveries: Webhooks;
  readonly outboxes: Pick<Outboxes, "metrics">;
}

/** The operation that returns the coordinator's metrics. */
export class MetricsService {
  readonly #parts: MetricsServiceParts;
  #failedNotes = 0;

  constructor(parts: MetricsServiceParts) {
    this.#parts = parts;
  }

  /** Counts a failure of background work, for which no caller waits. */
  countFailedNote(): void {
    this.#failedNotes++;
  }

  async jobMetrics(): Promise<CoordinatorMetrics> {
    const { runner, history, deliveries, outboxes, purges, ledger, stateLoss } = this.#parts;
    return {
      ...runner.metrics(),
      history: history.metrics(),
      webhooks: deliveries.metrics(),
      purges: purges.metrics(),
      ignoredChanges: outboxes.metrics(),
      corruptBlocks: ledger.corruptBlocks,
      failedNotes: this.#failedNotes,
      stateLoss: stateLoss ?? null,
    };
  }
}
