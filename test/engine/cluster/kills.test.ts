import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ClusterClients, LAYERS } from "../../support/cluster/clients.ts";
import { disturb, KINDS } from "../../support/cluster/disturbances.ts";
import { type ProxiedCluster, startProxiedCluster } from "../../support/cluster/proxied-cluster.ts";
import { inFull } from "../../support/full.ts";
import { violationsOf } from "../../support/jobs/client-history.ts";
import { truncation, truncations } from "../../support/jobs/truncations.ts";
import { hasPostgres } from "../../support/postgres/postgres.ts";
import { random } from "../../support/random.ts";
import { scanBucket, sweptTwice } from "../../support/s3/bucket-scan.ts";
import { NO_S3, NO_VERSITYGW } from "../../support/s3/server.ts";
import { type JobJson, putQuota, rendered, type TestServer, usage } from "../../support/server/server.ts";
import { testSeed } from "../../support/test-seed.ts";
import { isReady, until } from "../../support/until.ts";
import { startDatedMap } from "../../support/upstream/dated-map.ts";

const EVENTS = inFull("events", 200, 40);
/** The quota of layer `b`, which its readers fill within seconds. */
const QUOTA_BYTES = 40_000;
const CONNECTIONS = 2;
/** A metatile of 16 tiles with one colour each. */
const METATILE_BYTES = 16 * 200;
/** The tiles that the renderers of a lost lead, and of the next lead, may have in progress. */
const IN_FLIGHT_BYTES = 2 * CONNECTIONS * METATILE_BYTES;

describe.skipIf(!hasPostgres || (NO_S3 !== undefined && NO_VERSITYGW !== undefined))("three nodes", () => {
  test(`${EVENTS} kills, stops, cuts and restarts leave the history of one server, and counts, jobs and bucket are exact (seed ${testSeed()})`, {
    timeout: 3_000_000,
  }, async ({ onTestFinished }) => {
    const map = await startDatedMap();
    onTestFinished(() => map.upstream.close());
    const place = await startProxiedCluster({
      upstream: map.upstream.url,
      names: ["a", "b", "c"],
      layers: LAYERS.map((name) => ({ name, connections: name === "b" ? CONNECTIONS : 8 })),
      keys: "nodeLeaseSeconds: 2, leadLeaseSeconds: 6, putSeconds: 5",
      more: "diskQuota: { count: content }",
      atEnd: onTestFinished,
    });
    for (const name of place.links.keys()) await place.start(name);
    const { nodes, options, postgres } = place;
    const next = random(testSeed() + 1);
    const below = (n: number): number => Math.floor(next() * n);
    const [first] = [...nodes.values()];
    if (first === undefined) throw new Error("there is a node");
    const layerQuotas = [{ layer: "b", expirationPolicyName: "LRU", quota: { value: QUOTA_BYTES, units: "B" } }];
    await putQuota(first, { enabled: true, globalQuota: { value: 1, units: "GiB" }, layerQuotas });
    const clients = new ClusterClients(map, () => [...nodes], testSeed());
    const over = new AbortController();
    const work = clients.work(over.signal);
    let mostStored = 0;
    for (let n = 0; n < EVENTS; n++) {
      // Each kind occurs once before a kind is repeated.
      const event = await disturb({ ...place, below }, n < KINDS ? n : below(KINDS));
      const startMs = performance.now();
      clients.epoch(startMs, Number(postgres.sql("SELECT epoch FROM cluster_lead")));
      mostStored = Math.max(mostStored, (await scanBucket(options, "b")).bytes);
      // Sometimes the next event occurs before the cluster has recovered from this event.
      if (below(4) > 0) await clients.progress(event, 5 + below(20));
      await sleep(below(400));
      if (n % 10 === 9) {
        console.log(`${n + 1} events, the last: ${event}; ${JSON.stringify(clients.counts)}`);
        expect(violationsOf(clients.calls), event).toEqual([]);
      }
    }
    over.abort();
    await work;
    for (const node of nodes.values()) await isReady(node);
    const [last] = [...nodes.values()];
    if (last === undefined) throw new Error("there is a node");
    await jobsAreExact(last, clients);
    expect(clients.mostBytes).toBeLessThanOrEqual(QUOTA_BYTES + IN_FLIGHT_BYTES);
    expect(mostStored).toBeLessThanOrEqual(QUOTA_BYTES + IN_FLIGHT_BYTES);
    expect(clients.mostBytes, "the quota was at its limit").toBeGreaterThan(QUOTA_BYTES / 2);
    await clients.readAll();
    expect(violationsOf(clients.calls)).toEqual([]);
    expect(clients.counts.truncated).toBeGreaterThan(EVENTS / 10);
    expect(clients.counts.ranges).toBeGreaterThan(EVENTS / 20);
    await rendered(last);
    const counted = async (): Promise<true | undefined> => {
      // On a busy machine a node has no lease for a moment.
      const reported = await usage(last).catch(() => undefined);
      if (reported?.layers === undefined) return undefined;
      const { layers } = reported;
      const scans = await Promise.all(LAYERS.map((layer) => scanBucket(options, layer)));
      const isSame = LAYERS.every((name, n) => {
        const { tiles = 0, bytes = 0 } = layers.find(({ layer }) => layer === name) ?? {};
        return tiles === scans[n]?.tiles && bytes === scans[n]?.bytes;
      });
      return isSame ? true : undefined;
    };
    await until("usage equals the bucket", counted, 60_000, last);
    await nothingIsLeft(place, last);
    for (const node of nodes.values()) expect(node.log()).not.toMatch(/unhandled/i);
  });
});

/**
 * Every accepted job is in the list and has ended. Jobs of layers without a quota are done, and their counts are exact.
 */
async function jobsAreExact(node: TestServer, clients: ClusterClients): Promise<void> {
  for (const [layer, ids] of clients.accepted)
    for (const id of ids) {
      const { state, reason, tiles } = await until(
        `job ${id} has ended`,
        async () => {
          const response = await fetch(`${node.url}/api/v1/jobs/${id}`);
          const text = await response.text();
          expect(response.status, `job ${id} was accepted and is not there`).not.toBe(404);
          // On a busy machine a node has no lease for a moment.
          if (response.status !== 200) return undefined;
          const found: JobJson = JSON.parse(text);
          return found.state === "done" || found.state === "aborted" ? found : undefined;
        },
        300_000,
        node,
      );
      const { total, stored, skipped, failed, deleted = 0 } = tiles;
      if (layer !== "b") expect(state, `job ${id}: ${reason}`).toBe("done");
      if (state === "done") expect(stored + skipped + failed + deleted, `job ${id}`).toBe(total);
    }
}

/** Only readable tiles remain when truncations can no longer be undone and their files were deleted twice. */
async function nothingIsLeft({ nodes, options }: ProxiedCluster, node: TestServer) {
  for (const { id, state } of await truncations(node, "?layer=a&limit=1000"))
    if (state === "kept") {
      const { status } = await fetch(`${node.url}/api/v1/truncations/${id}`, { method: "DELETE" });
      // Truncations of the first minutes reach the end of their undo time during the test.
      if (status === 409) expect((await truncation(node, id)).state).toBe("reclaimed");
      else expect(status).toBeLessThan(300);
    }
  for (const one of nodes.values()) await one.kill("SIGTERM");
  const before = await scanBucket(options);
  await sweptTwice(options);
  const after = await scanBucket(options);
  expect(after.unreadable).toEqual([]);
  expect(after.keys.toSorted()).toEqual(before.keys.toSorted());
}
