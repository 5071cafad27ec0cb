import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type PostgresPlace, withPostgres } from "../../support/postgres/place.ts";
import { giveToPostgres, hasPostgres, removePostgres, startStandby } from "../../support/postgres/postgres.ts";
import { readiness } from "../../support/postgres/state-in-postgres.ts";
import { random } from "../../support/random.ts";
import { clientOf, type Ended } from "../../support/server/run-program.ts";
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
import { smallTiles, wmsConfiguration } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { canMount, mountSmallDisk } from "../../support/stores/small-disk.ts";
import { testSeed } from "../../support/test-seed.ts";
import { until } from "../../support/until.ts";
import { hold } from "../../support/upstream/held-upstream.ts";
import { renderAfter } from "../../support/upstream/upstream.ts";

// The rows of the table of failures for one server and PostgreSQL. The next row begins with the state that a row
// leaves.

const LAYER = "ws:roads";
const request = { gridSetId: "EPSG:900913", zoomStart: 0, format: "image/png", threadCount: 2 };

const test = hasPostgres ? withPostgres.concurrent : withPostgres.skip;

interface Outage {
  readonly begin: () => void | Promise<void>;
  readonly end: () => void | Promise<void>;
  /** The reason of the server. */
  readonly reason: string;
}

async function start(
  place: PostgresPlace,
  env = place.state.env(),
  configuration = smallTiles(place.upstream.url, [{ name: LAYER }]),
): Promise<TestServer> {
  const server = await startServer({ configuration, env });
  place.server = server;
  await readiness(server, "ready");
  return server;
}

const verification = async (on: TestServer) => {
  const response = await fetch(`${on.url}/api/v1/usage/verification`);
  return JSON.parse(await response.text());
};

/** Lets an outage begin in the middle of a job, and expects that no data is lost and all work continues by itself. */
async function expectSurvived(place: PostgresPlace, on: TestServer, { begin, end, reason }: Outage): Promise<void> {
  const { upstream } = place;
  await ended(on, await seed(on, LAYER, { ...request, zoomStop: 3 }));
  const held = hold(upstream);
  const id = await seed(on, LAYER, { ...request, zoomStop: 5 });
  const stored = async (): Promise<true | undefined> => {
    held.release();
    return (await job(on, id)).tiles.stored > 100 ? true : undefined;
  };
  await until("tiles", stored, undefined, on);
  await begin();
  // The job still writes during the outage.
  upstream.behaviour = renderAfter(100);
  held.release();
  // Readiness first names the lost connection, and the reason when a new connection has failed.
  await until(
    `readiness tells: ${reason}`,
    async () => (await readiness(on, "not ready")).includes(reason) || undefined,
    60_000,
    on,
  );
  expect((await fetch(`${on.url}/livez`)).status).toBe(200);
  expect((await fetch(`${on.url}/xyz/${LAYER}/3/0/0.png`)).status).toBe(200);
  const change = await massTruncate(on, LAYER);
  expect([change.status, change.headers.get("retry-after")]).toEqual([503, "5"]);
  await end();
  await readiness(on, "ready");
  upstream.behaviour = renderAfter(0);
  const { tiles, outcome } = await ended(on, id);
  expect([outcome, tiles.stored + tiles.skipped, tiles.failed]).toEqual(["done", tiles.total, 0]);
  expect((await usage(on)).total.tiles).toBe(tiles.total);
  await expectExact(on);
  expect(on.log()).toContain(reason);
  const history = await (await fetch(`${on.url}/api/v1/jobs`)).text();
  const server = await on.restart("SIGKILL");
  place.server = server;
  await readiness(server, "ready");
  expect(await (await fetch(`${server.url}/api/v1/jobs`)).text()).toBe(history);
  await expectExact(server);
}

// At most four tests run at the same time: each has a server and a PostgreSQL.
describe("an outage of which the server tells, and jobs wait", () => {
  test("while PostgreSQL is away, lists have the jobs that have not ended, and say that others are missing", async ({
    place,
  }) => {
    const { state, upstream } = place;
    const on = await start(place);
    await ended(on, await seed(on, LAYER, { ...request, zoomStop: 1 }));
    upstream.behaviour = renderAfter(100);
    const area = "POLYGON((-20000000 -20000000,0 -20000000,0 20000000,-20000000 -20000000))";
    const made = await fetch(`${on.url}/api/v1/jobs`, {
      method: "POST",
      body: JSON.stringify({ layer: LAYER, gridSet: "EPSG:900913", zoomStart: 5, zoomStop: 7, area }),
    });
    const { id } = JSON.parse(await made.text());
    state.postgres.stop("immediate");
    await readiness(on, "not ready");
    const get = async (path: string) => {
      const response = await fetch(on.url + path);
      return { status: response.status, json: JSON.parse((await response.text()) || "{}") };
    };
    for (const query of [
      "",
      "?counts=true",
      "?state=running",
      `?q=${id}`,
      `?layer=${LAYER}&type=seed`,
      `?requestedWith=${id}`,
    ]) {
      const { status, json } = await get(`/api/v1/jobs${query}`);
      expect([status, json.jobs.map((one: { id: number }) => one.id), json.counts], query).toEqual([
        200,
        [id],
        undefined,
      ]);
      expect(json.endedMissing, query).toContain("the state database in PostgreSQL");
    }
    expect((await get("/api/v1/jobs?type=truncate")).json.jobs).toEqual([]);
    for (const query of ["?outcome=done", "?state=done"])
      expect((await get(`/api/v1/jobs${query}`)).status, query).toBe(503);
    expect((await get(`/api/v1/jobs/${id}`)).json).toMatchObject({ id, area: { type: "MultiPolygon" } });
    expect(await rows(on)).toHaveLength(1);
    expect(await rows(on, LAYER)).toHaveLength(1);
    expect((await get("/api/v1/status")).json).toMatchObject({ ready: false, jobs: { running: 1 } });
    const metrics = await fetch(`${on.url}/metrics`);
    expect([metrics.status, await metrics.text()]).toEqual([200, expect.stringContaining("nuthatch_ready 0")]);
    state.postgres.start();
    await readiness(on, "ready");
    const { json } = await get("/api/v1/jobs?counts=true");
    expect([json.jobs.length, json.counts.done, json.endedMissing]).toEqual([2, 1, undefined]);
  });

  test("PostgreSQL is killed, and started again", async ({ place }) => {
    const { state } = place;
    const on = await start(place);
    await expectSurvived(place, on, {
      begin: () => state.postgres.stop("immediate"),
      end: () => state.postgres.start(),
      reason: "the state database in PostgreSQL",
    });
  });

  test("PostgreSQL is restarted", async ({ place }) => {
    const { state } = place;
    const on = await start(place);
    await expectSurvived(place, on, {
      begin: () => state.postgres.stop("fast"),
      end: () => state.postgres.start(),
      reason: "the state database in PostgreSQL",
    });
  });

  test("PostgreSQL fails over to a standby behind the same address", async ({ place }) => {
    const { state, cleanUps } = place;
    const directory = `${state.directory}-standby`;
    const standby = startStandby(state.postgres, directory);
    cleanUps.push(() => removePostgres(directory));
    const on = await start(place);
    await expectSurvived(place, on, {
      begin() {
        state.proxy.forwardTo(standby.socket);
        state.postgres.stop("immediate");
      },
      end: () => standby.promote(),
      reason: "it is a standby, which takes no changes",
    });
  });
});

describe("an outage of another kind than a stop", () => {
  test("PostgreSQL has no connection left", async ({ place }) => {
    const { state } = place;
    const { postgres } = state;
    postgres.sql("CREATE ROLE limited LOGIN");
    postgres.sql("GRANT ALL ON SCHEMA public TO limited", "state");
    const on = await start(place, state.env("state", "limited"));
    await expectSurvived(place, on, {
      begin() {
        postgres.sql("ALTER ROLE limited CONNECTION LIMIT 0");
        postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'");
      },
      end: () => void postgres.sql("ALTER ROLE limited CONNECTION LIMIT -1"),
      reason: "too many connections",
    });
  });

  (canMount() ? test : withPostgres.skip)("the disk of PostgreSQL is full", async ({ place }) => {
    const { state, cleanUps } = place;
    const disk = mountSmallDisk(32, 10_000);
    if (disk === undefined) throw new Error("no disk");
    cleanUps.push(() => disk.close());
    giveToPostgres(disk.directory);
    state.postgres.sql(`CREATE TABLESPACE small LOCATION '${disk.directory}'`);
    state.postgres.sql("CREATE DATABASE small TABLESPACE small");
    const on = await start(place, state.env("small"));
    const filler = join(disk.directory, "filler");
    const numbers = random(testSeed());
    const squares = Array.from({ length: 500 }, () => {
      const [x, y] = [numbers() * 1e7, numbers() * 1e7];
      return `((${x} ${y},${x + 1} ${y},${x} ${y + 1},${x} ${y}))`;
    });
    const large = { layer: LAYER, gridSet: "EPSG:900913", zoomStop: 3, area: `MULTIPOLYGON(${squares.join()})` };
    await expectSurvived(place, on, {
      async begin() {
        expect(() => writeFileSync(filler, Buffer.alloc(32 * 1024 * 1024))).toThrow("ENOSPC");
        // It does not fit into pages that PostgreSQL has already: other changes may, and then succeed.
        const refused = await fetch(`${on.url}/api/v1/jobs`, { method: "POST", body: JSON.stringify(large) });
        expect([refused.status, await refused.text()]).toEqual([
          503,
          expect.stringContaining("No space left on device"),
        ]);
      },
      end: () => rmSync(filler),
      reason: "No space left on device",
    });
  });

  test("the network swallows everything", async ({ place }) => {
    const { state } = place;
    const on = await start(place);
    await expectSurvived(place, on, {
      begin: () => state.proxy.set("swallow"),
      end() {
        state.proxy.set("refuse");
        state.proxy.set("pass");
      },
      reason: "",
    });
  });

  test("PostgreSQL answers slowly: the server stays ready, and jobs take longer", async ({ place }) => {
    const { state } = place;
    const on = await start(place);
    state.proxy.delay(200);
    const { tiles, outcome } = await ended(on, await seed(on, LAYER, { ...request, zoomStop: 3 }));
    expect([outcome, tiles.stored]).toEqual(["done", 85]);
    expect((await fetch(`${on.url}/readyz`)).status).toBe(200);
    state.proxy.delay(0);
    await expectExact(on);
  });
});

describe("an outage in the middle of other work than jobs", () => {
  test("an adoption and a verification go on after an outage", async ({ place }) => {
    const { state, upstream } = place;
    let on = await start(place);
    await ended(on, await seed(on, LAYER, { ...request, zoomStop: 4 }));
    await on.kill("SIGTERM");
    // A new database without a record of the tiles. Their layer is added while the server runs.
    state.postgres.sql("CREATE DATABASE other");
    const configuration = (...layers: readonly string[]) =>
      smallTiles(
        upstream.url,
        layers.map((name) => ({ name })),
      );
    on = await startServer({ configuration: configuration("other"), env: state.env("other"), dataDir: on.dataDir });
    place.server = on;
    await readiness(on, "ready");
    writeFileSync(join(on.dataDir, "nuthatch.yaml"), configuration("other", LAYER));
    const adopting = state.proxy.refuseAt("SELECT z, after FROM adoption");
    const reloading = fetch(`${on.url}/rest/reload`, { method: "POST", body: "reload_configuration=1" });
    await adopting;
    await readiness(on, "not ready");
    state.proxy.set("pass");
    await until("all is counted", async () => ((await usage(on)).adoption?.pyramidsLeft === 0 ? true : undefined));
    expect((await reloading).status).toBe(200);
    expect(on.log()).toContain("counting an existing cache waits for the state database");
    await expectExact(on);

    // A new connection, which sends the texts of its statements once. The tiles are not counted again.
    on = await on.restart("SIGTERM");
    place.server = on;
    await readiness(on, "ready");
    const comparing = state.proxy.refuseAt("SELECT bx, by FROM block");
    expect((await fetch(`${on.url}/api/v1/usage/verification`, { method: "POST" })).status).toBe(202);
    await comparing;
    await readiness(on, "not ready");
    expect(await verification(on)).toMatchObject({
      state: "running",
      reason: expect.stringContaining("waiting for the state database"),
    });
    state.proxy.set("pass");
    const compared = await until("compared", async () => {
      const now = await verification(on);
      return now.state === "running" ? undefined : now;
    });
    expect(compared).toMatchObject({ state: "done", differing: 0, tiles: 341, reason: null });
  });

  test("an export and an import of the command line go on after an outage", async ({ place }) => {
    const { state, upstream } = place;
    // MBTiles has tiles of 256 pixels.
    let on = await start(place, state.env(), wmsConfiguration(upstream.url));
    await ended(on, await seed(on, LAYER, { ...request, zoomStop: 3 }));
    const run = clientOf(() => on.url);
    const file = join(on.dataDir, "tiles.mbtiles");
    /** Runs a command with an outage at the moment at which the server sends a text on a new connection. */
    const outageIn = async (command: readonly string[], text: string): Promise<Ended> => {
      on = await on.restart("SIGTERM");
      place.server = on;
      await readiness(on, "ready");
      const cut = state.proxy.refuseAt(text);
      const running = run(command);
      const first = await Promise.race([cut, running]);
      if (first !== undefined) return first;
      await readiness(on, "not ready");
      state.proxy.set("pass");
      return running;
    };
    const exported = await outageIn(["export", LAYER, "--to", file], "FROM block");
    expect([exported.code, exported.stdout, exported.stderr]).toEqual([
      0,
      expect.stringContaining("85 tiles"),
      expect.stringContaining("waiting for the server"),
    ]);
    expect((await massTruncate(on, LAYER)).status).toBe(200);
    const imported = await outageIn(["import", file, LAYER], "INSERT INTO mark");
    expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining("85 stored")]);
    await expectExact(on);
  });
});
