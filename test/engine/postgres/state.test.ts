import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "../../support/network/tcp-proxy.ts";
import { hasPostgres, type Postgres, removePostgres, startPostgres } from "../../support/postgres/postgres.ts";
import { runProgram } from "../../support/server/run-program.ts";
import {
  ended,
  job,
  massTruncate,
  rows,
  seed,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const PASSWORD = "state-password-4711";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-pg-"));
// Beside it: the account of PostgreSQL may not enter a temporary directory of root.
const clusterDirectory = `${directory}-server`;
let postgres: Postgres;
let proxy: TcpProxy;
let upstream: Upstream;

beforeAll(async () => {
  if (!hasPostgres) return;
  postgres = startPostgres(clusterDirectory);
  postgres.sql("CREATE DATABASE state");
  postgres.sql(`CREATE ROLE guarded LOGIN PASSWORD '${PASSWORD}'`);
  postgres.allow("local all guarded scram-sha-256");
  proxy = await startTcpProxy(postgres.socket);
  upstream = await startUpstream();
});

afterAll(async () => {
  await upstream?.close();
  await proxy?.close();
  removePostgres(clusterDirectory);
  rmSync(directory, { recursive: true, force: true });
});

const stateIn = (database: string, user = "nuthatch", password = PASSWORD) => ({
  NUTHATCH_STATE_TYPE: "postgres",
  NUTHATCH_STATE_URL: `postgres://${user}:${password}@127.0.0.1:${proxy.port}/${database}`,
});

const readiness = async (server: TestServer): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await fetch(`${server.url}/readyz`);
  return { status: response.status, text: await response.text() };
};

/** Waits until a server is ready, or is not. The reason is reported within ten seconds. */
const isReady = (server: TestServer, wanted: boolean): Promise<string> =>
  until(
    `ready: ${wanted}`,
    async () => {
      const { status, text } = await readiness(server);
      return (status === 200) === wanted ? text : undefined;
    },
    10_000,
    server,
  );

test.skipIf(!hasPostgres)(
  "a server whose database goes away says so, loses nothing, and goes on by itself when it is back",
  async () => {
    proxy.set("refuse");
    let server = await startServer({ configuration: smallTiles(upstream.url), env: stateIn("state") });
    try {
      expect(await isReady(server, false)).toContain(`127.0.0.1:${proxy.port}/state`);
      expect((await fetch(`${server.url}/livez`)).status).toBe(200);
      proxy.set("pass");
      await isReady(server, true);

      // A second server with the same database, and the refusals that no later attempt mends.
      const others = { second: stateIn("state"), missing: stateIn("nothing"), wrong: stateIn("state", "guarded", "x") };
      const refusals = await Promise.all(
        Object.values(others).map((env, n) =>
          runProgram(["serve", "--port", "0", "--data-dir", join(directory, `other-${n}`)], { env }),
        ),
      );
      expect(refusals.map(({ code }) => code)).toEqual([78, 78, 78]);
      const [second = "", missing = "", wrong = ""] = refusals.map(({ stderr }) => stderr);
      expect(second).toContain("cluster:");
      expect(missing).toContain('database "nothing" does not exist');
      expect(wrong).toContain("password authentication failed");
      expect(second + missing + wrong).not.toContain(PASSWORD);

      // All processes of PostgreSQL end in the middle of a job.
      const id = await seed(server, "ws:roads", { gridSetId: "EPSG:4326", zoomStop: 4, format: "image/png" });
      await until("tiles", async () => ((await job(server, id)).tiles.stored > 100 ? true : undefined), 30_000, server);
      postgres.stop("immediate");
      expect(await isReady(server, false)).toContain("PostgreSQL");
      const refused = await fetch(`${server.url}/rest/masstruncate`, {
        method: "POST",
        headers: { "Content-Type": "text/xml" },
        body: "<truncateLayer><layerName>ws:roads</layerName></truncateLayer>",
      });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await refused.text()).toContain("PostgreSQL");
      postgres.start();
      await isReady(server, true);
      const { tiles, outcome } = await ended(server, id, 60_000);
      expect([outcome, tiles.stored + tiles.skipped, tiles.failed]).toEqual(["done", tiles.total, 0]);
      expect((await usage(server)).total.tiles).toBe(tiles.total);

      // The loss of the connection alone is not seen from outside.
      postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'state'");
      const next = await seed(server, "ws:roads", { gridSetId: "EPSG:900913", zoomStop: 1, format: "image/png" });
      // PostgreSQL skips up to 32 ids when it was killed.
      expect(next).toBeGreaterThan(id);
      await ended(server, next);

      // A network that swallows everything.
      proxy.set("swallow");
      expect(await isReady(server, false)).not.toBe("");
      proxy.set("refuse");
      proxy.set("pass");
      await isReady(server, true);

      const before = await (await fetch(`${server.url}/api/v1/jobs`)).text();
      server = await server.restart("SIGKILL");
      await isReady(server, true);
      expect(await (await fetch(`${server.url}/api/v1/jobs`)).text()).toBe(before);
      expect(await rows(server)).toEqual([]);
      expect((await massTruncate(server, "ws:roads")).status).toBe(200);
      expect((await usage(server)).total.tiles).toBe(0);
      expect(server.log()).not.toContain(PASSWORD);
    } finally {
      await server.close();
    }
  },
);

test.skipIf(!hasPostgres)("a server finds its database by a service of libpq", async () => {
  postgres.sql("CREATE DATABASE by_service");
  const file = join(directory, "services");
  writeFileSync(file, `[tiles]\nhost=${clusterDirectory}\ndbname=by_service\nuser=nuthatch\napplication_name=psql\n`);
  const state = { NUTHATCH_STATE_TYPE: "postgres", NUTHATCH_STATE_URL: "postgres://?service=tiles" };
  const server = await startServer({
    configuration: smallTiles(upstream.url),
    env: { ...state, PGSERVICEFILE: file },
  });
  try {
    await isReady(server, true);
    expect(Number(postgres.sql("SELECT count(*) FROM pg_tables WHERE tablename = 'job'", "by_service"))).toBe(1);
  } finally {
    await server.close();
  }
  const refused = await runProgram(["serve", "--port", "0", "--data-dir", join(directory, "no-service")], {
    env: { ...state, PGSERVICEFILE: join(directory, "none") },
  });
  expect([refused.code, refused.stderr]).toEqual([
    78,
    expect.stringMatching(/state\.url.*none cannot be read \(ENOENT\)/s),
  ]);
});
