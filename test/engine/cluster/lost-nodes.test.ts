import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { newCluster, nodesOf, type TestCluster } from "../../support/cluster/cluster.ts";
import { hasPostgres } from "../../support/postgres/postgres.ts";
import { runProgram } from "../../support/server/run-program.ts";
import type { TestServer } from "../../support/server/server.ts";
import { isReady, until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/** Returns the states of the nodes by their names; undefined: no node leads. */
async function statesAt(server: TestServer): Promise<Readonly<Record<string, string>> | undefined> {
  const nodes = await nodesOf(server).catch(() => undefined);
  return nodes && Object.fromEntries(nodes.map(({ name, state }) => [name, state]));
}

const untilStates = (server: TestServer, expected: Readonly<Record<string, string>>): Promise<unknown> =>
  until(
    `the nodes are ${JSON.stringify(expected)}`,
    async () => {
      const states = await statesAt(server);
      return states !== undefined && JSON.stringify(states) === JSON.stringify(expected) ? true : undefined;
    },
    60_000,
    server,
  );

const remove = async (server: TestServer, name: string): Promise<number> =>
  (await fetch(`${server.url}/api/v1/nodes/${name}`, { method: "DELETE" })).status;

async function attention(server: TestServer): Promise<readonly (readonly [string, string | undefined])[]> {
  const answer = await fetch(`${server.url}/api/v1/status`);
  const { attention: entries }: { attention: readonly { kind: string; node?: string }[] } = await answer.json();
  return entries.filter(({ kind }) => kind.startsWith("node")).map(({ kind, node }) => [kind, node]);
}

describe.skipIf(!hasPostgres)("a node that has ended without a word", () => {
  let upstream: Upstream;
  let cluster: TestCluster;
  let a: TestServer;
  let b: TestServer;
  let c: TestServer;

  beforeAll(async () => {
    upstream = await startUpstream();
    cluster = newCluster({ upstream: upstream.url });
    a = await cluster.start("a");
    await isReady(a);
    [b, c] = await Promise.all([cluster.start("b"), cluster.start("c")]);
    await Promise.all([isReady(b), isReady(c)]);
  });

  afterAll(async () => {
    await cluster?.close();
    await upstream?.close();
  });

  test("is lost until it is back, and the command line, the status and the metrics tell of it", async () => {
    const beforeMs = Date.now();
    await c.kill("SIGKILL");
    await untilStates(b, { a: "ready", b: "ready", c: "lost" });
    const since = (await nodesOf(a)).find(({ name }) => name === "c")?.since ?? "";
    expect(Date.parse(since)).toBeGreaterThanOrEqual(beforeMs);
    expect(await attention(b)).toEqual([["node_lost", "c"]]);
    const metrics = await (await fetch(`${a.url}/metrics`)).text();
    expect(metrics).toContain('nuthatch_cluster_nodes{state="lost"} 1');
    const listed = await runProgram(["nodes", "--url", b.url]);
    expect([listed.code, listed.stdout]).toEqual([1, expect.stringMatching(/^c +lost/m)]);
    const status = await runProgram(["status", "--url", b.url]);
    expect([status.code, status.stdout]).toEqual([0, expect.stringContaining("The node c of the cluster is lost")]);
    expect((await fetch(`${b.url}/readyz`)).status).toBe(200);
    c = await cluster.start("c");
    await isReady(c);
    await untilStates(b, { a: "ready", b: "ready", c: "ready" });
    expect(await attention(b)).toEqual([]);
    expect((await runProgram(["nodes", "--url", b.url])).code).toBe(0);
  });

  test("is removed by an administrator, and a connected or unknown one is not", async () => {
    expect([await remove(a, "b"), await remove(a, "nobody")]).toEqual([409, 404]);
    await c.kill("SIGKILL");
    await untilStates(b, { a: "ready", b: "ready", c: "lost" });
    const removed = await runProgram(["node", "remove", "c", "--url", b.url]);
    expect([removed.code, removed.stdout]).toEqual([0, "c has been removed\n"]);
    expect(await statesAt(a)).toEqual({ a: "ready", b: "ready" });
    expect(await remove(a, "c")).toBe(404);
    c = await cluster.start("c");
    await isReady(c);
    await untilStates(a, { a: "ready", b: "ready", c: "ready" });
  });

  test("leaves the list when it has ended by SIGTERM, or was drained", async () => {
    await c.kill("SIGTERM");
    await untilStates(b, { a: "ready", b: "ready" });
    c = await cluster.start("c");
    await isReady(c);
    await fetch(`${a.url}/api/v1/nodes/c/drain`, { method: "POST" });
    await untilStates(b, { a: "ready", b: "ready", c: "draining" });
    await c.kill("SIGKILL");
    await untilStates(b, { a: "ready", b: "ready" });
    c = await cluster.start("c");
    await isReady(c);
    expect(await statesAt(b)).toEqual({ a: "ready", b: "ready", c: "ready" });
  });
});

describe.skipIf(!hasPostgres)("a lost node", () => {
  test("stays lost after another node has taken the lead, and so does the lead that was killed", async () => {
    const upstream = await startUpstream();
    const cluster = newCluster({ upstream: upstream.url });
    onTestFinished(async () => {
      await cluster.close();
      await upstream.close();
    });
    const a = await cluster.start("a");
    await isReady(a);
    const [b, c] = await Promise.all([cluster.start("b"), cluster.start("c")]);
    await Promise.all([isReady(b), isReady(c)]);
    await c.kill("SIGKILL");
    await untilStates(b, { a: "ready", b: "ready", c: "lost" });
    const [{ name } = { name: "" }] = (await nodesOf(a)).filter(({ lead }) => lead);
    const [lead, other, others] = name === "a" ? [a, b, ["a", "b"]] : [b, a, ["b", "a"]];
    const sinceOfC = (await nodesOf(other)).find((node) => node.name === "c")?.since;
    await lead.kill("SIGKILL");
    const [killed = "", left = ""] = others;
    await untilStates(
      other,
      Object.fromEntries([killed, left, "c"].sort().map((one) => [one, one === left ? "ready" : "lost"])),
    );
    expect((await nodesOf(other)).find((node) => node.name === "c")?.since).toBe(sinceOfC);
    expect(await attention(other)).toEqual([
      ["node_lost", killed],
      ["node_lost", "c"],
    ]);
    expect((await fetch(`${other.url}/readyz`)).status).toBe(200);
    // The record outlives all nodes.
    await other.kill("SIGTERM");
    const again = await cluster.start(left);
    await isReady(again);
    await untilStates(
      again,
      Object.fromEntries([killed, left, "c"].sort().map((one) => [one, one === left ? "ready" : "lost"])),
    );
    expect(await remove(again, killed)).toBe(204);
    expect(await remove(again, "c")).toBe(204);
    expect(await statesAt(again)).toEqual({ [left]: "ready" });
  });
});
