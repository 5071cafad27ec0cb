import type { JobRunnerParts } from "../../../src/jobs/job-runner-parts.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { machineClock } from "../../../src/lib/time/machine-clock.ts";
import { JobCounter } from "../../../src/plan/job/job-counter.ts";

/** The functions that jobs call on a ledger, for a ledger without stored tiles. */
export const nothingStored: {
  readonly storedMetatiles: JobRunnerParts["storedMetatiles"];
  readonly counter: JobCounter;
  readonly ledger: Pick<Ledger, "usedCells" | "clock">;
} = {
  ledger: { clock: machineClock, *usedCells() {} },
  storedMetatiles: (_, { count }) => ({ next: () => count }),
  counter: new JobCounter({
    ledger: {
      clock: machineClock,
      // biome-ignore lint/correctness/useYield: the store is empty.
      *countStored() {
        return 0n;
      },
    },
    recounted: async () => undefined,
    isCounted: () => true,
  }),
};
