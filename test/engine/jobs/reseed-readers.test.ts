import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { pause } from "../../../bench/support/figures.ts";
import { inFull } from "../../support/full.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
const ZOOM = 7;
/** Columns and rows from the lower left: ten thousand tiles in full. */
const SIDE = inFull("tiles a side", 100, 32);
const TILES = SIDE * SIDE;
const WORLD = 20_037_508.34;
const EDGE = (2 * WORLD * SIDE) / 2 ** ZOOM - WORLD;
const range = {
  gridSetId: "EPSG:900913",
  format: "image/png",
  zoomStart: ZOOM,
  zoomStop: ZOOM,
  bounds: { coords: { double: [1 - WORLD, 1 - WORLD, EDGE - 1, EDGE - 1] } },
  threadCount: 4,
};
/**
 * The size of a tile identifies its picture: noise of 30 x 30 pixels takes some 2,700 bytes, a tile without noise a
 * few hundred.
 */
const isNew = (bytes: number): boolean => bytes > 2_000;
const IEND = "IEND\xaeB`\x82";

interface Read {
  old: number;
  new: number;
  readonly wrong: string[];
}

/** Reads random tiles one after the other, as a user does, until it is aborted. */
async function readOn(server: TestServer, first: number, signal: AbortSignal): Promise<Read> {
  const read: Read = { old: 0, new: 0, wrong: [] };
  const renewed = new Set<string>();
  for (let n = first; !signal.aborted; n += 37) {
    await pause(5);
    const [x, y] = [n % SIDE, 2 ** ZOOM - 1 - (Math.floor(n / SIDE) % SIDE)];
    const path = `/xyz/${LAYER}/${ZOOM}/${x}/${y}.png`;
    const response = await fetch(server.url + path);
    const body = Buffer.from(await response.arrayBuffer());
    const result = response.headers.get("geowebcache-cache-result");
    const reported = `${path}: ${response.status} ${result}, ${body.length} bytes`;
    if (response.status !== 200 || result !== "HIT" || body.subarray(-8).toString("latin1") !== IEND)
      read.wrong.push(reported);
    if (isNew(body.length)) {
      renewed.add(path);
      read.new++;
    } else {
      if (renewed.has(path)) read.wrong.push(`${reported}, an old one after a new one`);
      read.old++;
    }
  }
  return read;
}

test("while tiles are reseeded no reader gets a miss or an error, and in the end no old tile remains", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  const { server, upstream } = { server: running.server, upstream: running.upstream };
  upstream.behaviour = renderNoise(0, 64);
  expect((await ended(server, await seed(server, LAYER, range))).tiles).toMatchObject({ total: TILES, stored: TILES });
  upstream.behaviour = renderNoise(30, 64);
  const end = new AbortController();
  const readers = [0, 503].map((first) => readOn(server, first, end.signal));
  const last = await ended(server, await seed(server, LAYER, { ...range, type: "reseed" }));
  end.abort();
  const read = await Promise.all(readers);
  expect(last).toMatchObject({ outcome: "done", tiles: { total: TILES, stored: TILES, unchanged: 0 } });
  expect(read.flatMap(({ wrong }) => wrong)).toEqual([]);
  for (const one of read) expect([one.old > 0, one.new > 0]).toEqual([true, true]);
  const { files } = scanStore(server.dataDir);
  expect(files).toHaveLength(TILES);
  expect(files.filter((file) => !isNew(statSync(file).size))).toEqual([]);
  await expectExact(server);
});
