import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { scanBucket } from "../support/bucket-scan.ts";
import { isReady, newCluster, nodesOf, type TestCluster } from "../support/cluster.ts";
import { type DatedMap, Floor, random, startDatedMap, versionOf } from "../support/dated-map.ts";
import { inFull } from "../support/full.ts";
import { hasPostgres, removePostgres, startPostgres } from "../support/postgres.ts";
import { childrenOf, send } from "../support/processes.ts";
import { NO_S3, NO_VERSITYGW, startS3 } from "../support/s3-server.ts";
import { type JobJson, massTruncate, rendered, seed, type TestServer, until, usage } from "../support/server.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { testSeed } from "../support/test-seed.ts";
import { truncations, undo } from "../support/truncations.ts";

const EVENTS = inFull(200, 40);
const NAMES = ["a", "b", "c"] as const;
type Name = (typeof NAMES)[number];
const SERVICE = NO_VERSITYGW === undefined ? "versitygw" : "SeaweedFS";

/** A call of a client, for the history: which node was asked, what came back. */
class History {
  readonly #random = random(testSeed());
  readonly #map: DatedMap;
  readonly #nodes: Map<Name, TestServer>;
  readonly floor = new Floor();
  readonly stale: string[] = [];
  readonly accepted: number[] = [];
  counts = { reads: 0, refused: 0, truncations: 0, undos: 0, unanswered: 0 };

  constructor(map: DatedMap, nodes: Map<Name, TestServer>) {
    this.#map = map;
    this.#nodes = nodes;
  }

  below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  #node(): TestServer {
    const all = [...this.#nodes.values()];
    return all[this.below(all.length)] ?? expect.fail("there is a node");
  }

  async operate(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      try {
        await this.#operateOnce(this.#node());
      } catch {
        // The node has gone, or was stopped: what it was asked may have been carried out.
        this.counts.unanswered++;
        await sleep(20);
      }
    }
  }

  async #operateOnce(node: TestServer): Promise<void> {
    const listed = await fetch(`${node.url}/api/v1/truncations?layer=a`, { signal: AbortSignal.timeout(10_000) });
    if (listed.status !== 200) {
      await sleep(50);
      return;
    }
    const { truncations: known }: { truncations: { id: number; state: string }[] } = JSON.parse(await listed.text());
    this.floor.note(known.map(({ id }) => id));
    switch (this.below(4)) {
      case 0: {
        const version = ++this.#map.version;
        const answer = await massTruncate(node, "a");
        if (answer.status !== 200) return;
        // The id of the truncation is not in the answer: those that are listed now began before the floor rises.
        const [last] = await truncations(node, "?layer=a").catch(() => []);
        this.floor.note(last === undefined ? [] : [last.id]);
        this.floor.now = version;
        this.counts.truncations++;
        return;
      }
      case 1: {
        const last = known.find(({ state }) => state === "kept");
        if (last === undefined) return;
        this.floor.undoing(last.id);
        if ((await undo(node, last.id)).status === 200) this.counts.undos++;
        return;
      }
      case 2:
        this.accepted.push(
          await seed(node, "a", { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, threadCount: 2 }),
        );
        return;
      default:
        await sleep(this.below(100));
    }
  }

  async read(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const z = this.below(5);
      const [x, y] = [this.below(2 ** z), this.below(2 ** z)];
      const floorBefore = this.floor.now;
      try {
        const node = this.#node();
        const path = `/xyz/a/${z}/${x}/${y}.png`;
        const response = await fetch(node.url + path, { signal: AbortSignal.timeout(20_000) });
        const body = new Uint8Array(await response.arrayBuffer());
        if (response.status !== 200) {
          this.counts.refused++;
          await sleep(20);
          continue;
        }
        const version = await versionOf(body);
        this.counts.reads++;
        if (version < Math.min(floorBefore, this.floor.now))
          this.stale.push(`${path} of ${node.port}: version ${version}, expected ${floorBefore} or later`);
      } catch {
        // The node has gone, or is stopped.
        await sleep(20);
      }
    }
  }
}

interface Place {
  readonly cluster: TestCluster;
  readonly nodes: Map<Name, TestServer>;
  readonly database: Record<Name, TcpProxy>;
  readonly bucket: TcpProxy;
}

/** Disturbs one thing, and mends it. */
async function disturb(history: History, { cluster, nodes, database, bucket }: Place): Promise<string> {
  const name = NAMES[history.below(NAMES.length)] ?? "a";
  const node = nodes.get(name);
  if (node === undefined) throw new Error(`node ${name} has not begun`);
  const pauseMs = 200 + history.below(2_500);
  switch (history.below(6)) {
    case 0: {
      await node.kill("SIGKILL");
      await sleep(history.below(1_500));
      nodes.set(name, await cluster.start(name));
      return `kill of ${name}`;
    }
    case 1: {
      await node.kill("SIGTERM");
      nodes.set(name, await cluster.start(name));
      return `end of ${name}`;
    }
    case 2: {
      send(node.pid, "SIGSTOP");
      await sleep(pauseMs);
      send(node.pid, "SIGCONT");
      return `stop of ${name} for ${pauseMs} ms`;
    }
    case 3: {
      // The lead alone, beyond its lease now and then; its renderers go on.
      const nodesNow = await nodesOf(node).catch(() => []);
      const lead = nodesNow.find((one) => one.lead)?.name;
      const led = NAMES.find((one) => one === lead);
      const pid = led === undefined ? undefined : nodes.get(led)?.pid;
      const children = pid === undefined ? [] : childrenOf(pid);
      for (const child of children) send(child, "SIGSTOP");
      await sleep(pauseMs * 2);
      for (const child of children) send(child, "SIGCONT");
      return `stop of the lead on ${lead} for ${pauseMs * 2} ms`;
    }
    case 4: {
      const mode = history.below(2) === 0 ? "refuse" : "swallow";
      database[name].set(mode);
      await sleep(pauseMs);
      database[name].set("refuse");
      database[name].set("pass");
      return `${name} without database (${mode}) for ${pauseMs} ms`;
    }
    default: {
      bucket.set("refuse");
      await sleep(pauseMs);
      bucket.set("pass");
      return `no bucket for ${pauseMs} ms`;
    }
  }
}

describe.skipIf(!hasPostgres || (NO_S3 !== undefined && NO_VERSITYGW !== undefined))("three nodes", () => {
  test(`after ${EVENTS} kills, stops and cuts nothing old was read, and counts and jobs are exact (seed ${testSeed()})`, {
    timeout: 3_000_000,
  }, async ({ onTestFinished }) => {
    const service = await startS3(SERVICE);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const map = await startDatedMap();
    onTestFinished(() => map.upstream.close());
    const directory = join(tmpdir(), `nuthatch-kills-${process.pid}`);
    const postgres = startPostgres(directory);
    onTestFinished(() => removePostgres(directory));
    const bucket = await startTcpProxy(Number(new URL(service.endpoint).port));
    onTestFinished(() => bucket.close());
    const proxies = await Promise.all(NAMES.map(async (name) => [name, await startTcpProxy(postgres.socket)] as const));
    for (const [, proxy] of proxies) onTestFinished(() => proxy.close());
    const database = Object.fromEntries(proxies) as Record<Name, TcpProxy>;
    const account = "accessKeyId: nuthatch, secretAccessKey: nuthatch-secret";
    const place = `endpoint: "http://127.0.0.1:${bucket.port}", bucket: tiles, prefix: kills, pathStyle: true`;
    const cluster = newCluster({
      upstream: map.upstream.url,
      layers: [{ name: "a" }],
      state: (name) => `postgres://nuthatch@127.0.0.1:${database[name as Name].port}/postgres`,
      stores: `[{ id: main, type: s3, ${place}, ${account} }]`,
      keys: "nodeLeaseSeconds: 2, leadLeaseSeconds: 6, putSeconds: 5",
      more: "diskQuota: { count: content }",
    });
    onTestFinished(() => cluster.close());
    const nodes = new Map<Name, TestServer>();
    for (const name of NAMES) nodes.set(name, await cluster.start(name));
    for (const node of nodes.values()) await isReady(node);
    const history = new History(map, nodes);
    const over = new AbortController();
    const work = [history.operate(over.signal), ...[1, 2, 3, 4].map(() => history.read(over.signal))];
    for (let n = 0; n < EVENTS; n++) {
      const event = await disturb(history, { cluster, nodes, database, bucket });
      await sleep(history.below(2_000));
      expect(history.stale, event).toEqual([]);
      if (n % 10 === 9) console.log(`${n + 1} events, the last: ${event}; ${JSON.stringify(history.counts)}`);
    }
    over.abort();
    await Promise.all(work);
    for (const node of nodes.values()) await isReady(node);
    const [first] = [...nodes.values()];
    if (first === undefined) throw new Error("there is a node");
    await jobsAreExact(first, history.accepted);
    await fetch(`${first.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
    await rendered(first);
    const counted = async (): Promise<true | undefined> => {
      const { total } = await usage(first);
      const { tiles, bytes } = await scanBucket(service.options("kills"));
      return Number(total.tiles) === tiles && Number(total.bytes) === bytes ? true : undefined;
    };
    await until("usage equals the bucket", counted, 60_000, first);
    expect(history.stale).toEqual([]);
    expect(history.counts.truncations).toBeGreaterThan(EVENTS / 10);
  });
});

/** Every accepted job is there and ends, and its counts are exact. */
async function jobsAreExact(node: TestServer, accepted: readonly number[]): Promise<void> {
  expect(new Set(accepted).size).toBe(accepted.length);
  const all = await until(
    "all jobs have ended",
    async () => {
      const { jobs }: { jobs: JobJson[] } = JSON.parse(
        await (await fetch(`${node.url}/api/v1/jobs?limit=1000`)).text(),
      );
      return jobs.every(({ state }) => state === "done" || state === "aborted") ? jobs : undefined;
    },
    300_000,
    node,
  );
  const byId = new Map(all.map((one) => [one.id, one]));
  for (const id of accepted) {
    const found = byId.get(id) ?? expect.fail(`job ${id} was accepted and is not there`);
    const { total, stored, skipped, failed } = found.tiles;
    if (found.state === "done") expect(stored + skipped + failed, `job ${id}`).toBe(total);
  }
}
