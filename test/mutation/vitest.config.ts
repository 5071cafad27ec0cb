import { defineConfig } from "vitest/config";
import { testSeed } from "../support/test-seed.ts";

// `run.ts` passes the test files and the seed. With one seed a mutant that was found once is found again.
export default defineConfig({
  test: {
    include: (process.env["NUTHATCH_MUTATION_TESTS"] ?? "").split(" "),
    setupFiles: ["test/random-setup.ts"],
    // All test files that run against a mutant share one worker.
    isolate: false,
    env: { NUTHATCH_TEST_SEED: String(testSeed()) },
    expect: { requireAssertions: true, poll: { timeout: 5_000, interval: 40 } },
    testTimeout: 60_000,
  },
});
