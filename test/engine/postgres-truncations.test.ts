import { Client } from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectExact } from "../support/exact.ts";
import { hasPostgres } from "../support/postgres.ts";
import { ended, job, massTruncate, seed, startServer, type TestServer, usage } from "../support/server.ts";
import { readiness, type StateInPostgres, startStateInPostgres } from "../support/state-in-postgres.ts";
import { scanStore } from "../support/store-scan.ts";
import { truncation, truncations } from "../support/truncations.ts";
import { until } from "../support/until.ts";
import { renderAfter, startUpstream, type Upstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";

const LAYER = "ws:roads";
/** Levels 0 to 3. */
const TILES = 85;
const request = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 3, format: "image/png", threadCount: 4 };

let state: StateInPostgres;
let upstream: Upstream;
beforeAll(async () => {
  if (!hasPostgres) return;
  state = await startStateInPostgres();
  upstream = await startUpstream();
});
afterAll(async () => {
  await upstream?.close();
  await state?.close();
});

/** Starts a server with a database of its own. */
async function start(database: string, undoSeconds = 0): Promise<TestServer> {
  state.postgres.sql(`CREATE DATABASE ${database}`);
  const store = `store: { undoSeconds: ${undoSeconds} }\n`;
  const configuration = smallTiles(upstream.url, [{ name: LAYER }], store);
  const server = await startServer({ configuration, env: state.env(database) });
  await readiness(server, "ready");
  return server;
}

/** A test that failed has left PostgreSQL as it was then. */
afterEach(() => {
  state?.proxy.set("pass");
  if (state?.postgres.isRunning === false) state.postgres.start();
});

/** Kills PostgreSQL at the moment at which a server sends a text. */
async function killAt(text: string): Promise<void> {
  await state.proxy.refuseAt(text);
  state.postgres.stop("immediate");
}

async function backAgain(server: TestServer): Promise<void> {
  state.postgres.start();
  state.proxy.set("pass");
  await readiness(server, "ready");
}

const read = async (server: TestServer, tile: string): Promise<string | null> =>
  (await fetch(`${server.url}/xyz/${LAYER}/${tile}.png`)).headers.get("geowebcache-cache-result");

test.skipIf(!hasPostgres).each([0, 600])(
  "a truncation that an outage of PostgreSQL interrupts is completed before a newer tile is stored (undo: %i s)",
  async (undoSeconds) => {
    let server = await start(`interrupted_${undoSeconds}`, undoSeconds);
    try {
      await ended(server, await seed(server, LAYER, request));
      const killed = killAt("UPDATE store_drop SET done");
      const refused = await massTruncate(server, LAYER);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
      await killed;
      expect(await readiness(server, "not ready")).toContain("PostgreSQL");
      // Rendered and not stored: the completion of the truncation would remove newer tiles.
      expect(await read(server, "1/0/0")).toBe("MISS");
      expect(scanStore(server.dataDir).tiles).toBe(0);
      const id = seed(server, LAYER, request).catch(String);
      expect(await id).toContain("503");
      await backAgain(server);
      const { tiles } = await ended(server, await seed(server, LAYER, request));
      expect(tiles).toMatchObject({ total: TILES, stored: TILES, skipped: 0 });
      expect(server.log()).toContain("an interrupted truncation was completed");
      server = await server.restart("SIGKILL");
      await readiness(server, "ready");
      expect((await usage(server)).total.tiles).toBe(TILES);
      expect(await read(server, "1/0/0")).toBe("HIT");
      await expectExact(server);
    } finally {
      await server.close();
    }
  },
);

test.skipIf(!hasPostgres)(
  "a seed and a truncation of its layer that an outage interrupts leave exact records",
  async () => {
    const server = await start("seeding");
    upstream.behaviour = renderAfter(10);
    try {
      const id = await seed(server, LAYER, { ...request, zoomStop: 5 });
      await until("tiles", async () => ((await job(server, id)).tiles.stored > 100 ? true : undefined), 30_000, server);
      const killed = killAt("UPDATE store_drop SET done");
      expect((await massTruncate(server, LAYER)).status).toBe(503);
      await killed;
      await until("the job waits", async () =>
        (await job(server, id)).reason?.includes("waiting") ? true : undefined,
      );
      await backAgain(server);
      const { tiles, outcome } = await ended(server, id);
      expect([outcome, tiles.failed]).toEqual(["done", 0]);
      await expectExact(server);
    } finally {
      upstream.behaviour = () => "render";
      await server.close();
    }
  },
);

test.skipIf(!hasPostgres).each([
  ["whole levels", "UPDATE store_drop SET done", {}],
  [
    "a part of its levels",
    "INSERT INTO mark",
    { bounds: { coords: { double: ["-20037508", "-20037508", "0", "0"] } } },
  ],
])("a truncate job of %s waits for PostgreSQL and goes on", async (what, text, bounds) => {
  const database = `job_${text.length}`;
  let server = await start(database);
  try {
    await ended(server, await seed(server, LAYER, request));
    const client = new Client({ connectionString: state.postgres.url(database) });
    await client.connect();
    await until("no cell is marked", async () => {
      const { rowCount } = await client.query("SELECT FROM mark WHERE active <> '0000000000000000'");
      return rowCount === 0 ? true : undefined;
    });
    await client.end();
    // A new connection, which sends the texts of its statements once.
    server = await server.restart("SIGTERM");
    await readiness(server, "ready");
    const killed = killAt(text);
    const id = await seed(server, LAYER, { ...request, type: "truncate", zoomStart: 2, ...bounds });
    await killed;
    const reason = await until(
      "the job waits",
      async () => (await job(server, id)).reason ?? undefined,
      30_000,
      server,
    );
    expect(reason).toContain("waiting for the state database");
    await backAgain(server);
    const { tiles, outcome } = await ended(server, id);
    const deleted = what === "whole levels" ? TILES - 5 : (TILES - 5) / 4;
    expect([outcome, tiles.total, tiles.deleted]).toEqual(["done", deleted, deleted]);
    expect((await usage(server)).total.tiles).toBe(TILES - deleted);
    expect(await read(server, "3/0/7")).toBe("MISS");
    await expectExact(server);
  } finally {
    await server.close();
  }
});

test.skipIf(!hasPostgres)(
  "an undo that an outage interrupts unblocks its layer, and is completed when PostgreSQL is back",
  async () => {
    let server = await start("undoing", 600);
    try {
      await ended(server, await seed(server, LAYER, request));
      expect((await massTruncate(server, LAYER)).status).toBe(200);
      const [made] = await truncations(server);
      if (made === undefined) throw new Error("no truncation");
      await ended(server, await seed(server, LAYER, { ...request, zoomStop: 2 }));
      const killed = killAt("UPDATE mass_truncation SET state = $1");
      const refused = await fetch(`${server.url}/api/v1/truncations/${made.id}/undo`, { method: "POST" });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await refused.text()).toContain(
        "the undo is recorded, and is carried out when the state database can be used",
      );
      await killed;
      await readiness(server, "not ready");
      // The layer is not blocked. What is rendered now is not stored.
      const tile = await fetch(`${server.url}/xyz/${LAYER}/5/0/0.png`);
      expect([tile.status, tile.headers.get("geowebcache-cache-result")]).toEqual([200, "MISS"]);
      await backAgain(server);
      await until("the undo is complete", async () =>
        (await truncation(server, made.id)).state === "undone" ? true : undefined,
      );
      expect((await usage(server)).total.tiles).toBe(TILES);
      expect([await read(server, "3/0/0"), await read(server, "5/0/0")]).toEqual(["HIT", "MISS"]);
      server = await server.restart("SIGKILL");
      await readiness(server, "ready");
      await expectExact(server);
    } finally {
      await server.close();
    }
  },
);
