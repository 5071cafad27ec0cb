import { spawn } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, type TestContext, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { changeState } from "../../support/server/state-database.ts";
import { until } from "../../support/until.ts";

const running = closedAfterEach();
const entry = fileURLToPath(new URL("../../../bin/nuthatch.mjs", import.meta.url));

const answer = async (address: string): Promise<string> => {
  const response = await fetch(address);
  return `${response.status} ${await response.text()}`;
};
const NOT_READY = "503 Nuthatch is not ready: starting";
const PROBES = ["readyz", "healthz", "geowebcache/readyz", "geowebcache/healthz"];

async function untilReady(at: TestServer, expected: RegExp): Promise<void> {
  for (const probe of PROBES)
    await until(`${probe} answers ${expected}`, async () =>
      expected.test(await answer(`${at.url}/${probe}`)) ? true : undefined,
    );
}

test.each(["1", "2"])(
  "while it starts with %s workers, probes are answered and nothing else is served",
  async (workers) => {
    const at = await startServer();
    running.server = at;
    await at.kill("SIGTERM");
    // A truncation that the last process left unfinished, with so many names that it takes longer than the questions below.
    const names = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250000)";
    const plan = `json_object('names', (${names} SELECT json_group_array('gone/' || i) FROM n), 'targets', json('[]'))`;
    expect(changeState(at.dataDir, `INSERT INTO store_drop (plan) SELECT ${plan}`)).toBe(1);

    const child = spawn(process.execPath, [entry, "serve"], {
      env: {
        PATH: process.env["PATH"],
        NUTHATCH_PORT: "0",
        NUTHATCH_DATA_DIR: at.dataDir,
        NUTHATCH_SERVER_WORKERS: workers,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    try {
      let address = "";
      for await (const line of createInterface({ input: child.stderr })) {
        const logged: { msg: string; address?: string } = JSON.parse(line);
        if (logged.msg !== "listening") continue;
        address = logged.address ?? "";
        break;
      }
      // All at once, because the start continues.
      const expected = {
        ...Object.fromEntries(PROBES.map((probe) => [probe, "503 starting"])),
        livez: "200 ok",
        "geowebcache/livez": "200 ok",
        "xyz/topp:states/0/0/0.png": NOT_READY,
        "rest/seed.json": NOT_READY,
        "geowebcache/service/wmts?REQUEST=GetCapabilities": NOT_READY,
      };
      const asked = Object.keys(expected).map(async (path) => [path, await answer(address + path)] as const);
      expect(Object.fromEntries(await Promise.all(asked))).toEqual(expected);
      await until("it is ready", async () => ((await answer(`${address}readyz`)) === "200 ok" ? true : undefined));
      expect((await fetch(`${address}rest/seed.json`)).status).toBe(200);
    } finally {
      child.kill("SIGKILL");
    }
  },
);

async function startFor({ onTestFinished }: TestContext, configuration?: string): Promise<TestServer> {
  const at = await startServer(configuration === undefined ? {} : { configuration });
  onTestFinished(() => at.close());
  return at;
}

// A server looks once a second whether its parts are there: these tests wait for it at the same time.
test.concurrent.for([
  ["the store", "tiles"],
  ["the state database", "state.db"],
] as const)("a server that has lost %s is not ready and says why, until it is back", async ([name, file], context) => {
  const { expect } = context;
  const at = await startFor(context);
  await untilReady(at, /^200 ok$/);
  const place = join(at.dataDir, file);
  renameSync(place, `${place}-away`);
  await untilReady(at, new RegExp(`^503 ${name} \\(.*${file}\\) is lost: ENOENT$`));
  expect(await answer(`${at.url}/livez`)).toBe("200 ok");
  expect(await answer(`${at.url}/metrics`)).toContain("\nnuthatch_ready 0\n");
  const { attention } = JSON.parse(await (await fetch(`${at.url}/api/v1/status`)).text());
  expect(attention[0]).toMatchObject({ kind: "not_ready", message: expect.stringContaining(name) });
  // A directory of the same name that is not the directory of the start.
  if (file === "tiles") writeFileSync(place, "");
  else mkdirSync(place);
  await untilReady(at, /^503 .* is lost: another file is in its place/);
  renameSync(place, `${place}-other`);
  renameSync(`${place}-away`, place);
  await untilReady(at, /^200 ok$/);
  const said = [...at.log().matchAll(/"the server is (not ready|ready again)"/g)].map(([, word]) => word);
  expect([said[0], said.at(-1)]).toEqual(["not ready", "ready again"]);
});

test.concurrent("where there are accounts, others read at /readyz which part is lost, and accounts the whole reason", async (context) => {
  const { expect } = context;
  const at = await startFor(
    context,
    "users: [{ name: bob, password: right, roles: [viewer] }]\nlayers: [{ name: a, source: { type: demo, dataset: states } }]\n",
  );
  const place = join(at.dataDir, "tiles");
  renameSync(place, `${place}-away`);
  await untilReady(at, /^503 the store cannot be used$/);
  const read = async (authorization: string): Promise<string> => {
    const response = await fetch(`${at.url}/readyz`, { headers: { authorization } });
    return `${response.status} ${await response.text()}`;
  };
  const basic = (password: string): string => `Basic ${Buffer.from(`bob:${password}`).toString("base64")}`;
  expect(await read(basic("right"))).toBe(`503 the store (${place}) is lost: ENOENT`);
  expect(await read(basic("wrong"))).toBe("503 the store cannot be used");
  renameSync(`${place}-away`, place);
  await untilReady(at, /^200 ok$/);
});
