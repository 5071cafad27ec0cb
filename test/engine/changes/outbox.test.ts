import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFull } from "../../support/full.ts";
import { hasPostgres, type Postgres, removePostgres, startPostgres } from "../../support/postgres/postgres.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { isReady, until } from "../../support/until.ts";
import { renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/* The outbox of a database, in which triggers write the changes of the data (`databases`). */

const directory = mkdtempSync(join(tmpdir(), "nuthatch-outbox-"));
// Beside it: the account of PostgreSQL may not enter a temporary directory of root.
const postgresDirectory = `${directory}-server`;
let postgres: Postgres;
let upstream: Upstream;
let server: TestServer;
/** The answers of a server whose database was away when it started. */
let whileAway: { readonly live: number; readonly ready: number } | undefined;

const TABLE = `CREATE TABLE nuthatch_changes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, topic text NOT NULL,
  srid integer, minx double precision, miny double precision, maxx double precision, maxy double precision,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp())`;

beforeAll(async () => {
  if (!hasPostgres) return;
  postgres = startPostgres(postgresDirectory);
  postgres.sql("CREATE DATABASE gis");
  postgres.sql(TABLE, "gis");
  // The rights that the server needs, and no others.
  postgres.sql("CREATE ROLE reader LOGIN; GRANT SELECT, DELETE ON nuthatch_changes TO reader", "gis");
  upstream = await startUpstream();
  upstream.behaviour = renderAfter(0);
  const layer = (name: string, more: string): string => `
  - name: ${name}
    source: { type: wms, url: "${upstream.url}" }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 8 }, { gridSet: EPSG:4326, zoomStop: 8 }]
    formats: [image/png, image/jpeg]
    metatile: [1, 1]
    updateSources: [{ type: postgres, database: gis, topics: [public.${name}]${more} }]`;
  const url = postgres.url("gis").replace("nuthatch@", "reader@");
  // The database is away when the server starts.
  postgres.stop("fast");
  server = await startServer({
    configuration: `databases: [{ id: gis, url: "${url}" }]
layers:${layer("roads", "")}${layer("seeded", ", operation: seed")}${layer("edited", ", operation: soft")}`,
  });
  whileAway = await until("the server names the database", async () => {
    const ready = await fetch(`${server.url}/readyz`);
    if (!(await ready.text()).includes("gis")) return undefined;
    return { live: (await fetch(`${server.url}/livez`)).status, ready: ready.status };
  });
  postgres.start();
  await isReady(server);
});

afterAll(async () => {
  await server?.close();
  await upstream?.close();
  if (hasPostgres) removePostgres(postgresDirectory);
  rmSync(directory, { recursive: true, force: true });
});

const changed = (values: string, topic = "public.roads"): string =>
  `INSERT INTO nuthatch_changes (topic, srid, minx, miny, maxx, maxy) VALUES ('${topic}', ${values})`;
const left = (): string => postgres.sql("SELECT count(*) FROM nuthatch_changes", "gis");
const allRead = (): Promise<true> =>
  until("the outbox is empty", async () => (left() === "0" ? true : undefined), 60_000, server);

async function cacheResult(path: string): Promise<string | null> {
  const answer = await fetch(`${server.url}/xyz/${path}`, { headers: { "Cache-Control": "only-if-cached" } });
  await answer.arrayBuffer();
  return answer.status === 504 ? "absent" : answer.headers.get("geowebcache-cache-result");
}
const becomes = (path: string, result: string): Promise<true> =>
  until(`${path} is ${result}`, async () => ((await cacheResult(path)) === result ? true : undefined), 60_000, server);

async function load(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const answer = await fetch(`${server.url}/xyz/${path}`);
    await answer.arrayBuffer();
    expect([path, answer.status]).toEqual([path, 200]);
  }
}

async function ignored(reason: string): Promise<string | undefined> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return new RegExp(`^nuthatch_changes_ignored_total\\{database="gis",reason="${reason}"\\} (.*)$`, "m").exec(
    text,
  )?.[1];
}

test.skipIf(!hasPostgres)("a server whose database is away lives, is not ready, and names it", () => {
  expect(whileAway).toEqual({ live: 200, ready: 503 });
});

test.skipIf(!hasPostgres)(
  "a changed box removes the tiles that it touches, of all formats, and no others",
  async () => {
    // Level 8: tile 128/127 is the north-east of 0, 0.
    await load("roads/8/128/127.png", "roads/8/128/127.jpeg", "roads/8/129/127.png", "roads/2/2/1.png");
    postgres.sql(changed("4326, 0.1, 0.1, 0.2, 0.2"), "gis");
    await becomes("roads/8/128/127.png", "absent");
    await becomes("roads/8/128/127.jpeg", "absent");
    await becomes("roads/2/2/1.png", "absent");
    expect(await cacheResult("roads/8/129/127.png")).toBe("HIT");
    await allRead();
  },
);

test.skipIf(!hasPostgres)("a change of a layer that is seeded is rendered again without a request", async () => {
  await load("seeded/8/128/127.png");
  const before = upstream.asked.length;
  postgres.sql(changed("4326, 0.1, 0.1, 0.2, 0.2", "public.seeded"), "gis");
  await until("it is rendered again", async () => (upstream.asked.length >= before + 9 ? true : undefined));
  await becomes("seeded/8/128/127.png", "HIT");
});

test.skipIf(!hasPostgres)("a transaction that commits after a later one is seen", async () => {
  await load("roads/8/10/10.png");
  const { Client } = await import("pg");
  const client = new Client({ host: postgresDirectory, user: "nuthatch", database: "gis" });
  await client.connect();
  try {
    await client.query("BEGIN");
    await client.query(changed("4326, -165.5, 83.59, -165.4, 83.6"));
    postgres.sql(changed("4326, 50, 50, 51, 51"), "gis");
    await allRead();
    expect(await cacheResult("roads/8/10/10.png")).toBe("HIT");
    await client.query("COMMIT");
    await client.query("NOTIFY nuthatch_changes");
    await becomes("roads/8/10/10.png", "absent");
  } finally {
    await client.end();
  }
});

test.skipIf(!hasPostgres)("a row without a box, or with a bad one, is a change of its whole topic", async () => {
  for (const values of [
    "NULL, NULL, NULL, NULL, NULL",
    "4326, 1, NULL, 2, 2",
    "4326, 'NaN', 1, 2, 2",
    "4326, 2, 1, 1, 2",
    "NULL, 1, 1, 2, 2",
  ]) {
    await load("roads/8/200/200.png");
    postgres.sql(changed(values), "gis");
    await becomes("roads/8/200/200.png", "absent");
  }
  expect(server.log()).toContain("a change has no valid box: it counts as a change of its whole topic");
});

test.skipIf(!hasPostgres)("rows with an unknown topic or CRS are removed, counted, and logged once", async () => {
  postgres.sql(`${changed("4326, 1, 1, 2, 2", "nobody")}; ${changed("4326, 1, 1, 2, 2", "nobody")}`, "gis");
  postgres.sql(changed("999999, 1, 1, 2, 2"), "gis");
  await allRead();
  await until("they are counted", async () => ((await ignored("unknown_topic")) === "2" ? true : undefined));
  expect(await ignored("unknown_srid")).toBe("1");
  expect(server.log().match(/unknown_topic/g)).toHaveLength(1);
});

test.skipIf(!hasPostgres)("changes made while the database restarts are not lost", async () => {
  await load("roads/8/30/30.png");
  postgres.stop("immediate");
  postgres.start();
  postgres.sql(changed("3857, -15300000, 15200000, -15000000, 15500000"), "gis");
  await becomes("roads/8/30/30.png", "absent");
  await allRead();
});

test.skipIf(!hasPostgres)("a stream of changes costs the renders of the changed tiles, and no others", async () => {
  const EDITS = 40;
  // One tile of level 8 each, which no other edit touches.
  const edited = Array.from(
    { length: EDITS },
    (_, i) => `edited/8/${10 + (i % 10) * 4}/${100 + Math.floor(i / 10) * 4}.png`,
  );
  const others = Array.from({ length: EDITS }, (_, i) => `edited/8/${150 + i}/50.png`);
  await load(...edited);
  const { Client } = await import("pg");
  const client = new Client({ host: postgresDirectory, user: "nuthatch", database: "gis" });
  await client.connect();
  upstream.behaviour = renderAfter(400);
  const asked = upstream.asked.length;
  try {
    const rendered: Promise<void>[] = [];
    for (let i = 0; i < EDITS; i++) {
      const [column, row] = [10 + (i % 10) * 4, 100 + Math.floor(i / 10) * 4];
      const side = 40_075_016.68 / 256;
      const x = -20_037_508.34 + (column + 0.5) * side;
      const y = 20_037_508.34 - (row + 0.5) * side;
      await client.query(changed(`3857, ${x}, ${y}, ${x + 1}, ${y + 1}`, "public.edited"));
      await client.query("NOTIFY nuthatch_changes");
      // A render that no change touches is in flight all the time.
      rendered.push(load(others[i] ?? ""));
      if (i % 4 === 3) await Promise.all(rendered.splice(0));
    }
  } finally {
    await client.end();
  }
  await allRead();
  upstream.behaviour = renderAfter(0);
  const fresh = async (path: string): Promise<true | undefined> => {
    const answer = await fetch(`${server.url}/xyz/${path}`);
    await answer.arrayBuffer();
    return answer.headers.get("cache-control")?.includes("max-age=15") === true ? undefined : true;
  };
  // A stale tile is served, and rendered again.
  for (const path of edited) await until(`${path} is rendered again`, () => fresh(path), 60_000, server);
  for (const path of others) expect(await fresh(path)).toBe(true);
  expect(upstream.asked.length - asked).toBeGreaterThanOrEqual(2 * EDITS);
  expect(upstream.asked.length - asked).toBeLessThanOrEqual(1.2 * 2 * EDITS);
});

/** The changes of a bulk load. A full run has the operators' number. */
const BULK = isFull ? 100_000 : 10_000;

test.skipIf(!hasPostgres)(`${BULK} changes of one transaction are read`, async () => {
  await load("roads/8/128/127.png", "roads/8/0/255.png");
  postgres.sql(
    `INSERT INTO nuthatch_changes (topic, srid, minx, miny, maxx, maxy) SELECT 'public.roads', 4326, x, y, x + 0.001, y + 0.001
       FROM (SELECT (i % 100) / 5.0 AS x, (i / 100) / 100.0 AS y FROM generate_series(0, ${BULK - 1}) AS i) AS boxes; NOTIFY nuthatch_changes`,
    "gis",
  );
  await until("all are read", async () => (left() === "0" ? true : undefined), 220_000, server);
  await becomes("roads/8/128/127.png", "absent");
  expect(await cacheResult("roads/8/0/255.png")).toBe("HIT");
});
