import { JobCounter } from "../../src/jobs/job-counter.ts";
import type { JobRunnerParts } from "../../src/jobs/job-runner.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";

/** What jobs ask of a ledger in which nothing is kept. */
export const nothingKept: {
  readonly keptMetatiles: JobRunnerParts["keptMetatiles"];
  readonly counter: JobCounter;
  readonly ledger: Pick<Ledger, "usedCells">;
} = {
  ledger: { *usedCells() {} },
  keptMetatiles: (_, { count }) => ({ next: () => count }),
  counter: new JobCounter({
    ledger: {
      // biome-ignore lint/correctness/useYield: nothing is kept here.
      *countKept() {
        return 0n;
      },
    },
    recounted: async () => undefined,
    isCounted: () => true,
  }),
};
