import type { JobRunner } from "../jobs/job-runner.ts";
import type { JobMetrics } from "../jobs/job-totals.ts";
import type { HistoryTrimmer } from "../jobs/record/history-trimmer.ts";
import type { StateLoss } from "../state/running-mark.ts";
import type { Webhooks } from "../webhook/webhooks.ts";
import type { BuildContext } from "./coordinator-parts.ts";

/** The counts of the coordinator since the start of the server. */
export interface CoordinatorMetrics extends JobMetrics {
  readonly history: ReturnType<HistoryTrimmer["metrics"]>;
  readonly webhooks: ReturnType<Webhooks["metrics"]>;
  /** Rows of the ledger that were corrupt, and whose blocks were counted from the store. */
  readonly corruptBlocks: number;
  /** The number of failures of work that no caller waits for. */
  readonly failedNotes: number;
  /** The parts of the state that were missing when this server started. */
  readonly stateLoss: StateLoss | null;
}

export interface MetricsServiceParts extends Pick<BuildContext, "ledger" | "stateLoss"> {
  readonly runner: JobRunner;
  readonly history: HistoryTrimmer;
  readonly deliveries: Webhooks;
}

/** The operation that returns the coordinator's metrics. */
export class MetricsService {
  readonly #parts: MetricsServiceParts;
  #failedNotes = 0;

  constructor(parts: MetricsServiceParts) {
    this.#parts = parts;
  }

  /** Counts a failure of work that no caller waits for. */
  countFailedNote(): void {
    this.#failedNotes++;
  }

  async jobMetrics(): Promise<CoordinatorMetrics> {
    const { runner, history, deliveries, ledger, stateLoss } = this.#parts;
    return {
      ...runner.metrics(),
      history: history.metrics(),
      webhooks: deliveries.metrics(),
      corruptBlocks: ledger.corruptBlocks,
      failedNotes: this.#failedNotes,
      stateLoss: stateLoss ?? null,
    };
  }
}
