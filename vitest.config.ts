import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { hasPostgres } from "./test/support/postgres/postgres.ts";

// The gate gives the same result twice: its properties and the order of its tests have one seed.
const gate = process.env["NUTHATCH_GATE"] === "1";
// Of all that is random in a test: `npm test` explores, and `NUTHATCH_TEST_SEED=N` does the same again.
const seed = gate ? "20261121" : (process.env["NUTHATCH_TEST_SEED"] ?? String(Date.now() % 2 ** 31));
process.env["NUTHATCH_TEST_SEED"] = seed;

// The directory of the one PostgreSQL of this run, which the first test that needs it starts.
const postgres = join(tmpdir(), `nuthatch-postgres-${process.pid}`);
process.env["NUTHATCH_TEST_POSTGRES"] ??= postgres;

/** Where PostgreSQL is installed, the tests of these files run a second time, with their state in PostgreSQL. */
const ON_POSTGRES = [
  "account/account-service",
  "activity/activity-service",
  "jobs/job-runner",
  "jobs/record/job-store",
  "ledger/counting/adoption",
  "ledger/blocks/block-table",
  "ledger/cells/eviction-order",
  "ledger/ledger",
  "ledger/cells/marks",
  "ledger/cells/used-cells",
  "quota/enforcer",
  "quota/eviction",
  "quota/usage-trend",
  "state/clock-record",
  "state/database",
  "truncation/mass-truncation-service",
  "truncation/truncations",
  "webhook/webhooks",
].map((name) => `src/${name}.test.ts`);
const onPostgres = {
  extends: true as const,
  test: {
    name: "postgres",
    include: ON_POSTGRES,
    isolate: false,
    env: { NUTHATCH_TEST_SEED: seed, NUTHATCH_TEST_STATE: "postgres" },
  },
};

/** The small files that take longest. They begin first, so that the end of a run does not wait for them. */
const LONGEST = [
  "engine/cluster/kills",
  "engine/cluster/failures",
  "engine/jobs/runs",
  "docs/shell-blocks",
  "engine/cluster/stores",
  "engine/s3/s3",
  "engine/jobs/reseed",
].map((name) => `test/${name}.test.ts`);

/** Sorts by size, and in later runs by time, but for the longest files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLongest = ({ moduleId }: TestSpecification): boolean =>
      LONGEST.some((name) => moduleId.endsWith(`/${name}`));
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    projects: [
      // A file changes nothing outside of itself: many of them share a process, which is started once.
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts", "ui/**/*.test.ts"], isolate: false } },
      { extends: true, test: { name: "program", include: ["test/**/*.test.ts"], isolate: false } },
      ...(hasPostgres ? [onPostgres] : []),
    ],
    sequence: { sequencer: LongestFirst, shuffle: { tests: true, files: false }, seed: Number(seed) },
    setupFiles: ["test/random-setup.ts"],
    // No test waits for a metadata service of the machine that it runs on.
    env: { NUTHATCH_TEST_SEED: seed, AWS_EC2_METADATA_DISABLED: "true" },
    // A test that needs luck is mended.
    retry: 0,
    // vitest leaves one core of two idle; most tests wait for servers that they have started. Two more than cores took longer.
    maxWorkers: availableParallelism() + 2,
    allowOnly: false,
    // Tests that run at the same time wait for an upstream's time-outs and pauses, hardly for a core.
    maxConcurrency: 20,
    // A condition that is polled may take its time on a busy machine: a second, vitest's own limit, is too short there.
    expect: { requireAssertions: true, poll: { timeout: 60_000, interval: 40 } },
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
});
