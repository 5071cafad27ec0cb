import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// The gate gives the same result twice: its properties have one seed.
const gate = process.env["NUTHATCH_GATE"] === "1";
// Of all that is random in a test: `npm test` explores, and `NUTHATCH_TEST_SEED=N` does the same again.
const seed = gate ? "20261121" : (process.env["NUTHATCH_TEST_SEED"] ?? String(Date.now() % 2 ** 31));
process.env["NUTHATCH_TEST_SEED"] = seed;

/** They compare times, or wait for long outages: a busy machine of CI is no place for them. `npm test` has them. */
const TIMED = ["live-users", "outage", "job-progress"].map((name) => `test/engine/${name}.test.ts`);

export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    projects: [
      // These files change nothing outside of themselves: many of them share a process, which is started once.
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts", "ui/**/*.test.ts"], isolate: false } },
      { extends: true, test: { name: "program", include: ["test/**/*.test.ts"], exclude: gate ? TIMED : [] } },
    ],
    // Files by size: the longest runs do not begin when all others have ended.
    sequence: { shuffle: { tests: true, files: false } },
    setupFiles: ["test/random-setup.ts"],
    env: { NUTHATCH_TEST_SEED: seed },
    // A test that needs luck is mended.
    retry: 0,
    // vitest leaves one core of two idle; most tests wait for servers that they have started. Two more than cores took longer.
    maxWorkers: availableParallelism() + 2,
    allowOnly: false,
    // Tests that run at the same time wait for an upstream's time-outs and pauses, hardly for a core.
    maxConcurrency: 20,
    expect: { requireAssertions: true },
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
});
