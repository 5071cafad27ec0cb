import type { Catalogue } from "../layer/catalogue.ts";
import type { Logger } from "../lib/process/logger.ts";
import type { Random } from "../lib/random/random.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Database } from "../state/database.ts";
import type { Ledger } from "./ledger.ts";
import type { StateWriter } from "./state-writer.ts";

/** The parts that most classes of the coordinator use. */
export interface ServiceParts {
  readonly db: Database;
  readonly ledger: Ledger;
  readonly state: StateWriter;
  readonly catalogue: () => Catalogue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Aborted when the server shuts down: steps in progress end, and a later start continues the work. */
  readonly closing: AbortSignal;
}
