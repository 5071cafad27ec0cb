import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, seed, startServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const range = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, format: "image/png", threadCount: 2 };

test("a seed of equal tiles and a reseed that shrinks them are paused with that reason, and go on once resumed; unguarded layers are not", async () => {
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
  const suspended = async (layer: string, type: "seed" | "reseed") => {
    const id = await seed(server, layer, { ...range, type });
    return until("it is paused", async () => {
      const now = await job(server, id);
      return now.reason?.startsWith("paused") && now.state === "pending" ? now : undefined;
    });
  };

  // One tile at a time this upstream renders the same picture again and again.
  const same = await suspended("same", "seed");
  expect(same).toMatchObject({ state: "pending", outcome: null });
  expect(same.reason).toMatch(
    /^paused: the tiles are suspicious: \d+ of the last 100 tiles are one and the same picture/,
  );
  expect(same.tiles.stored).toBeGreaterThanOrEqual(100);
  expect(same.tiles.stored).toBeLessThan(300);
  expect((await fetch(`${server.url}/api/v1/jobs/${same.id}/resume`, { method: "POST" })).status).toBe(200);
  expect(await ended(server, same.id)).toMatchObject({ outcome: "done", tiles: { total: 341 } });
  expect(await work("unguarded", "seed")).toMatchObject({ outcome: "done", tiles: { stored: 341 } });

  upstream.behaviour = renderNoise(60, 64);
  expect(await work("shrunk", "seed")).toMatchObject({ outcome: "done", reason: null });
  expect(await work("shrunk", "reseed")).toMatchObject({ outcome: "done", reason: null });
  upstream.behaviour = () => "render";
  const shrunk = await suspended("shrunk", "reseed");
  expect(shrunk.reason).toMatch(/of the last 100 tiles are 4 times as small or as large as those they replaced/);
});
