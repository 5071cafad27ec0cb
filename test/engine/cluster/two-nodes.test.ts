import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { newCluster, nodesOf, type TestCluster } from "../../support/cluster/cluster.ts";
import { hasPostgres } from "../../support/postgres/postgres.ts";
import { runProgram } from "../../support/server/run-program.ts";
import { ended, massTruncate, rows, seed, type TestServer, usage } from "../../support/server/server.ts";
import { isReady, until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const TILE = "/xyz/ws:roads/3/2/5.png";

const result = (response: Response): string => response.headers.get("geowebcache-cache-result") ?? "";

const readiness = async ({ url }: TestServer) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, text: await response.text() };
};

async function read(node: TestServer, path = TILE): Promise<string> {
  const response = await fetch(node.url + path);
  await response.arrayBuffer();
  return `${response.status} ${result(response)}`;
}

/** A lease of one second, as other files have it, can end while other tests have the processors. */
const LEASES_UNDER_LOAD = "nodeLeaseSeconds: 2, leadLeaseSeconds: 4";

describe.skipIf(!hasPostgres)("two nodes are one server", () => {
  let upstream: Upstream;
  let cluster: TestCluster;
  let a: TestServer;
  let b: TestServer;

  beforeAll(async () => {
    upstream = await startUpstream();
    cluster = newCluster({ upstream: upstream.url, keys: LEASES_UNDER_LOAD });
    a = await cluster.start("a");
    b = await cluster.start("b");
    await Promise.all([isReady(a), isReady(b)]);
  });

  afterAll(async () => {
    await cluster?.close();
    await upstream?.close();
  });

  test("both are listed, and one leads", async () => {
    for (const node of [a, b]) {
      const nodes = await nodesOf(node);
      expect(nodes.map(({ name }) => name)).toEqual(["a", "b"]);
      expect(nodes.filter(({ lead }) => lead)).toHaveLength(1);
      expect(nodes.every(({ state, lag }) => state === "ready" && lag < 1_000)).toBe(true);
    }
  });

  test("what one has rendered is a hit on the other, and what both miss at once is rendered once", async () => {
    await massTruncate(a, "ws:roads");
    const before = upstream.asked.length;
    expect((await Promise.all([read(a), read(b)])).every((one) => one.startsWith("200"))).toBe(true);
    expect(upstream.asked.length).toBe(before + 1);
    expect([await read(a), await read(b)]).toEqual(["200 HIT", "200 HIT"]);
  });

  test("a truncation that one has answered is in force on the other", async () => {
    for (const [by, other] of [
      [a, b],
      [b, a],
    ] as const) {
      await read(a);
      expect(await read(other)).toBe("200 HIT");
      expect((await massTruncate(by, "ws:roads")).status).toBe(200);
      expect(await read(other)).toBe("200 MISS");
    }
  });

  test("a job that one has accepted is listed, killed and remembered by the other", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.behaviour = async (): Promise<"render"> => {
      await held;
      return "render";
    };
    const id = await seed(a, "ws:roads", { gridSetId: "EPSG:900913", zoomStart: 4, zoomStop: 6, threadCount: 2 });
    await until("both tasks run", async () => ((await rows(a)).every((row) => row[4] === 1) ? true : undefined));
    expect(await rows(b)).toEqual(await rows(a));
    expect(await rows(b)).toHaveLength(2);
    const killed = await fetch(`${b.url}/rest/seed/ws:roads`, { method: "POST", body: "kill_all=all" });
    expect(killed.status).toBe(200);
    release();
    upstream.behaviour = () => "render";
    expect(await rows(a)).toEqual([]);
    expect((await ended(a, id)).outcome).toBe("aborted");
  });

  test("a seed is rendered by the renderers of both", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.behaviour = async (): Promise<"render"> => {
      await held;
      return "render";
    };
    const before = await nodesOf(a);
    const id = await seed(a, "ws:roads", { gridSetId: "EPSG:900913", zoomStart: 4, zoomStop: 6, threadCount: 16 });
    await until("both render", async () =>
      (await nodesOf(b)).every(({ work }) => work.renders > 0) ? true : undefined,
    );
    release();
    upstream.behaviour = () => "render";
    expect((await ended(a, id)).outcome).toBe("done");
    const rendered = (await nodesOf(a)).map(({ work }, i) => work.metatiles - (before[i]?.work.metatiles ?? 0));
    expect(rendered.every((n) => n > 0)).toBe(true);
    expect(rendered.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(21);
    await massTruncate(a, "ws:roads");
  });

  test("a node that is drained serves on, leads no more, and gets no renders", async () => {
    const leads = async (name: string) => (await nodesOf(b)).find((one) => one.name === name)?.lead;
    // The node that leads is drained, so that it has no renders of before.
    const [[drained, first], [next, second]] = (await leads("a"))
      ? ([
          ["a", a],
          ["b", b],
        ] as const)
      : ([
          ["b", b],
          ["a", a],
        ] as const);
    const drain = async (method: string, name: string = drained) => {
      const response = await fetch(`${second.url}/api/v1/nodes/${name}/drain`, { method });
      return [response.status, await response.json()];
    };
    onTestFinished(async () => {
      await drain("DELETE");
      await isReady(first);
    });
    expect(await drain("POST")).toEqual([200, expect.objectContaining({ name: drained, state: "draining" })]);
    const command = await runProgram(["node", "drain", drained], { env: { NUTHATCH_URL: second.url } });
    expect(command).toMatchObject({ code: 0, stdout: `${drained}: draining\n` });
    expect(await leads(next)).toBe(true);
    await until("the drained node has a lease of the next lead", async () => {
      const { status, text } = await readiness(first);
      expect(status).toBe(503);
      return text.includes("draining") || undefined;
    });
    await massTruncate(second, "ws:roads");
    expect([await read(first), await read(second)]).toEqual(["200 MISS", "200 HIT"]);
    const { work } = (await nodesOf(second)).find(({ name }) => name === drained) ?? expect.fail("it is listed");
    expect(work).toMatchObject({ renders: 0, metatiles: 0 });
    const [status, { detail }] = await drain("POST", next);
    expect([status, detail]).toEqual([409, expect.stringContaining("All other nodes are drained")]);
    expect(await drain("DELETE")).toEqual([200, expect.objectContaining({ name: drained, state: "ready" })]);
    await isReady(first);
  });

  test("a node that is taken back while it hands the lead over is ready", async () => {
    const lead = (await nodesOf(a)).find((one) => one.lead)?.name;
    const by = lead === "a" ? b : a;
    const send = async (method: string) => {
      const response = await fetch(`${by.url}/api/v1/nodes/${lead}/drain`, { method });
      return [response.status, await response.json()];
    };
    expect(await send("POST")).toEqual([200, expect.objectContaining({ name: lead, state: "draining" })]);
    expect(await send("DELETE")).toEqual([200, expect.objectContaining({ name: lead, state: "ready" })]);
    await Promise.all([isReady(a), isReady(b)]);
    const states = await until("both are listed", async () => {
      const nodes = await nodesOf(by).catch(() => []);
      return nodes.length === 2 ? nodes.map(({ state }) => state) : undefined;
    });
    expect(states).toEqual(["ready", "ready"]);
  });

  test("a node reports its own metrics, and the lead those of the cluster and of the whole server", async () => {
    await read(a);
    const byNode = await Promise.all(
      [a, b].map(async (node) => {
        const text = await (await fetch(`${node.url}/metrics`)).text();
        return (name: string): number | undefined => {
          const [, value] = new RegExp(`^nuthatch_${name.replace(/[{}]/g, "\\$&")} (.+)$`, "m").exec(text) ?? [];
          return value === undefined ? undefined : Number(value);
        };
      }),
    );
    const listed: { lead: { epoch: number; node: string }; self: string } = await (
      await fetch(`${b.url}/api/v1/nodes`)
    ).json();
    expect(listed.self).toBe("b");
    const lead = byNode[listed.lead.node === "a" ? 0 : 1] ?? expect.fail("there is a lead");
    const other = byNode[listed.lead.node === "a" ? 1 : 0] ?? expect.fail("there is another node");
    expect([lead("cluster_lead"), other("cluster_lead")]).toEqual([1, 0]);
    for (const node of [lead, other]) expect(node("cluster_lease_seconds")).toBeGreaterThan(0);
    expect(lead("cluster_takeovers_total")).toBeGreaterThan(0);
    expect(lead("cluster_epoch")).toBe(listed.lead.epoch);
    expect(lead('cluster_nodes{state="ready"}')).toBe(2);
    expect(lead('cluster_node_lag_seconds{node="b"}')).toBeLessThan(1);
    expect(lead("cluster_lead_lease_age_seconds")).toBeLessThan(4);
    // A sum over the nodes counts tiles, jobs and usage once.
    for (const name of ["cluster_epoch", "quota_bytes", "job_retries_total"])
      expect([lead(name) === undefined, other(name)]).toEqual([false, undefined]);
    const served = (await nodesOf(a)).map(({ work }) => work.tiles);
    const own = byNode.map((of) =>
      ["memory_hit", "store_hit", "stale", "absent", "expired"].reduce(
        (sum, result) => sum + (of(`tile_requests_total{layer="ws:roads",result="${result}"}`) ?? 0),
        0,
      ),
    );
    expect(own).toEqual(served);
  });

  test("usage is the same on both", async () => {
    await massTruncate(b, "ws:roads");
    const id = await seed(b, "ws:roads", { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 3 });
    await ended(b, id);
    expect((await usage(a)).total.tiles).toBe(85);
    expect((await usage(a)).layers).toEqual((await usage(b)).layers);
  });

  test("a layer that was made on one is served by the other", async () => {
    const document =
      "<wmsLayer><name>made</name><gridSubsets><gridSubset><gridSetName>EPSG:900913</gridSetName></gridSubset></gridSubsets><wmsUrl><string>" +
      `${upstream.url}</string></wmsUrl><wmsLayers>roads</wmsLayers></wmsLayer>`;
    const headers = { "Content-Type": "text/xml" };
    expect((await fetch(`${b.url}/rest/layers/made`, { method: "PUT", body: document, headers })).status).toBe(200);
    expect(await read(a, "/xyz/made/1/0/0.png")).toBe("200 MISS");
    expect((await fetch(`${a.url}/rest/layers/made`, { method: "DELETE" })).status).toBe(200);
    expect(await read(b, "/xyz/made/1/0/0.png")).toMatch(/^404/);
  });
});
