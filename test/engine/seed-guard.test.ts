import { expect, test } from "vitest";
import { closedAfterEach } from "../support/running.ts";
import { ended, seed, startServer } from "../support/server.ts";
import { drawNoise, startUpstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";

const running = closedAfterEach();
const range = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, format: "image/png", threadCount: 2 };

test("a seed of equal tiles and a reseed that shrinks them are aborted with that reason; unguarded layers are not", async () => {
  running.upstream = await startUpstream();
  running.server = await startServer({
    configuration: smallTiles(running.upstream.url, [
      { name: "same", extra: "seedGuard: { tiles: 100, identicalPercent: 90 }\n    metatile: [1, 1]" },
      { name: "shrunk", extra: "seedGuard: { tiles: 100, unlikePercent: 90 }" },
      { name: "unguarded", extra: "metatile: [1, 1]" },
    ]),
  });
  const { server, upstream } = { server: running.server, upstream: running.upstream };
  const work = async (layer: string, type: "seed" | "reseed") =>
    ended(server, await seed(server, layer, { ...range, type }));

  // One tile at a time this upstream draws the same picture again and again.
  const same = await work("same", "seed");
  expect(same).toMatchObject({ state: "aborted", outcome: "aborted" });
  expect(same.reason).toMatch(/^the tiles are suspicious: \d+ of the last 100 tiles are one and the same picture/);
  expect(same.tiles.stored).toBeGreaterThanOrEqual(100);
  expect(same.tiles.stored).toBeLessThan(300);
  expect(await work("unguarded", "seed")).toMatchObject({ outcome: "done", tiles: { stored: 341 } });

  upstream.behaviour = drawNoise(60, 64);
  expect(await work("shrunk", "seed")).toMatchObject({ outcome: "done", reason: null });
  expect(await work("shrunk", "reseed")).toMatchObject({ outcome: "done", reason: null });
  upstream.behaviour = () => "draw";
  const shrunk = await work("shrunk", "reseed");
  expect(shrunk).toMatchObject({ state: "aborted" });
  expect(shrunk.reason).toMatch(/of the last 100 tiles are 4 times as small or as large as those they replaced/);
});
