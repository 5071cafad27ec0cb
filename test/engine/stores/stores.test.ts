import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { truncate, undo } from "../../support/jobs/truncations.ts";
import { reload } from "../../support/server/reload.ts";
import { ended, job, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-stores-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const LAYER = "ws:roads";
const TOP = 4;
const TILES = (4 ** (TOP + 1) - 1) / 3;
const world = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: TOP, format: "image/png", threadCount: 4 };

const inside = (name: string, end: string): string[] =>
  readdirSync(join(directory, name), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(end));
const tilesOf = async (at: TestServer, layer: string): Promise<number | undefined> =>
  (await usage(at)).layers.find((one) => one.layer === layer)?.tiles;
const counted = (at: TestServer): Promise<true> =>
  until("all tiles are counted", async () => ((await usage(at)).adoption.pyramidsLeft === 0 ? true : undefined));

async function differing(at: TestServer): Promise<number> {
  await fetch(`${at.url}/api/v1/usage/verification`, { method: "POST" });
  return until("the verification has ended", async () => {
    const now: { state: string; differing: number } = JSON.parse(
      await (await fetch(`${at.url}/api/v1/usage/verification`)).text(),
    );
    return now.state === "running" ? undefined : now.differing;
  });
}

test("layers have their tiles in files and in bundles, over kills, truncations, undos and moves between the stores", async () => {
  const upstream = await startUpstream();
  const configuration = (store: string): string => `stores:
  - { id: disk, type: file, path: ${JSON.stringify(join(directory, "files"))} }
  - { id: packed, type: compact, path: ${JSON.stringify(join(directory, "bundles"))} }
${smallTiles(upstream.url, [
  { name: LAYER, extra: `store: ${store}` },
  { name: "plain", extra: "metatile: [2, 2]" },
])}`;
  let at = await startServer({ configuration: configuration("packed") });
  try {
    const tile = (layer: string): Promise<Response> =>
      fetch(`${at.url}/service/tms/1.0.0/${layer}@EPSG%3A900913@png/2/1/3.png`);
    await tile("plain");
    const begun = await seed(at, LAYER, { ...world, threadCount: 2 });
    await until("some tiles are stored", async () => ((await job(at, begun)).tiles.stored > 50 ? true : undefined));
    at = await at.restart("SIGKILL");
    expect((await ended(at, begun)).tiles).toMatchObject({ total: TILES, failed: 0 });
    expect(await tilesOf(at, LAYER)).toBe(TILES);
    expect(inside("bundles", ".bundle")).toHaveLength(TOP + 1);
    expect(inside("bundles", ".png")).toEqual([]);
    expect(inside("files", ".png").every((file) => file.startsWith("plain/"))).toBe(true);
    expect(existsSync(join(at.dataDir, "tiles")), "the default store").toBe(false);
    expect(await differing(at)).toBe(0);

    const first = await tile(LAYER);
    const picture = Buffer.from(await first.arrayBuffer());
    expect(first.headers.get("cache-status")).toContain("hit");
    const truncated = await truncate(at, { type: "truncateLayer", layer: LAYER });
    expect(truncated.tiles).toBe(TILES);
    expect(await tilesOf(at, LAYER)).toBe(0);
    expect((await undo(at, truncated.id)).status).toBe(200);
    await counted(at);
    expect(await tilesOf(at, LAYER)).toBe(TILES);
    expect(Buffer.from(await (await tile(LAYER)).arrayBuffer()).equals(picture)).toBe(true);

    await reload(at, configuration("disk"));
    await counted(at);
    expect(await tilesOf(at, LAYER), "the old store is not read").toBe(0);
    expect((await tile(LAYER)).headers.get("cache-status")).not.toContain("hit");
    await until("a tile is stored as a file", async () =>
      inside("files", ".png").some((file) => file.startsWith("ws_roads/")) ? true : undefined,
    );
    await reload(at, configuration("packed"));
    await counted(at);
    expect(await tilesOf(at, LAYER), "the tiles have waited").toBe(TILES);
    at = await at.restart();
    await counted(at);
    expect(await tilesOf(at, LAYER)).toBe(TILES);
    expect(await differing(at)).toBe(0);
    const { places }: { places: readonly { kind: string; path: string }[] } = JSON.parse(
      await (await fetch(`${at.url}/api/v1/server`)).text(),
    );
    expect(places.filter(({ kind }) => kind === "tiles").map(({ path }) => path)).toEqual(
      ["files", "bundles"].map((name) => join(directory, name)),
    );
  } finally {
    await at.close();
    await upstream.close();
  }
});
