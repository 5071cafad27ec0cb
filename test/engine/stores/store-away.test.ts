import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const LAYER = "roads";
const world = {
  gridSetId: "EPSG:900913",
  zoomStart: 0,
  zoomStop: 4,
  format: "image/png",
  type: "seed",
  threadCount: 4,
};

async function start(): Promise<{ at: TestServer; place: string }> {
  running.upstream = await startUpstream();
  const at = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: LAYER }, { name: "other" }]),
  });
  running.server = at;
  return { at, place: join(at.dataDir, "tiles", LAYER) };
}

const requested = (): number => running.upstream?.asked.length ?? Number.NaN;

async function read(at: TestServer, address: string): Promise<string | null> {
  const response = await fetch(`${at.url}/xyz/${address}.png`);
  expect(response.status).toBe(200);
  await response.arrayBuffer();
  return response.headers.get("geowebcache-cache-result");
}

const AWAY: readonly (readonly [string, (place: string, volume: string) => void])[] = [
  ["a link to a volume that is not mounted", (place, volume) => symlinkSync(volume, place)],
  ["a file", (place) => writeFileSync(place, "x")],
];

test.each(AWAY)(
  "a layer whose directory is %s: its seed waits, users have their tiles, and it goes on when the place is back",
  async (_, takeAway) => {
    const { at, place } = await start();
    await read(at, `${LAYER}/3/1/1`);
    const volume = join(at.dataDir, "volume");
    // The user has the answer before the other tiles of the metatile are stored.
    const stored = await until("the metatile of 4 x 4 tiles is counted", async () => {
      const { tiles } = (await usage(at)).total;
      return tiles === 16 ? tiles : undefined;
    });
    renameSync(place, `${volume}-unmounted`);
    takeAway(place, volume);

    const id = await seed(at, LAYER, world);
    const waiting = await until("it waits", async () => {
      const now = await job(at, id);
      return now.reason?.startsWith("waiting for the store: ") === true ? now : undefined;
    });
    expect(waiting.reason).toBe(`waiting for the store: ${LAYER} is away from the store`);
    expect(waiting.tiles).toMatchObject({ stored: 0, failed: 0 });
    // Tasks that were rendering when the first task noticed the outage end their renders. On a busy machine a task may
    // begin a render between two reads.
    let column = 0;
    let quietReads = 0;
    await until("the seed requests nothing", async () => {
      const before = requested();
      await read(at, `other/8/${4 * column++}/0`);
      quietReads = requested() === before + 1 ? quietReads + 1 : 0;
      return quietReads === 8 ? true : undefined;
    });
    // One metatile for each of its connections, and no more while it checks the store twice.
    const before = requested();
    expect(before - column).toBeLessThanOrEqual(2 + 8);
    const { notStored } = (await usage(at)).enforcement;
    expect(await read(at, `${LAYER}/8/100/100`)).toBe("MISS");
    expect(await read(at, `${LAYER}/8/100/100`)).toBe("HIT");
    expect(await read(at, "other/3/1/1")).toBe("MISS");
    expect(requested(), "the two users' and no other").toBe(before + 2);
    await until("it is counted", async () =>
      (await usage(at)).enforcement.notStored === notStored + 1 ? true : undefined,
    );
    expect((await usage(at)).layers.find(({ layer }) => layer === LAYER)?.tiles, "the ledger keeps the tiles").toBe(
      stored,
    );
    expect(at.log()).toContain("rendered tiles cannot be stored");
    expect((await job(at, id)).state).toBe("running");

    rmSync(place);
    renameSync(`${volume}-unmounted`, place);
    const done = await ended(at, id);
    expect(done).toMatchObject({ outcome: "done", reason: null, tiles: { failed: 0 } });
    expect(done.tiles.stored + done.tiles.skipped).toBe(done.tiles.total);
    expect(done.tiles.skipped, "what was there before is there again").toBeGreaterThan(0);
    await expectExact(at);
  },
);

test("a start while a layer's directory is away forgets nothing of it", async () => {
  const { at, place } = await start();
  await ended(at, await seed(at, LAYER, { ...world, zoomStop: 3 }));
  const { tiles } = (await usage(at)).total;
  await at.kill("SIGTERM");
  const volume = join(at.dataDir, "volume");
  renameSync(place, `${volume}-unmounted`);
  symlinkSync(volume, place);
  const again = await at.restart();
  running.server = again;
  expect((await usage(again)).total.tiles).toBe(tiles);
  renameSync(`${volume}-unmounted`, volume);
  const before = requested();
  const done = await ended(again, await seed(again, LAYER, { ...world, zoomStop: 3 }));
  expect(done.tiles).toMatchObject({ stored: 0, skipped: tiles });
  expect(requested()).toBe(before);
});

test("a truncation while a layer's directory is away holds when the volume is back", async () => {
  const { at, place } = await start();
  await read(at, `${LAYER}/3/1/1`);
  const volume = join(at.dataDir, "volume");
  renameSync(place, `${volume}-unmounted`);
  symlinkSync(volume, place);
  const answer = await fetch(`${at.url}/api/v1/truncations`, {
    method: "POST",
    body: JSON.stringify({ layer: LAYER }),
  });
  expect(answer.status, await answer.text()).toBeLessThan(300);
  renameSync(`${volume}-unmounted`, volume);
  expect(await read(at, `${LAYER}/3/1/1`)).toBe("MISS");
});

test("a directory in a tile's place: its tile is rendered and served, and a seed of it ends with one failed tile", async () => {
  const { at, place } = await start();
  mkdirSync(join(place, "EPSG_900913_00", "0_0", "00_00.png", "inside"), { recursive: true });
  expect(await read(at, `${LAYER}/0/0/0`)).toBe("MISS");
  const done = await ended(
    at,
    await seed(at, LAYER, { ...world, zoomStop: 2, tileFailureRetryCount: 0, totalFailuresBeforeAborting: 100 }),
  );
  expect(done.tiles).toMatchObject({ failed: 1, stored: 20 });
  expect(done.errors[0]).toMatchObject({ class: "store" });
  expect(readdirSync(join(place, "EPSG_900913_00", "0_0"))).toEqual(["00_00.png"]);
  expect((await usage(at)).enforcement.notStored).toBe(1);
});
