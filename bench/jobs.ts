import { join } from "node:path";
import { machineDisk } from "../src/lib/file/machine-disk.ts";
import { openDatabase } from "../src/state/embedded-database.ts";
import { ended, rows, seed, startServer, type TestServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { startUpstream } from "../test/support/upstream/upstream.ts";
import { median, memoryMiB } from "./support/figures.ts";

const JOBS = 1_000_000;
const RARE = "rare";

/** Writes a history of many small jobs, all copies of the job that the server has just done. */
function multiply(dataDir: string): void {
  const db = openDatabase(join(dataDir, "state.db"), machineDisk);
  db.exec("BEGIN");
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${JOBS})
    INSERT INTO job (layer, type, state, request, progress, created_ms, started_ms, ended_ms, created_by)
    SELECT layer, type, state, request, progress, created_ms, started_ms, ended_ms, created_by FROM job, n WHERE id = 2`);
  db.exec("INSERT INTO task (job, state, processed) SELECT id, 'done', '1' FROM job WHERE id > 2");
  db.exec("COMMIT");
  db.close();
}

async function listMs(server: TestServer, query: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 15; round++) {
    const beganMs = performance.now();
    await (await fetch(`${server.url}/api/v1/jobs${query}`)).arrayBuffer();
    times.push(performance.now() - beganMs);
  }
  return median(times);
}

/** Measures start, memory and lists with a history of a million jobs. */
export async function benchJobs(): Promise<void> {
  const upstream = await startUpstream();
  const configuration = wmsConfiguration(upstream.url, [{ name: RARE }, { name: "a" }]);
  let server = await startServer({ configuration });
  const request = { zoomStart: 0, zoomStop: 0, format: "image/png" };
  for (const layer of [RARE, "a"]) await ended(server, await seed(server, layer, request));
  const figures = async (jobs: number): Promise<void> => {
    const queries = ["?limit=100", `?limit=100&layer=${RARE}`, "?limit=100&state=aborted", "?limit=100&type=truncate"];
    const reported: string[] = [];
    for (const query of queries) reported.push(`${query} ${(await listMs(server, query)).toFixed(1)} ms`);
    console.log(`  ${jobs} jobs: ${reported.join(", ")}; ${memoryMiB(server.pid).toFixed(0)} MiB`);
  };
  console.log("jobs in the history");
  await figures(2);
  await server.kill("SIGTERM");
  multiply(server.dataDir);
  const beganMs = performance.now();
  server = await server.restart();
  await rows(server);
  console.log(`  start with ${JOBS + 2} jobs: ${(performance.now() - beganMs).toFixed(0)} ms`);
  await figures(JOBS + 2);
  await server.close();
  await upstream.close();
}
