import { readFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { newCluster, nodesOf, type TestCluster } from "../test/support/cluster/cluster.ts";
import { hasPostgres, type Postgres, removePostgres, startPostgres } from "../test/support/postgres/postgres.ts";
import { childrenOf } from "../test/support/server/processes.ts";
import { ended, massTruncate, seed, startServer, type TestServer } from "../test/support/server/server.ts";
import { wmsConfiguration } from "../test/support/server/wms-configuration.ts";
import { isReady, until } from "../test/support/until.ts";
import { type BenchLength, cpuSeconds, median, ownCpuSeconds, pause } from "./support/figures.ts";
import { load } from "./support/load.ts";
import { upstreamProcess } from "./support/peers.ts";

const LAYER = "ws:roads";
const LENGTHS = {
  full: { rounds: 5, warmUp: 20_000, requests: 60_000, zoomStop: 6, misses: 60, takeovers: 5 },
  short: { rounds: 1, warmUp: 1_000, requests: 3_000, zoomStop: 4, misses: 10, takeovers: 1 },
} as const;
const MOST_NODES = 3;
const IDLE_MS = 5_000;
/** The leases of a cluster that names none. */
const DEFAULT_LEASES = "nodeLeaseSeconds: 5, leadLeaseSeconds: 30";

/** A server, or the nodes of a cluster. */
interface Contender {
  readonly name: string;
  readonly nodes: readonly TestServer[];
  readonly hitMicros: number[];
  /** CPU of all idle processes, ms a second. */
  readonly idleMs: number[];
  /** By renderers that have started and rendered before. */
  readonly metatileMs: number[];
  /** Additional CPU of a renderer in its first seed: its start, and V8's interpretation and compilation. */
  readonly startMs: number[];
  readonly missMs: number[];
  /** CPU of the lead, without its renderers. */
  readonly lead: { readonly metatileMs: number[]; readonly missMs: number[]; readonly hitsShare: number[] };
  close(): Promise<void>;
}

/** Returns the metatiles of 4x4 tiles of the levels up to one. */
const metatilesTo = (zoomStop: number): number =>
  Array.from({ length: zoomStop + 1 }, (_, z) => Math.ceil(2 ** z / 4) ** 2).reduce((sum, n) => sum + n, 0);

/** Compares one server with clusters of one to three nodes, on one database, by the CPU time of all their processes. */
export async function benchCluster(length: BenchLength): Promise<void> {
  if (!hasPostgres) {
    console.log("cluster: skipped, PostgreSQL is not installed");
    return;
  }
  const { rounds, warmUp, requests, zoomStop, misses, takeovers } = LENGTHS[length];
  const directory = join(tmpdir(), `nuthatch-bench-cluster-${process.pid}`);
  const postgres = startPostgres(directory);
  const upstream = await upstreamProcess();
  const contenders: Contender[] = [];
  try {
    for (let n = 0; n <= MOST_NODES; n++) {
      const contender = await startContender(n, postgres, upstream.url);
      contenders.push(contender);
      await askForHits(contender, warmUp);
    }
    const database: number[] = [];
    for (let round = 0; round < rounds; round++)
      for (const contender of contenders) {
        await measureHits(contender, requests);
        const before = cpuSeconds(postmasterOf(postgres));
        await measureSeed(contender, zoomStop);
        if (contender.nodes.length === MOST_NODES)
          database.push(((cpuSeconds(postmasterOf(postgres)) - before) * 1000) / (2 * metatilesTo(zoomStop)));
        await measureMisses(contender, misses, round);
      }
    report(contenders, median(database));
  } finally {
    for (const contender of contenders) await contender.close();
  }
  await measureTakeovers(postgres, upstream.url, takeovers);
  upstream.close();
  removePostgres(directory);
}

/** Starts one server without a cluster (0), or a cluster of some nodes. The state is in PostgreSQL, tiles in files. */
async function startContender(count: number, postgres: Postgres, url: string): Promise<Contender> {
  const schema = `bench${count}`;
  postgres.sql(`CREATE SCHEMA ${schema}`);
  const state = `${postgres.url("postgres")}&options=-c%20search_path%3D${schema}`;
  const figures = {
    hitMicros: [],
    idleMs: [],
    metatileMs: [],
    startMs: [],
    missMs: [],
    lead: { metatileMs: [], missMs: [], hitsShare: [] },
  };
  if (count === 0) {
    const more = `state: { type: postgres, url: ${JSON.stringify(state)} }`;
    const server = await startServer({ configuration: wmsConfiguration(url, [{ name: LAYER }], more) });
    await isReady(server);
    return { name: "one server without a cluster", nodes: [server], ...figures, close: () => server.close() };
  }
  const cluster = clusterOn(state, url);
  const nodes: TestServer[] = [];
  for (const name of ["a", "b", "c"].slice(0, count)) {
    const node = await cluster.start(name);
    await isReady(node);
    nodes.push(node);
  }
  return { name: `a cluster of ${count}`, nodes, ...figures, close: () => cluster.close() };
}

const clusterOn = (state: string, upstream: string): TestCluster =>
  newCluster({ upstream, layers: [{ name: LAYER }], state: () => state, keys: DEFAULT_LEASES, tileSide: 256 });

/** Returns the CPU seconds of the processes of all nodes. */
const allSeconds = ({ nodes }: Contender): number => nodes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);

/** Returns the CPU seconds of the process of the lead, without its renderers; 0: there is no cluster. */
const leadSeconds = ({ nodes }: Contender): number =>
  nodes.flatMap(({ pid }) => childrenOf(pid).filter(isLead)).reduce((sum, pid) => sum + ownCpuSeconds(pid), 0);

const runs = (pid: number, program: string): boolean => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(program);
const isLead = (pid: number): boolean => runs(pid, "lead-process");

/** Returns the number of renderers that run. The lead itself starts the renderers of its machine. */
const renderersOf = ({ nodes }: Contender): number =>
  nodes
    .flatMap(({ pid }) => childrenOf(pid))
    .flatMap((child) => (isLead(child) ? childrenOf(child) : [child]))
    .filter((pid) => runs(pid, "renderer-process")).length;

const postmasterOf = ({ directory }: Postgres): number =>
  Number(readFileSync(join(directory, "data", "postmaster.pid"), "utf8").split("\n", 1)[0]);

const HIT = `/xyz/${encodeURIComponent(LAYER)}/6/33/21.png`;

/** Requests one tile from each node, which the node then has in memory, until V8 has compiled the code of a hit. */
async function askForHits({ nodes }: Contender, requests: number): Promise<void> {
  for (const { url, port } of nodes) {
    await (await fetch(url + HIT)).arrayBuffer();
    await load(port, [HIT], requests);
  }
}

/**
 * Measures hits from memory, at one node after the other, because in production each node has a machine. The CPU of
 * idle processes is measured separately and not counted, because it depends on the length of the measurement.
 */
async function measureHits(contender: Contender, requests: number): Promise<void> {
  const { nodes, hitMicros, idleMs, lead } = contender;
  // The round before has truncated the layer.
  await askForHits(contender, 1_000);
  const before = [performance.now(), allSeconds(contender), leadSeconds(contender)] as const;
  await pause(IDLE_MS);
  const idleFor = performance.now() - before[0];
  const idle = (allSeconds(contender) - before[1]) / idleFor;
  const leadIdle = (leadSeconds(contender) - before[2]) / idleFor;
  idleMs.push(idle * 1e6);
  const [began, all, leads] = [performance.now(), allSeconds(contender), leadSeconds(contender)];
  for (const { port } of nodes) await load(port, [HIT], requests / nodes.length);
  const ms = performance.now() - began;
  const seconds = allSeconds(contender) - all - idle * ms;
  hitMicros.push((seconds * 1e6) / requests);
  lead.hitsShare.push((leadSeconds(contender) - leads - leadIdle * ms) / seconds);
}

/**
 * Seeds twice: a cluster of three starts three times as many renderers as one server, and a short seed would measure
 * their starts. The second seed measures a metatile, the difference of the two a start.
 */
async function measureSeed(contender: Contender, zoomStop: number): Promise<void> {
  const metatiles = metatilesTo(zoomStop);
  const before = renderersOf(contender);
  const first = await seedOnce(contender, zoomStop);
  const started = renderersOf(contender) - before;
  const second = await seedOnce(contender, zoomStop);
  contender.metatileMs.push((second.all * 1000) / metatiles);
  contender.lead.metatileMs.push((second.lead * 1000) / metatiles);
  if (before === 0) contender.startMs.push(((first.all - second.all) * 1000) / started);
}

/** Returns the CPU seconds of a seed of the empty layer. */
async function seedOnce(
  contender: Contender,
  zoomStop: number,
): Promise<{ readonly all: number; readonly lead: number }> {
  const [first] = contender.nodes;
  if (first === undefined) throw new Error("there is a node");
  await truncated(first);
  const [all, leads] = [allSeconds(contender), leadSeconds(contender)];
  const job = await seed(first, LAYER, {
    gridSetId: "EPSG:900913",
    zoomStart: 0,
    zoomStop,
    format: "image/png",
    threadCount: 8,
  });
  const { outcome } = await ended(first, job, 600_000);
  if (outcome !== "done") throw new Error(`the seed ended as ${outcome}`);
  return { all: allSeconds(contender) - all, lead: leadSeconds(contender) - leads };
}

/** Misses one metatile after the other, at the nodes in turns. */
async function measureMisses(contender: Contender, misses: number, round: number): Promise<void> {
  const [all, leads] = [allSeconds(contender), leadSeconds(contender)];
  for (let n = 0; n < misses; n++) {
    const node = contender.nodes[n % contender.nodes.length];
    const response = await fetch(`${node?.url}/xyz/${encodeURIComponent(LAYER)}/12/${n * 4}/${round * 4}.png`);
    await response.arrayBuffer();
    if (response.headers.get("geowebcache-cache-result") !== "MISS") throw new Error(`no miss: ${response.status}`);
  }
  contender.missMs.push(((allSeconds(contender) - all) * 1000) / misses);
  contender.lead.missMs.push(((leadSeconds(contender) - leads) * 1000) / misses);
}

async function truncated(node: TestServer): Promise<void> {
  const { status } = await massTruncate(node, LAYER);
  if (status !== 200) throw new Error(`a truncation was answered ${status}`);
}

function report(contenders: readonly Contender[], databaseMs: number): void {
  const [alone] = contenders;
  const load = loadavg()[0] ?? Number.NaN;
  for (const { name, hitMicros, idleMs, metatileMs, startMs, missMs, lead } of contenders) {
    const ratio = (own: readonly number[], other: readonly number[] = []): string =>
      median(own.map((value, i) => value / (other[i] ?? Number.NaN))).toFixed(2);
    console.log(
      `${name}: ${median(hitMicros).toFixed(1)} µs CPU a hit (ratio ${ratio(hitMicros, alone?.hitMicros)}), ${median(metatileMs).toFixed(1)} ms a seeded metatile (${ratio(metatileMs, alone?.metatileMs)}), ${median(startMs).toFixed(0)} ms the start of a renderer, ${median(missMs).toFixed(1)} ms a missed one (${ratio(missMs, alone?.missMs)}), ${median(idleMs).toFixed(1)} ms a second while nothing is asked`,
    );
    if (median(lead.metatileMs) > 0)
      console.log(
        `  of that the lead: ${median(lead.metatileMs).toFixed(2)} ms a seeded metatile, ${median(lead.missMs).toFixed(2)} ms a missed one, ${(100 * median(lead.hitsShare)).toFixed(1)} % of the CPU of hits`,
      );
  }
  console.log(`  PostgreSQL: ${databaseMs.toFixed(2)} ms a seeded metatile; load of the machine ${load.toFixed(1)}`);
}

/** Kills the node that leads, and measures the time until another node leads, and until that node answers a miss. */
async function measureTakeovers(postgres: Postgres, url: string, takeovers: number): Promise<void> {
  postgres.sql("CREATE SCHEMA takeovers");
  const cluster = clusterOn(`${postgres.url("postgres")}&options=-c%20search_path%3Dtakeovers`, url);
  const leads: number[] = [];
  const misses: number[] = [];
  const changes: number[] = [];
  try {
    let first = await cluster.start("a");
    await isReady(first);
    let [firstName, secondName] = ["a", "b"];
    for (let n = 0; n < takeovers; n++) {
      const second = await cluster.start(secondName);
      await isReady(second);
      const began = performance.now();
      await first.kill("SIGKILL");
      const missed = until("a miss", async () => {
        const response = await fetch(`${second.url}/xyz/${encodeURIComponent(LAYER)}/12/${n * 4}/4000.png`);
        await response.arrayBuffer();
        return response.status === 200 ? performance.now() - began : undefined;
      });
      await until("another one leads", async () => {
        const rows = await nodesOf(second).catch(() => []);
        return rows?.some(({ name, lead }) => lead && name === secondName) || undefined;
      });
      leads.push(performance.now() - began);
      misses.push(await missed);
      await truncated(second);
      changes.push(performance.now() - began);
      first = second;
      [firstName, secondName] = [secondName, firstName];
    }
    const text = [leads, misses, changes].map(
      (all) => `${median(all).toFixed(0)} (at most ${Math.max(...all).toFixed(0)})`,
    );
    console.log(
      `a takeover after kill -9: another node leads after ${text[0]} ms, answers a miss after ${text[1]} ms, a truncation after ${text[2]} ms`,
    );
  } finally {
    await cluster.close();
  }
}
