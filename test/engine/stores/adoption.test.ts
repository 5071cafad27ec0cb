import { appendFileSync, readdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { inFull } from "../../support/full.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const LAYER = "ws:roads";
/** The highest zoom of EPSG:900913 that the cache has. */
const TOP = inFull("last zoom", 6, 4);
const TILES = (4 ** (TOP + 1) - 1) / 3;
const world = {
  gridSetId: "EPSG:900913",
  zoomStart: 0,
  zoomStop: TOP,
  format: "image/png",
  type: "seed",
  threadCount: 1,
};
const STATES = `
      - { type: string, key: STYLES, default: "", values: [a, b] }`;

/** Starts a server on a store with tiles and an empty database, as after copying an existing cache. */
async function startOnForeignCache(): Promise<TestServer> {
  running.upstream = await startUpstream();
  const first = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: LAYER, extra: `parameterFilters:${STATES}` }]),
  });
  running.server = first;
  await ended(first, await seed(first, LAYER, world));
  await ended(first, await seed(first, LAYER, { ...world, gridSetId: "EPSG:4326", zoomStop: 3, format: "image/jpeg" }));
  await ended(first, await seed(first, LAYER, { ...world, zoomStop: 3, parameters: { STYLES: "a" } }));
  await first.kill("SIGTERM");
  for (const name of readdirSync(first.dataDir)) if (name.startsWith("state.db")) rmSync(join(first.dataDir, name));
  expect(readdirSync(first.dataDir)).not.toContain("state.db");
  const again = await first.restart();
  running.server = again;
  return again;
}

const complete = (at: TestServer) =>
  until("the cache has been counted", async () => {
    const now = await usage(at);
    return now.adoption.pyramidsLeft === 0 && now.layers.every((l) => l.complete) ? now : undefined;
  });

test("a full cache without a ledger is served at once and counted in the background, exactly, while it changes", async () => {
  const at = await startOnForeignCache();
  const hit = await fetch(`${at.url}/xyz/${LAYER}/${TOP}/10/10.png`);
  expect(hit.headers.get("geowebcache-cache-result")).toBe("HIT");
  await hit.arrayBuffer();
  await fetch(`${at.url}/rest/seed/${LAYER}.json`, {
    method: "POST",
    body: JSON.stringify({
      seedRequest: { ...world, type: "truncate", zoomStart: TOP, bounds: { coords: { double: [0, 0, 9e6, 9e6] } } },
    }),
  });
  const more = await seed(at, LAYER, { ...world, gridSetId: "EPSG:4326", zoomStop: 3 });
  expect((await ended(at, more)).outcome).toBe("done");
  await until("the truncate has ended", async () =>
    (await (await fetch(`${at.url}/rest/seed.json`)).text()) === '{"long-array-array":[]}' ? true : undefined,
  );
  const counted = await complete(at);
  const scan = scanStore(at.dataDir);
  expect(counted.total).toEqual({ tiles: scan.tiles, bytes: scan.bytes });
  expect(counted.layers).toHaveLength(1);
});

test("counting goes on after kills, and a seed stores nothing that was there", async () => {
  let at = await startOnForeignCache();
  for (let round = 0; round < 3; round++) {
    at = await at.restart("SIGKILL");
    running.server = at;
  }
  await complete(at);
  await expectExact(at);
  const again = await ended(at, await seed(at, LAYER, world));
  expect(again.tiles).toMatchObject({ total: TILES, stored: 0, skipped: TILES });
  const byTileSet = (await usage(at, "?by=tileSet")).tileSets ?? [];
  expect(byTileSet.map((t) => [t.gridSet, t.format, t.parametersId.length, t.tiles]).sort()).toEqual([
    ["EPSG:4326", "image/jpeg", 0, 170],
    ["EPSG:900913", "image/png", 0, TILES],
    ["EPSG:900913", "image/png", 40, 85],
  ]);
  for (const { tiles, zooms } of byTileSet) expect(zooms.reduce((sum, zoom) => sum + zoom.tiles, 0)).toBe(tiles);
});

interface VerificationJson {
  readonly state: string;
  readonly tiles: number;
  readonly differing: number;
  readonly differences: readonly {
    readonly tileSet: { readonly layer: string; readonly gridSet: string };
    readonly rect: { readonly z: number; readonly minX: number; readonly minY: number };
    readonly ledger: { readonly tiles: number; readonly bytes: number };
    readonly store: { readonly tiles: number; readonly bytes: number };
  }[];
}

async function verify(at: TestServer, query: string): Promise<VerificationJson> {
  const begun = await fetch(`${at.url}/api/v1/usage/verification${query}`, { method: "POST" });
  expect(begun.status).toBe(202);
  return until("the verification has ended", async () => {
    const now: VerificationJson = JSON.parse(await (await fetch(`${at.url}/api/v1/usage/verification`)).text());
    return now.state === "running" ? undefined : now;
  });
}

test("a verification lists changes of other programs in the store, and repairs them on request", async () => {
  running.upstream = await startUpstream();
  const at = await startServer({ configuration: smallTiles(running.upstream.url) });
  running.server = at;
  expect((await fetch(`${at.url}/api/v1/usage/verification`)).status).toBe(404);
  // A level more: it has several cells.
  const top = TOP + 1;
  const all = TILES + 4 ** top;
  await ended(at, await seed(at, LAYER, { ...world, zoomStop: top }));
  const good = await verify(at, "");
  expect(good).toMatchObject({ state: "done", tiles: all, differing: 0, differences: [] });

  const { files } = scanStore(at.dataDir);
  const highest = files.filter((file) => file.includes(`EPSG_900913_0${top}`)).sort();
  const [removed, grown] = [highest[0] ?? "", highest.at(-1) ?? ""];
  unlinkSync(removed);
  appendFileSync(grown, Buffer.alloc(100));
  const z2 = files.find((file) => file.includes("EPSG_900913_02")) ?? "";
  writeFileSync(join(dirname(z2), "notatile.txt"), "x");
  const bad = await verify(at, "");
  expect(bad).toMatchObject({ state: "done", tiles: all - 1, differing: 2 });
  expect(bad.differences.map((d) => [d.rect.z, d.store.tiles - d.ledger.tiles]).sort()).toEqual([
    [top, -1],
    [top, 0],
  ]);
  expect((await usage(at)).total.tiles, "told, not repaired").toBe(all);

  expect(await verify(at, "?repair=true")).toMatchObject({ differing: 2 });
  await expectExact(at);
  expect(await verify(at, `?layer=${encodeURIComponent(LAYER)}`)).toMatchObject({ differing: 0 });
  for (const [query, status] of [
    ["?repair=maybe", 400],
    ["?layer=nope", 404],
  ] as const)
    expect((await fetch(`${at.url}/api/v1/usage/verification${query}`, { method: "POST" })).status).toBe(status);
});

test("a grid set that a layer no longer names, or names only later, is counted once", async () => {
  running.upstream = await startUpstream();
  const { url } = running.upstream;
  const both = smallTiles(url, [{ name: LAYER }]);
  const one = smallTiles(url, [{ name: LAYER, gridSubsets: "[{ gridSet: EPSG:900913 }]" }]);
  const server = await startServer({ configuration: both });
  running.server = server;
  const configure = async (at: TestServer, configuration: string): Promise<void> => {
    writeFileSync(join(at.dataDir, "nuthatch.yaml"), configuration);
    expect((await fetch(`${at.url}/rest/reload`, { method: "POST" })).status).toBe(200);
    await complete(at);
  };
  await ended(server, await seed(server, LAYER, { ...world, zoomStop: 2 }));
  await ended(server, await seed(server, LAYER, { ...world, gridSetId: "EPSG:4326", zoomStop: 2 }));
  await expectExact(server);
  await configure(server, one);
  await expectExact(server);
  await configure(server, both);
  await expectExact(server);
  await configure(server, one);
  // A database that never knew its name calls it by its directory.
  await server.kill("SIGTERM");
  for (const name of readdirSync(server.dataDir)) if (name.startsWith("state.db")) rmSync(join(server.dataDir, name));
  const again = await startServer({ configuration: one, dataDir: server.dataDir });
  running.server = again;
  await complete(again);
  await expectExact(again);
  await configure(again, both);
  await expectExact(again);
  const later = await again.restart("SIGKILL");
  running.server = later;
  await complete(later);
  await expectExact(later);
});
