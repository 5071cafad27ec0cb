import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { hasPostgres } from "./test/support/postgres.ts";

// The gate gives the same result twice: its properties and the order of its tests have one seed.
const gate = process.env["NUTHATCH_GATE"] === "1";
// Of all that is random in a test: `npm test` explores, and `NUTHATCH_TEST_SEED=N` does the same again.
const seed = gate ? "20261121" : (process.env["NUTHATCH_TEST_SEED"] ?? String(Date.now() % 2 ** 31));
process.env["NUTHATCH_TEST_SEED"] = seed;

/**
 * The gate leaves these out, `npm test` has them: the first three compare times or wait for long outages, which a busy
 * machine of CI cannot; each other takes about a minute there, and shorter tests hold what it holds in the large.
 */
const LONG = [
  "live-users",
  "outage",
  "job-progress",
  "adoption",
  "backup",
  "burst",
  "configured-objects",
  "configuration-kills",
  "copied-tiles",
  "exchange",
  "faults",
  "full-disk",
  "hard-cap",
  "log",
  "lost-state",
  "many-jobs",
  "store-copy",
  "two-disks",
  "pass-through",
  "postgres-tls",
  "postgres-outages",
  "postgres-truncations",
  "s3",
  "s3-failures",
  "s3-kills",
  "cluster-kills",
  "cluster-failures",
  "cluster-lead",
  "cluster-upgrade",
  "cluster-stores",
  "removed-layer",
  "feeds",
  "geowebcache-tiles",
  "area",
  "estimate",
  "formats-together",
  "job-order",
  "job-parts",
  "job-terms",
  "jobs-life",
  "load",
  "log-story",
  "only-existing",
  "parameter-values",
  "permanent-failures",
  "quota-on-disk",
  "runs",
  "server-events",
  "stopped-process",
  "take-over-tiles",
  "access",
  "archives",
  "history",
  "metrics",
  "operators.property",
  "postgres-state",
  "restored-state",
  "seed-guard",
  "workers",
].map((name) => `test/engine/${name}.test.ts`);
/** They start several servers on directories of their own. */
LONG.push(
  "test/contract/geowebcache-acceptance.test.ts",
  "test/contract/geowebcache-directory.test.ts",
  "test/contract/writable.test.ts",
  "test/clients/import-mapproxy.test.ts",
  "test/console/edit.test.ts",
  "test/console/nodes.test.ts",
);
/** They test views of the console, or commands. The gate keeps other files of both. */
LONG.push(
  ...["connection", "coverage", "firefox", "layer-preview", "new-job", "schedules", "settings", "truncations"].map(
    (name) => `test/console/${name}.test.ts`,
  ),
  "src/cli/commands/quota-command.test.ts",
  "src/cli/commands/server-commands.test.ts",
  "src/cli/completion/completion.test.ts",
  "src/cli/many-jobs.test.ts",
  "src/cli/terminal.test.ts",
);
/** They start a browser, or run every command of the documentation. */
LONG.push("test/docs/search.test.ts", "test/docs/shell-blocks.test.ts");
/** They make packages, install them and run what they have. */
LONG.push(
  ...["npm-package", "debian-package", "container-image", "compose", "helm-chart"].map(
    (name) => `test/packaging/${name}.test.ts`,
  ),
);

// The directory of the one PostgreSQL of this run, which the first test that needs it starts.
const postgres = join(tmpdir(), `nuthatch-postgres-${process.pid}`);
process.env["NUTHATCH_TEST_POSTGRES"] ??= postgres;

/** Where PostgreSQL is installed, the tests of these files run a second time, with their state in PostgreSQL. */
const ON_POSTGRES = [
  "jobs/record/job-store",
  "ledger/block-table",
  "ledger/marks",
  "state/database",
  // These take minutes together: the gate has no time for them.
  ...(gate
    ? []
    : [
        "account/account-service",
        "activity/activity-service",
        "jobs/job-runner",
        "ledger/adoption",
        "ledger/eviction-order",
        "ledger/ledger",
        "ledger/used-cells",
        "quota/access-log",
        "quota/enforcer",
        "quota/eviction",
        "quota/usage-trend",
        "state/clock-record",
        "truncation/mass-truncation-service",
        "truncation/truncations",
        "webhook/webhooks",
      ]),
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

export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    exclude: gate ? LONG : [],
    projects: [
      // A file changes nothing outside of itself: many of them share a process, which is started once.
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts", "ui/**/*.test.ts"], isolate: false } },
      { extends: true, test: { name: "program", include: ["test/**/*.test.ts"], isolate: false } },
      ...(hasPostgres ? [onPostgres] : []),
    ],
    // Files by size: the longest runs do not begin when all others have ended.
    sequence: { shuffle: { tests: true, files: false }, seed: Number(seed) },
    setupFiles: ["test/random-setup.ts"],
    env: { NUTHATCH_TEST_SEED: seed },
    // A test that needs luck is mended.
    retry: 0,
    // vitest leaves one core of two idle; most tests wait for servers that they have started. Two more than cores took longer.
    maxWorkers: availableParallelism() + 2,
    allowOnly: false,
    // Tests that run at the same time wait for an upstream's time-outs and pauses, hardly for a core.
    maxConcurrency: 20,
    // A condition that is polled may take its time on a busy machine: a second, vitest's own limit, is too short there.
    expect: { requireAssertions: true, poll: { timeout: 60_000, interval: 10 } },
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
});
