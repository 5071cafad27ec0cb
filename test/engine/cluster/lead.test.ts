import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newCluster, nodesOf } from "../../support/cluster/cluster.ts";
import { hasPostgres } from "../../support/postgres/postgres.ts";
import { startStateInPostgres } from "../../support/postgres/state-in-postgres.ts";
import { childrenOf, send } from "../../support/server/processes.ts";
import { ended, job, massTruncate, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { isReady, until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const TILE = "/xyz/ws:roads/3/2/5.png";

async function read(node: TestServer, path = TILE): Promise<string> {
  const response = await fetch(node.url + path);
  await response.arrayBuffer();
  return `${response.status} ${response.headers.get("geowebcache-cache-result") ?? ""}`.trim();
}

const readiness = async (node: TestServer): Promise<string> => {
  const response = await fetch(`${node.url}/readyz`);
  return `${response.status} ${await response.text()}`;
};

describe.skipIf(!hasPostgres)("the lead moves", () => {
  let upstream: Upstream;

  beforeAll(async () => {
    upstream = await startUpstream();
  });
  afterAll(() => upstream?.close());

  test("after a kill of the node that leads, jobs go on with their ids, and hits never stop", async () => {
    const cluster = newCluster({ upstream: upstream.url });
    try {
      const first = await cluster.start("a");
      await isReady(first);
      const second = await cluster.start("b");
      await isReady(second);
      expect(await read(second)).toBe("200 MISS");
      upstream.behaviour = async (): Promise<"render"> => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return "render";
      };
      const id = await seed(first, "ws:roads", { gridSetId: "EPSG:900913", zoomStart: 4, zoomStop: 5, threadCount: 2 });
      await until("the job has begun", async () => ((await job(second, id)).tiles.stored > 0 ? true : undefined));
      const reads: string[] = [];
      const isLed = { now: false };
      const reading = (async () => {
        while (!isLed.now) {
          reads.push(await read(second).catch(String));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
      await first.kill("SIGKILL");
      await until(
        "the other leads",
        async () => {
          const response = await fetch(`${second.url}/api/v1/nodes`);
          const nodes = response.status === 200 ? await nodesOf(second) : [];
          return nodes.some(({ name, lead }) => name === "b" && lead) ? true : undefined;
        },
        60_000,
        second,
      );
      isLed.now = true;
      await reading;
      const done = await ended(second, id);
      expect([done.outcome, done.tiles.stored + done.tiles.skipped]).toEqual(["done", 256 + 1024]);
      // A node of a busy machine may be cut off for a moment; it never answers something else.
      expect(new Set(reads.filter((one) => !one.startsWith("503")))).toEqual(new Set(["200 HIT"]));
      const again = await cluster.start("a");
      await isReady(again);
      expect((await nodesOf(again)).map(({ name, lead }) => [name, lead])).toEqual([
        ["a", false],
        ["b", true],
      ]);
      expect((await job(again, id)).outcome).toBe("done");
    } finally {
      upstream.behaviour = () => "render";
      await cluster.close();
    }
  });

  test("a node that ends in order hands the lead over, and the other answers changes all the time", async () => {
    const cluster = newCluster({ upstream: upstream.url });
    try {
      const first = await cluster.start("a");
      await isReady(first);
      const second = await cluster.start("b");
      await isReady(second);
      const closing = first.kill("SIGTERM");
      const answer = await massTruncate(second, "ws:roads");
      expect([answer.status, await answer.text()]).toEqual([200, ""]);
      expect(await closing).toBe(0);
      expect((await massTruncate(second, "ws:roads")).status).toBe(200);
      expect(await read(second)).toBe("200 MISS");
      expect(second.log()).not.toContain("a request failed by a fault");
    } finally {
      await cluster.close();
    }
  });

  test("a lead whose start takes longer than its lease keeps it", async () => {
    const state = await startStateInPostgres();
    const { NUTHATCH_STATE_URL: url = "" } = state.env();
    const keys = "nodeLeaseSeconds: 1, leadLeaseSeconds: 2";
    const cluster = newCluster({ upstream: upstream.url, state: () => url, keys });
    try {
      // Of each of its statements.
      state.proxy.delay(150);
      const beganMs = performance.now();
      const nodes = await Promise.all([cluster.start("a"), cluster.start("b")]);
      await Promise.all(nodes.map(isReady));
      expect(performance.now() - beganMs).toBeGreaterThan(3_000);
      state.proxy.delay(0);
      expect(state.postgres.sql("SELECT epoch FROM cluster_lead", "state")).toBe("1");
      for (const node of nodes) expect(node.log()).not.toContain("has lost the lease");
    } finally {
      await cluster.close();
      await state.close();
    }
  });

  test("a lead that hangs is cut off, another takes over, and the old one serves nothing old when it wakes", async () => {
    const cluster = newCluster({ upstream: upstream.url });
    try {
      const first = await cluster.start("a");
      await isReady(first);
      const second = await cluster.start("b");
      await isReady(second);
      expect(await read(first)).toBe("200 MISS");
      const hung = [first.pid, ...childrenOf(first.pid)];
      for (const pid of hung) send(pid, "SIGSTOP");
      await until("the other is cut off", async () => ((await readiness(second)).startsWith("503") ? true : undefined));
      await isReady(second);
      expect((await nodesOf(second)).find(({ lead }) => lead)?.name).toBe("b");
      expect((await massTruncate(second, "ws:roads")).status).toBe(200);
      for (const pid of hung) send(pid, "SIGCONT");
      // The node that wakes has no lease: it answers 503, or a tile of after the truncation.
      expect(await read(first)).toMatch(/^503|^200 MISS/);
      await isReady(first);
      expect((await nodesOf(first)).map(({ name, lead }) => `${name} ${lead}`)).toEqual(["a false", "b true"]);
    } finally {
      await cluster.close();
    }
  });

  test("a node that is cut off answers 503, or serves its tiles with cutOff: serve", async () => {
    const cluster = newCluster({ upstream: upstream.url });
    try {
      const lead = await cluster.start("a");
      await isReady(lead);
      const keys = "nodeLeaseSeconds: 1, leadLeaseSeconds: 600";
      const refusing = await cluster.start("b", "", keys);
      const serving = await cluster.start("c", "", `${keys}, cutOff: serve`);
      await Promise.all([isReady(refusing), isReady(serving)]);
      await read(lead);
      expect([await read(refusing), await read(serving)]).toEqual(["200 HIT", "200 HIT"]);
      for (const pid of [lead.pid, ...childrenOf(lead.pid)]) send(pid, "SIGSTOP");
      for (const node of [refusing, serving])
        await until("it is cut off", async () => ((await readiness(node)).includes("no lease") ? true : undefined));
      expect([await read(refusing), await read(serving)]).toEqual(["503", "200 HIT"]);
      expect((await fetch(serving.url + TILE)).headers.get("cache-status")).toBe("Nuthatch; hit; detail=cut-off");
      expect((await massTruncate(serving, "ws:roads")).status).toBe(503);
    } finally {
      await cluster.close();
    }
  });

  test("wrong log-ins at the nodes in turns are delayed as at one", async () => {
    const users = 'users: [{ name: admin, password: "a-password-of-the-test", roles: [admin] }]';
    const cluster = newCluster({
      upstream: upstream.url,
      more: users,
    });
    try {
      const first = await cluster.start("a");
      await isReady(first);
      const second = await cluster.start("b");
      await isReady(second);
      // No pair: nothing is hashed, so that only the pauses take time.
      const attempt = async ({ url }: TestServer): Promise<number> =>
        (await fetch(`${url}/rest/seed.json`, { headers: { Authorization: "Basic none" } })).status;
      const beganMs = performance.now();
      for (let n = 0; n < 6; n++) expect(await attempt(n % 2 === 0 ? first : second)).toBe(401);
      // 50, 100, 200, 400, 800 and 1,000 ms. Each node alone would pause for 350 ms.
      expect(performance.now() - beganMs).toBeGreaterThan(2_500);
    } finally {
      await cluster.close();
    }
  });

  test("what does not fit is refused with the key that would do", async () => {
    const cluster = newCluster({ upstream: upstream.url });
    try {
      const lead = await cluster.start("a");
      await isReady(lead);
      const { dataDir } = lead;
      const alone = startServer({ env: { ...cluster.state, NUTHATCH_DATA_DIR: `${dataDir}-alone` } });
      await expect(alone).rejects.toThrow("ended with 78");
      await expect(alone).rejects.toThrow(
        "the cluster that a leads uses it: end that one, or give each server the key `cluster:`",
      );
      const other = await cluster.start("b", "", "secret: another-secret-altogether");
      expect(await readiness(other)).toMatch(/^503 .*node a at 127\.0\.0\.1:\d+ does not answer/);
      expect(await readiness(lead)).toBe("200 ok");
    } finally {
      await cluster.close();
    }
  });
});
