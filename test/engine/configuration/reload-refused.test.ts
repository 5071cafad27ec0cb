import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";

const running = closedAfterEach();
const LAYERS = "layers:\n  - { name: one, source: { type: demo, dataset: states } }\n";
const WHOLE = `${LAYERS}users:\n  - { name: ann, password: word, roles: [admin] }\n`;
const ANN = { Authorization: `Basic ${Buffer.from("ann:word").toString("base64")}` };
const REFUSED = "the configuration was not reloaded";

const write = (server: TestServer, configuration: string): void =>
  writeFileSync(join(server.dataDir, "nuthatch.yaml"), configuration);
const refusals = (server: TestServer): number => server.log().split(REFUSED).length - 1;

const lastRefusal = (server: TestServer): string | undefined =>
  server
    .log()
    .split("\n")
    .findLast((line) => line.includes(REFUSED));

/** Asserts that the server still has its layers and still requires credentials. */
async function expectClosed(server: TestServer): Promise<void> {
  const kill = { method: "POST", body: "kill_all=all" };
  expect((await fetch(`${server.url}/rest/seed`, kill)).status).toBe(401);
  expect((await fetch(`${server.url}/rest/seed/one.json`, { headers: ANN })).status).toBe(200);
}

test("a file that is empty, ends early or has lost its users never opens the server", async () => {
  const server = await startServer({ configuration: WHOLE });
  running.server = server;
  for (const [configuration, why] of [
    ["", /is empty/],
    [LAYERS, /users: the running server has 1 user/],
    [`${LAYERS}users:\n`, /users: the running server has 1 user/],
    ["{}", /layers: the running server has 1 layer/],
    ["a: &a [*a,*a]", /an alias stands for a collection/],
  ] as const) {
    write(server, configuration);
    const before = refusals(server);
    const posted = await fetch(`${server.url}/rest/reload`, { method: "POST", headers: ANN });
    expect(posted.status).toBe(400);
    expect(await posted.text()).toMatch(why);
    await until("the refusal is logged", async () => refusals(server) === before + 1 || undefined);
    await expectClosed(server);
    process.kill(server.pid, "SIGHUP");
    await until("the second refusal is logged", async () => refusals(server) === before + 2 || undefined);
    expect(lastRefusal(server)).toMatch(why);
    await expectClosed(server);
  }
  write(server, WHOLE);
  expect((await fetch(`${server.url}/rest/reload`, { method: "POST", headers: ANN })).status).toBe(200);
});

test("a server that has never had users still reloads without any", async () => {
  const server = await startServer({ configuration: LAYERS });
  running.server = server;
  expect((await fetch(`${server.url}/rest/reload`, { method: "POST" })).status).toBe(200);
});
