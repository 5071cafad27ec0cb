import type { JobRunnerParts } from "../../src/jobs/job-runner.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { JobCounter } from "../../src/plan/job-counter.ts";

/** What jobs ask of a ledger in which nothing is kept. */
export const nothingKept: {
  readonly storedMetatiles: JobRunnerParts["storedMetatiles"];
  readonly counter: JobCounter;
  readonly ledger: Pick<Ledger, "usedCells">;
} = {
  ledger: { *usedCells() {} },
  storedMetatiles: (_, { count }) => ({ next: () => count }),
  counter: new JobCounter({
    ledger: {
      // biome-ignore lint/correctness/useYield: nothing is kept here.
      *countStored() {
        return 0n;
      },
    },
    recounted: async () => undefined,
    isCounted: () => true,
  }),
};
