import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { encodePack } from "../../../src/http/api/tiles/tile-pack.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, massTruncate, rendered, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const SEED = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 2, format: "image/png", type: "seed", threadCount: 1 };

/** The layers `one` and `two`, each with a separate store. */
async function start(type: "file" | "compact", more = ""): Promise<{ at: TestServer; volume: string }> {
  const root = mkdtempSync(join(tmpdir(), "nuthatch-stores-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  running.upstream = await startUpstream();
  const layers = ["one", "two"].map((name) => ({ name, extra: `store: ${name}` }));
  const stores = ["one", "two"].map((id) => `  - { id: ${id}, type: ${type}, path: "${root}/${id}/tiles" }\n`);
  const server = "server: { memoryTierMiB: 0 }\n";
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, layers, `stores:\n${stores.join("")}${more || server}`),
  });
  return { at: running.server, volume: join(root, "two") };
}

/** Puts a file in the place of a volume. Returns the function that brings the volume back. */
function takeAway(volume: string): () => void {
  renameSync(volume, `${volume}-away`);
  writeFileSync(volume, "");
  return () => {
    rmSync(volume);
    renameSync(`${volume}-away`, volume);
  };
}

async function read(at: TestServer, address: string): Promise<string | null> {
  const response = await fetch(`${at.url}/xyz/${address}.png`);
  expect(response.status, await response.text()).toBe(200);
  await rendered(at);
  return response.headers.get("geowebcache-cache-result");
}

/** Imports one tile. */
async function imported(at: TestServer, layer: string, bytes: Buffer): Promise<string> {
  const body = encodePack([{ name: "1/0/0", bytes }]);
  const response = await fetch(`${at.url}/api/v1/tiles/import?layer=${layer}`, { method: "POST", body });
  return `${response.status} ${await response.text()}`;
}

const readyz = async (at: TestServer): Promise<string> => (await fetch(`${at.url}/readyz`)).text();
const isReady = (at: TestServer) => until("it is ready", async () => ((await readyz(at)) === "ok" ? true : undefined));
const namesTwo = (at: TestServer) =>
  until("it names the store", async () => ((await readyz(at)).includes('the store "two"') ? true : undefined));

/** Checks that everything about the layer `one` works. */
async function expectHealthy(at: TestServer, z: number): Promise<void> {
  expect(await read(at, `one/${z}/1/1`)).toBe("MISS");
  expect(await read(at, `one/${z}/1/1`)).toBe("HIT");
  expect((await massTruncate(at, "one")).status).toBe(200);
  expect(await read(at, `one/${z}/1/1`)).toBe("MISS");
  const done = await ended(at, await seed(at, "one", SEED));
  expect(done).toMatchObject({ outcome: "done", tiles: { failed: 0 } });
  const emptied = await ended(at, await seed(at, "one", { ...SEED, type: "truncate", zoomStart: 2 }));
  expect(emptied).toMatchObject({ outcome: "done", tiles: { deleted: 16 } });
}

test.each(["file", "compact"] as const)(
  "a %s store that is away, and then at the start too, concerns its own layers only, and is used when it is back",
  async (type) => {
    const { at, volume } = await start(type);
    expect([await read(at, "two/3/1/1"), await read(at, "two/3/1/1")]).toEqual(["MISS", "HIT"]);
    await at.kill("SIGTERM");
    const again = await at.restart();
    running.server = again;
    expect(await read(again, "two/3/1/1")).toBe("HIT");

    // No renderer has opened the stores yet.
    const bringBack = takeAway(volume);
    await expectHealthy(again, 4);
    await namesTwo(again);
    const tile = await fetch(`${again.url}/xyz/two/3/1/1.png`);
    expect(tile.headers.get("geowebcache-cache-result"), "rendered, not stored").toBe("MISS");
    expect((await massTruncate(again, "two")).status).toBe(503);
    expect(await imported(again, "two", Buffer.from(await tile.arrayBuffer()))).toMatch(
      /^503 .*The (state or the )?store cannot be (used|written) at present/,
    );
    const waiting = await seed(again, "two", SEED);
    await until("it waits for the store", async () =>
      (await job(again, waiting)).reason?.startsWith("waiting for the store: ") === true ? true : undefined,
    );

    const third = await again.restart("SIGTERM");
    running.server = third;
    await namesTwo(third);
    expect((await fetch(`${third.url}/livez`)).status).toBe(200);
    expect((await fetch(`${third.url}/readyz`)).status).toBe(503);
    await expectHealthy(third, 5);
    expect(await read(third, "two/3/1/1")).toBe("MISS");

    bringBack();
    await isReady(third);
    expect(await read(third, "two/3/1/1"), "the tile of before").toBe("HIT");
    expect([await read(third, "two/6/1/1"), await read(third, "two/6/1/1")]).toEqual(["MISS", "HIT"]);
    expect((await massTruncate(third, "two")).status).toBe(200);
  },
);

test("a directory that had the store and is missing at the start is not made again", async () => {
  const { at, volume } = await start("file");
  expect(await read(at, "two/3/1/1")).toBe("MISS");
  await at.kill("SIGTERM");
  renameSync(volume, `${volume}-away`);
  const again = await at.restart();
  running.server = again;
  await namesTwo(again);
  expect(await readyz(again)).toContain("had the store and is missing");
  await expectHealthy(again, 4);
  expect(existsSync(volume)).toBe(false);
  renameSync(`${volume}-away`, volume);
  await isReady(again);
  expect(await read(again, "two/3/1/1")).toBe("HIT");
});

test("with several HTTP workers a store that is away at the start concerns its own layers only", async () => {
  const { at, volume } = await start("file", "server: { memoryTierMiB: 0, workers: 2 }\n");
  expect(await read(at, "two/3/1/1")).toBe("MISS");
  await at.kill("SIGTERM");
  const bringBack = takeAway(volume);
  const again = await at.restart();
  running.server = again;
  await namesTwo(again);
  await expectHealthy(again, 4);
  bringBack();
  await isReady(again);
  expect(await read(again, "two/3/1/1")).toBe("HIT");
});

test("tiles that a layer has left in a store that is away are truncated when the store is back", async () => {
  const { at, volume } = await start("file");
  expect(await read(at, "two/3/1/1")).toBe("MISS");
  const { dataDir } = at;
  await at.kill("SIGTERM");
  const bringBack = takeAway(volume);
  const configuration = readFileSync(join(dataDir, "nuthatch.yaml"), "utf8").replace("store: two", "store: one");
  const again = await startServer({ dataDir, configuration });
  running.server = again;
  await namesTwo(again);
  expect((await massTruncate(again, "two")).status).toBe(200);
  bringBack();
  await isReady(again);
  await until("the tiles of the layer are gone", async () =>
    readdirSync(join(volume, "tiles")).includes("two") ? undefined : true,
  );
});
