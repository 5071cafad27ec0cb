import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { builtInGridSet } from "../../../src/grid/built-in.ts";
import { createCompactStore } from "../../../src/store/compact/compact-store.ts";
import { createFileStore } from "../../../src/store/file/file-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { truncate, undo } from "../../support/jobs/truncations.ts";
import { reload } from "../../support/server/reload.ts";
import { clientOf } from "../../support/server/run-program.ts";
import { ended, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { inDirectory } from "../../support/stores/in-directory.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-store-copy-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const LAYER = "ws:roads";
const TOP = 5;
const SIDE = 2 ** TOP;
const world = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: TOP, format: "image/png", threadCount: 1 };

interface Copy {
  readonly layer: string;
  readonly state: string;
  readonly tiles: number;
  readonly total: number;
  readonly copied: number;
}

async function copiesOf(at: TestServer): Promise<readonly Copy[]> {
  const answer: { copies: readonly Copy[] } = JSON.parse(await (await fetch(`${at.url}/api/v1/stores/copies`)).text());
  return answer.copies;
}

const post = (at: TestServer, body: object): Promise<Response> =>
  fetch(`${at.url}/api/v1/stores/copies`, { method: "POST", body: JSON.stringify(body) });

const complete = (at: TestServer): Promise<Copy> =>
  until("the copy is complete", async () => (await copiesOf(at)).find(({ state }) => state === "complete"));

/** Returns the tiles of the layer in a store: bytes and time by name. */
async function contentOf(store: Store): Promise<ReadonlyMap<string, string>> {
  const tiles = new Map<string, string>();
  for (const pyramid of store.pyramids(LAYER, ["EPSG:900913", "EPSG:4326"]))
    for (const z of store.levels(pyramid))
      for await (const region of store.regions(pyramid, z, undefined))
        for (const [format, places] of region.tiles)
          for (const { x, y } of places) {
            const tile = await store.get({ tileSet: { ...pyramid, format }, x, y, z });
            const { bytes, modifiedMs } = tile ?? { bytes: new Uint8Array(), modifiedMs: 0 };
            const key = [pyramid.gridSet, pyramid.parametersId, format, z, x, y].join(" ");
            tiles.set(key, `${Math.round(modifiedMs)} ${Buffer.from(bytes).toString("base64")}`);
          }
  return tiles;
}

test("a layer moves to another store while it is read, written, truncated and undone, over a kill, and no reader misses", async () => {
  const upstream = await startUpstream();
  upstream.behaviour = renderNoise(20, 64);
  const [files, bundles] = [join(directory, "files"), join(directory, "bundles")];
  const configuration = (store: string): string => `stores:
  - { id: disk, type: file, path: ${JSON.stringify(files)} }
  - { id: packed, type: compact, path: ${JSON.stringify(bundles)} }
server: { memoryTierMiB: 0 }
${smallTiles(upstream.url, [{ name: LAYER, extra: `store: ${store}` }, { name: "other" }])}`;
  let at = await startServer({ configuration: configuration("disk") });
  const run = clientOf(() => at.url);
  try {
    await ended(at, await seed(at, LAYER, world));

    const missed: string[] = [];
    let isReading = true;
    let reads = 0;
    const reader = async (first: number): Promise<void> => {
      for (let n = first; isReading; n = (n * 7 + 3) % SIDE ** 2) {
        const path = `/xyz/${encodeURIComponent(LAYER)}/${TOP}/${n % SIDE}/${Math.floor(n / SIDE)}.png`;
        const answer = await fetch(at.url + path, { headers: { "Cache-Control": "only-if-cached" } });
        await answer.arrayBuffer();
        reads++;
        if (answer.headers.get("geowebcache-cache-result") !== "HIT") missed.push(`${answer.status} ${path}`);
        // Without a pause, the readers would use the core that the copy needs.
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
    };

    expect((await post(at, { from: "disk", to: "nowhere" })).status).toBe(400);
    expect((await post(at, { from: "packed", to: "disk", layers: [LAYER] })).status).toBe(409);
    expect((await post(at, { from: "disk", to: "packed", layers: ["none"] })).status).toBe(404);
    expect((await post(at, { from: "disk", to: "packed", layers: [LAYER] })).status).toBe(202);
    await until("some tiles are copied", async () => (await copiesOf(at)).some(({ tiles }) => tiles > 20) || undefined);
    at = await at.restart("SIGKILL");
    let readers = [1, 500].map(reader);
    const copied = await complete(at);
    expect(copied).toMatchObject({ tiles: copied.total });

    // Changes are followed: a reseed, a level more, tiles that are removed.
    upstream.behaviour = renderNoise(30, 64);
    const more = await seed(at, LAYER, { ...world, type: "reseed", zoomStart: 3, zoomStop: 4 });
    expect((await ended(at, more)).outcome).toBe("done");
    const jpeg = await seed(at, LAYER, { ...world, format: "image/jpeg", zoomStop: 3 });
    expect((await ended(at, jpeg)).outcome).toBe("done");
    await ended(at, await seed(at, LAYER, { ...world, type: "truncate", zoomStart: 2, zoomStop: 2 }));
    isReading = false;
    await Promise.all(readers);
    expect(missed).toEqual([]);

    const everything = await truncate(at, { type: "truncateLayer", layer: LAYER });
    await until(
      "the target has nothing either",
      async () => (await copiesOf(at)).some(({ state, total }) => state === "complete" && total === 0) || undefined,
    );
    expect((await undo(at, everything.id)).status).toBe(200);
    const listed = await run(["store", "copy", "disk", "packed", "--layer", LAYER]);
    expect(listed.stderr + listed.stdout).toContain("complete");
    expect(listed.code).toBe(0);
    await until("all tiles are counted", async () =>
      (await usage(at)).adoption.pyramidsLeft === 0 ? true : undefined,
    );
    await until(
      "the restored tiles are compared",
      async () =>
        (await copiesOf(at)).some(
          ({ state, tiles, total }) => state === "complete" && tiles === total && total > 1000,
        ) || undefined,
    );

    isReading = true;
    readers = [1, 500].map(reader);
    const late = await seed(at, LAYER, { ...world, type: "reseed", zoomStart: 4, zoomStop: 4 });
    await reload(at, configuration("packed"));
    const readsBefore = reads;
    await until("tiles are read in the new store", async () => (reads > readsBefore + 100 ? true : undefined));
    isReading = false;
    await Promise.all(readers);
    expect(missed).toEqual([]);
    expect((await copiesOf(at)).map(({ layer, state }) => [layer, state])).toEqual([[LAYER, "moved"]]);
    await ended(at, late);
    expect(at.log()).not.toMatch(/"level":"error"|unhandled/);
  } finally {
    await at.close();
  }
  await using from = createFileStore(inDirectory(files));
  await using to = createCompactStore({ ...inDirectory(bundles), gridSets: builtInGridSet });
  const [old, moved] = [await contentOf(from), await contentOf(to)];
  expect([...moved.keys()].sort()).toEqual([...old.keys()].sort());
});

test("a copy holds what its source has, byte by byte and with its times, and can be cancelled", async () => {
  const upstream = await startUpstream();
  upstream.behaviour = renderNoise(20, 64);
  const [tree, bundles] = [join(directory, "tree"), join(directory, "bundles-2")];
  const configuration = `stores:
  - { id: packed, type: compact, path: ${JSON.stringify(bundles)} }
  - { id: tree, type: file, path: ${JSON.stringify(tree)}, layout: tms }
${smallTiles(upstream.url, [{ name: LAYER }])}`;
  const at = await startServer({ configuration });
  const run = clientOf(() => at.url);
  try {
    await ended(at, await seed(at, LAYER, { ...world, zoomStop: 4 }));
    expect((await run(["store", "copy", "packed", "tree"])).code).toBe(0);
    upstream.behaviour = renderNoise(30, 64);
    await ended(at, await seed(at, LAYER, { ...world, type: "reseed", zoomStart: 2, zoomStop: 3 }));
    await ended(at, await seed(at, LAYER, { ...world, type: "truncate", zoomStart: 4, zoomStop: 4 }));
    await using from = createCompactStore({ ...inDirectory(bundles), gridSets: builtInGridSet });
    await using to = createFileStore({ ...inDirectory(tree), layout: "tms" });
    const source = await contentOf(from);
    expect(source.size).toBe(85);
    await until("the copy has followed", async () => {
      const copy = await contentOf(to);
      return copy.size === 85 && [...source].every(([key, tile]) => copy.get(key) === tile) ? true : undefined;
    });
    const cancelled = await run(["store", "cancel", LAYER]);
    expect([cancelled.code, cancelled.stdout.includes("cancelled")]).toEqual([0, true]);
    expect((await run(["store", "cancel", LAYER])).code).not.toBe(0);
    expect((await run(["store", "copies", "--json"])).stdout).toContain('"state":"cancelled"');
  } finally {
    await at.close();
  }
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "a layer that moves by a restart after %s serves no tile that was replaced since it was copied",
  async (signal) => {
    const upstream = await startUpstream();
    upstream.behaviour = renderNoise(20, 64);
    const own = join(directory, `restart-${signal}`);
    const configuration = (store: string): string => `stores:
  - { id: disk, type: file, path: ${JSON.stringify(join(own, "files"))} }
  - { id: packed, type: compact, path: ${JSON.stringify(join(own, "bundles"))} }
server: { memoryTierMiB: 0 }
${smallTiles(upstream.url, [{ name: LAYER, extra: `store: ${store}` }])}`;
    let at = await startServer({ configuration: configuration("disk") });
    const read = async () => {
      const answer = await fetch(`${at.url}/xyz/${encodeURIComponent(LAYER)}/3/2/2.png`);
      return { bytes: Buffer.from(await answer.arrayBuffer()), result: answer.headers.get("geowebcache-cache-result") };
    };
    try {
      await ended(at, await seed(at, LAYER, { ...world, zoomStop: 3 }));
      expect((await post(at, { from: "disk", to: "packed" })).status).toBe(202);
      await complete(at);
      const old = await read();
      upstream.behaviour = renderNoise(30, 64);
      await ended(at, await seed(at, LAYER, { ...world, type: "reseed", zoomStart: 3, zoomStop: 3 }));
      const { bytes: renewed } = await read();
      expect(renewed).not.toEqual(old.bytes);
      writeFileSync(join(at.dataDir, "nuthatch.yaml"), configuration("packed"));
      const { dataDir } = at;
      await at.kill(signal);
      at = await startServer({ configuration: configuration("packed"), dataDir });
      if (signal === "SIGTERM") {
        expect(await read()).toEqual({ bytes: renewed, result: "HIT" });
        expect(at.log()).not.toContain("its tiles expire");
      } else {
        await until("the tiles there have expired", async () => at.log().includes("its tiles expire") || undefined);
        await until("no replaced tile is served", async () => !(await read()).bytes.equals(old.bytes) || undefined);
      }
    } finally {
      await at.close();
      await upstream.close();
    }
  },
);
