import { Client } from "pg";
import { describe, expect } from "vitest";
import { truncation, truncations } from "../../support/jobs/truncations.ts";
import { type PostgresPlace, withPostgres } from "../../support/postgres/place.ts";
import { hasPostgres } from "../../support/postgres/postgres.ts";
import { readiness } from "../../support/postgres/state-in-postgres.ts";
import { ended, job, massTruncate, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { renderAfter } from "../../support/upstream/upstream.ts";

const LAYER = "ws:roads";
/** Levels 0 to 3. */
const TILES = 85;
const request = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 3, format: "image/png", threadCount: 4 };

const test = hasPostgres ? withPostgres.concurrent : withPostgres.skip;

async function start(place: PostgresPlace, undoSeconds = 0): Promise<TestServer> {
  const store = `store: { undoSeconds: ${undoSeconds} }\n`;
  const configuration = smallTiles(place.upstream.url, [{ name: LAYER }], store);
  const server = await startServer({ configuration, env: place.state.env() });
  place.server = server;
  await readiness(server, "ready");
  return server;
}

/** Kills PostgreSQL at the moment at which a server sends a text. */
async function killAt({ state }: PostgresPlace, text: string): Promise<void> {
  await state.proxy.refuseAt(text);
  state.postgres.stop("immediate");
}

async function backAgain({ state }: PostgresPlace, server: TestServer): Promise<void> {
  state.postgres.start();
  state.proxy.set("pass");
  await readiness(server, "ready");
}

const read = async (server: TestServer, tile: string): Promise<string | null> =>
  (await fetch(`${server.url}/xyz/${LAYER}/${tile}.png`)).headers.get("geowebcache-cache-result");

// At most three tests run at the same time: each has a server and a PostgreSQL.
describe("a truncation of a layer that an outage interrupts", () => {
  test.for([0, 600])(
    "a truncation that an outage of PostgreSQL interrupts is completed before a newer tile is stored (undo: %i s)",
    async (undoSeconds, { place }) => {
      let server = await start(place, undoSeconds);
      await ended(server, await seed(server, LAYER, request));
      const killed = killAt(place, "UPDATE store_drop SET done");
      const refused = await massTruncate(server, LAYER);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
      await killed;
      expect(await readiness(server, "not ready")).toContain("PostgreSQL");
      // Rendered and not stored: the completion of the truncation would remove newer tiles.
      expect(await read(server, "1/0/0")).toBe("MISS");
      expect(scanStore(server.dataDir).tiles).toBe(0);
      const id = seed(server, LAYER, request).catch(String);
      expect(await id).toContain("503");
      await backAgain(place, server);
      const { tiles } = await ended(server, await seed(server, LAYER, request));
      expect(tiles).toMatchObject({ total: TILES, stored: TILES, skipped: 0 });
      expect(server.log()).toContain("an interrupted truncation was completed");
      server = await server.restart("SIGKILL");
      place.server = server;
      await readiness(server, "ready");
      expect((await usage(server)).total.tiles).toBe(TILES);
      expect(await read(server, "1/0/0")).toBe("HIT");
      await expectExact(server);
    },
  );

  test("a seed and a truncation of its layer that an outage interrupts leave exact records", async ({ place }) => {
    const server = await start(place);
    place.upstream.behaviour = renderAfter(10);
    const id = await seed(server, LAYER, { ...request, zoomStop: 5 });
    await until("tiles", async () => ((await job(server, id)).tiles.stored > 100 ? true : undefined), 30_000, server);
    const killed = killAt(place, "UPDATE store_drop SET done");
    expect((await massTruncate(server, LAYER)).status).toBe(503);
    await killed;
    await until("the job waits", async () => ((await job(server, id)).reason?.includes("waiting") ? true : undefined));
    await backAgain(place, server);
    const { tiles, outcome } = await ended(server, id);
    expect([outcome, tiles.failed]).toEqual(["done", 0]);
    await expectExact(server);
  });
});

describe("a truncate job or an undo that an outage interrupts", () => {
  test.for([
    ["whole levels", "UPDATE store_drop SET done", {}],
    [
      "a part of its levels",
      "INSERT INTO mark",
      { bounds: { coords: { double: ["-20037508", "-20037508", "0", "0"] } } },
    ],
  ] as const)("a truncate job of %s waits for PostgreSQL and goes on", async ([what, text, bounds], { place }) => {
    let server = await start(place);
    await ended(server, await seed(server, LAYER, request));
    const client = new Client({ connectionString: place.state.postgres.url("state") });
    await client.connect();
    await until("no cell is marked", async () => {
      const { rowCount } = await client.query("SELECT FROM mark WHERE active <> '0000000000000000'");
      return rowCount === 0 ? true : undefined;
    });
    await client.end();
    // A new connection, which sends the texts of its statements once.
    server = await server.restart("SIGTERM");
    place.server = server;
    await readiness(server, "ready");
    const killed = killAt(place, text);
    const id = await seed(server, LAYER, { ...request, type: "truncate", zoomStart: 2, ...bounds });
    await killed;
    const reason = await until(
      "the job waits",
      async () => (await job(server, id)).reason ?? undefined,
      30_000,
      server,
    );
    expect(reason).toContain("waiting for the state database");
    await backAgain(place, server);
    const { tiles, outcome } = await ended(server, id);
    const deleted = what === "whole levels" ? TILES - 5 : (TILES - 5) / 4;
    expect([outcome, tiles.total, tiles.deleted]).toEqual(["done", deleted, deleted]);
    expect((await usage(server)).total.tiles).toBe(TILES - deleted);
    expect(await read(server, "3/0/7")).toBe("MISS");
    await expectExact(server);
  });

  test("an undo that an outage interrupts unblocks its layer, and is completed when PostgreSQL is back", async ({
    place,
  }) => {
    let server = await start(place, 600);
    await ended(server, await seed(server, LAYER, request));
    expect((await massTruncate(server, LAYER)).status).toBe(200);
    const [made] = await truncations(server);
    if (made === undefined) throw new Error("no truncation");
    await ended(server, await seed(server, LAYER, { ...request, zoomStop: 2 }));
    const killed = killAt(place, "UPDATE mass_truncation SET state = $1");
    const refused = await fetch(`${server.url}/api/v1/truncations/${made.id}/undo`, { method: "POST" });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await refused.text()).toContain(
      "the undo is recorded, and is carried out when the state database can be used",
    );
    await killed;
    await readiness(server, "not ready");
    // The layer is not blocked. Tiles that are rendered now are not stored.
    const tile = await fetch(`${server.url}/xyz/${LAYER}/5/0/0.png`);
    expect([tile.status, tile.headers.get("geowebcache-cache-result")]).toEqual([200, "MISS"]);
    await backAgain(place, server);
    await until("the undo is complete", async () =>
      (await truncation(server, made.id)).state === "undone" ? true : undefined,
    );
    expect((await usage(server)).total.tiles).toBe(TILES);
    expect([await read(server, "3/0/0"), await read(server, "5/0/0")]).toEqual(["HIT", "MISS"]);
    server = await server.restart("SIGKILL");
    place.server = server;
    await readiness(server, "ready");
    await expectExact(server);
  });
});
