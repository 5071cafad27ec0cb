import { copyFileSync, unlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

test("with store.shared what another program removes and adds is noticed by readers and by seeds", async () => {
  running.upstream = await startUpstream();
  const at = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: "a" }], "store: { shared: true }\n"),
  });
  running.server = at;
  const request = { gridSetId: "EPSG:900913", zoomStart: 3, zoomStop: 3, format: "image/png", type: "seed" };
  await ended(at, await seed(at, "a", request));
  const read = async (x: number, y: number) => {
    const response = await fetch(`${at.url}/xyz/a/3/${x}/${y}.png`);
    await response.arrayBuffer();
    return response.headers.get("geowebcache-cache-result");
  };
  expect([await read(0, 0), await read(0, 0), await read(1, 0)]).toEqual(["HIT", "HIT", "HIT"]);
  const file = (x: number, y: number) => {
    const found = scanStore(at.dataDir).files.find((name) => new RegExp(`/0*${x}_0*${7 - y}\\.png$`).test(name));
    if (found === undefined) throw new Error(`tile ${x}/${y} is not there`);
    return found;
  };
  const [first, second] = [file(0, 0), file(1, 0)];
  unlinkSync(first);
  expect(await read(0, 0), "memory does not outlive the file").toBe("MISS");
  unlinkSync(first);
  copyFileSync(second, first);
  expect(await read(0, 0), "another program has rendered it").toBe("HIT");

  for (const [x, y] of [
    [5, 5],
    [6, 6],
  ] as const)
    unlinkSync(file(x, y));
  const requested = running.upstream.asked.length;
  const again = await ended(at, await seed(at, "a", request));
  expect(again.tiles).toMatchObject({ total: 64, stored: 2, skipped: 62 });
  expect(running.upstream.asked.length).toBe(requested + 1);
  const scan = scanStore(at.dataDir);
  expect(scan.tiles).toBe(64);
  expect((await usage(at)).total).toEqual({ tiles: scan.tiles, bytes: scan.bytes });
});
