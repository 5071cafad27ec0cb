import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasPostgres, removePostgres, startPostgres } from "../test/support/postgres/postgres.ts";
import { putQuota, startServer, usage } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { until } from "../test/support/until.ts";
import { fillLedger, LAYER } from "./large-ledger.ts";
import { median, memoryMiB, pause } from "./support/figures.ts";

/** Measures start, memory and a clean-up pass with twenty million tiles. */
export async function benchLedger(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-ledger-"));
  fillLedger(dataDir);
  await measure(dataDir, {});
}

/** Measures the same in turns with the state in PostgreSQL, which waits for the disk at each commit. */
export async function benchPostgresLedger(): Promise<void> {
  if (!hasPostgres) {
    console.log("  skipped: no PostgreSQL is installed");
    return;
  }
  const embedded = mkdtempSync(join(tmpdir(), "nuthatch-ledger-"));
  fillLedger(embedded, "", "copied");
  await measure(embedded, {});
  const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-ledger-"));
  const directory = `${dataDir}-postgres`;
  const postgres = startPostgres(directory, "on");
  try {
    const url = postgres.url("postgres");
    fillLedger(dataDir, url, "copied");
    console.log("  in PostgreSQL:");
    await measure(dataDir, { NUTHATCH_STATE_TYPE: "postgres", NUTHATCH_STATE_URL: url });
  } finally {
    removePostgres(directory);
  }
}

async function measure(dataDir: string, env: Readonly<Record<string, string>>): Promise<void> {
  const configuration = wmsConfiguration("http://127.0.0.1:9/wms", [{ name: LAYER }]);
  const starts: number[] = [];
  let server = await startServer({ configuration, dataDir, env });
  for (let round = 0; round < 5; round++) {
    await server.kill("SIGKILL");
    const began = performance.now();
    server = await startServer({ configuration, dataDir, env });
    while ((await fetch(`${server.url}/readyz`)).status !== 200);
    await usage(server);
    starts.push(performance.now() - began);
  }
  await pause(2_000);
  const memory = memoryMiB(server.pid);
  const before = await usage(server);
  let most = memory;
  const cleanUp = async (name: string, share: number, policy: string): Promise<void> => {
    const limit = Math.floor(before.total.bytes * share);
    const from = (await usage(server)).total.tiles;
    const runs = (await usage(server)).enforcement.cleanUps;
    await putQuota(server, {
      enabled: true,
      cacheCleanUpFrequency: 1,
      cacheCleanUpUnits: "SECONDS",
      globalExpirationPolicyName: policy,
      globalQuota: { value: limit, units: "B" },
    });
    await until("the clean-up has begun", async () =>
      (await usage(server)).enforcement.cleanUps > runs ? true : undefined,
    );
    const began = performance.now();
    await until(
      "the clean-up has ended",
      async () => {
        most = Math.max(most, memoryMiB(server.pid));
        return (await usage(server)).total.bytes <= limit ? true : undefined;
      },
      600_000,
    );
    const evicted = from - (await usage(server)).total.tiles;
    console.log(`  ${name} of ${evicted} tiles: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  };
  console.log(`  start to ready and counted: ${median(starts).toFixed(0)} ms after a kill`);
  await cleanUp("LFU clean-up", 0.995, "LFU");
  await cleanUp("LRU clean-up", 0.99, "LRU");
  console.log(`  memory: ${memory.toFixed(0)} MiB after the start, ${most.toFixed(0)} MiB at most while cleaning up`);
  await server.close();
}
