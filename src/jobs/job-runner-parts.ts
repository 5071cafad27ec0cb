import type { LayerName } from "../layer/tile-set.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import type { StateWriter } from "../ledger/state-writer.ts";
import type { JobView } from "../plan/job/job-documents.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import type { StoredMetatilesOf } from "../plan/order/job-walk.ts";
import type { Database } from "../state/database.ts";
import type { JobMoment } from "./job-event.ts";
import type { JobStore } from "./record/job-store.ts";
import type { Work } from "./work.ts";

/** The parts of the coordinator that the job runner and its parts use. */
export interface JobRunnerParts extends Pick<ServiceParts, "catalogue" | "clock" | "log"> {
  readonly state: Pick<StateWriter, "write">;
  readonly db: Pick<Database, "onRollback">;
  readonly jobs: JobStore;
  readonly seeding: Work;
  readonly truncation: Work;
  readonly storedMetatiles: StoredMetatilesOf;
  readonly options: () => JobOptions;
  /** Announces an event of a job. Called inside the transaction that writes the event. */
  readonly announce: (moment: JobMoment, layer: LayerName, view: () => JobView) => void;
  /** Reports a job in its saved state, with the reason why it waits; null: the job does not wait. */
  readonly report: (job: JobView, waitReason: string | null) => void;
  /** Reports, at the start, a job that had not ended in the last process. */
  readonly takenUp: (job: JobView) => void;
  /**
   * Awaited before a job ends as aborted, after its tasks have stopped, so that the tiles it stored last are brought
   * under the quota.
   */
  readonly beforeAbort: () => Promise<void>;
}
