import { defineConfig } from "vitest/config";

// Not in the gate: most of these tests install a program from its registry. `npm run neighbours` runs them.
export default defineConfig({
  test: {
    root: ".",
    include: ["test/neighbours/**/*.neighbour.ts"],
    setupFiles: ["test/random-setup.ts"],
    env: { NUTHATCH_TEST_SEED: process.env["NUTHATCH_TEST_SEED"] ?? "1" },
    retry: 0,
    maxWorkers: 1,
    allowOnly: false,
    expect: { requireAssertions: true, poll: { timeout: 60_000, interval: 40 } },
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
