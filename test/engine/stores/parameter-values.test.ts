import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, massTruncate, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { countRows } from "../../support/server/state-database.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

/* Clients choose the values of a float filter. The quota bounds all that their tiles leave, not the tiles alone. */

const running = closedAfterEach();
const VALUES = 300;
const TABLES = ["tile_set", "pyramid", "zoom_sum", "block"] as const;

async function start(quotaMiB: number | undefined): Promise<TestServer> {
  running.upstream = await startUpstream();
  const quota = `
diskQuota:
  enabled: true
  globalExpirationPolicyName: LRU
  globalQuota: { value: ${quotaMiB ?? 0}, units: MiB }
`;
  const at = await startServer({
    configuration: smallTiles(
      running.upstream.url,
      [
        {
          name: "par",
          gridSubsets: "[{ gridSet: EPSG:900913 }]",
          extra: `metatile: [1, 1]
    parameterFilters: [{ type: float, key: ELEV, default: 0 }]`,
        },
      ],
      quotaMiB === undefined ? "store: { undoSeconds: 0 }" : quota,
    ),
  });
  running.server = at;
  return at;
}

async function readValues(at: TestServer, from: number, count: number): Promise<void> {
  const values = Array.from({ length: count }, (_, n) => from + n);
  const read = async (): Promise<void> => {
    for (let n = values.pop(); n !== undefined; n = values.pop()) {
      const response = await fetch(`${at.url}/xyz/par/3/0/0.png?ELEV=${n}.5`);
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 8 }, read));
}

/** Lists the layer's directory: tiles, directories and parameter files. */
function left(at: TestServer): { tiles: number; directories: number; descriptions: number } {
  const directory = join(at.dataDir, "tiles", "par");
  const names = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: "utf8" }) : [];
  const isDirectory = (name: string): boolean =>
    statSync(join(directory, name), { throwIfNoEntry: false })?.isDirectory() === true;
  return {
    tiles: scanStore(at.dataDir).tiles,
    directories: names.filter(isDirectory).length,
    descriptions: names.filter((name) => name.startsWith("parameters-")).length,
  };
}

/** For each tile exactly two directories, one description and one row of each table. @returns the number of tiles */
async function expectBounded(at: TestServer): Promise<number> {
  let seen = "";
  const isBounded = async (): Promise<number | undefined> => {
    const { tiles, directories, descriptions } = left(at);
    const rows = countRows(at.dataDir, TABLES);
    seen = JSON.stringify({ tiles, directories, descriptions, rows });
    const counts = rows && [directories / 2, descriptions, ...Object.values(rows)];
    return counts?.every((n) => n <= tiles) === true ? tiles : undefined;
  };
  const tiles = await until("what is left is bounded by the tiles", isBounded).catch((error: unknown) => {
    throw new Error(seen, { cause: error });
  });
  await expectExact(at);
  return tiles;
}

test("values beyond the quota leave no files, directories or rows, and a value that comes back is stored again", async () => {
  const at = await start(1);
  if (running.upstream !== undefined) running.upstream.behaviour = renderNoise(60);
  await readValues(at, 0, VALUES);
  const tiles = await expectBounded(at);
  expect(tiles).toBeGreaterThan(10);
  expect(tiles).toBeLessThan(VALUES / 2);
  await readValues(at, 0, 20);
  await expectBounded(at);
  expect(await (await fetch(`${at.url}/xyz/par/3/0/0.png?ELEV=0.5`)).headers.get("geowebcache-cache-result")).toBe(
    "HIT",
  );
});

test("truncations, tile by tile, of levels or of the layer, leave no files, directories or rows", async () => {
  const at = await start(undefined);
  const truncate = async (bounds: object): Promise<void> => {
    const request = {
      gridSetId: "EPSG:900913",
      zoomStart: 3,
      zoomStop: 3,
      format: "image/png",
      type: "truncate",
      threadCount: 1,
    };
    for (let n = 0; n < 5; n++)
      await ended(
        at,
        await seed(at, "par", { ...request, ...bounds, parameters: { entry: { string: ["ELEV", `${n}.5`] } } }),
      );
  };
  await readValues(at, 0, 5);
  expect(left(at)).toEqual({ tiles: 5, directories: 10, descriptions: 5 });
  // The quarter in the north-west: its tiles are listed and deleted.
  await truncate({ bounds: { coords: { double: [-20037508, 1, -1, 20037508] } } });
  expect(await expectBounded(at)).toBe(0);
  await readValues(at, 0, 5);
  await truncate({});
  expect(await expectBounded(at)).toBe(0);
  await readValues(at, 0, 5);
  expect((await massTruncate(at, "par")).status).toBe(200);
  expect(await expectBounded(at)).toBe(0);
});

test("tiles removed while the server was down, and failed renders, leave no rows", async () => {
  let at = await start(undefined);
  await readValues(at, 0, 10);
  await at.kill("SIGTERM");
  for (const { file } of scanStore(at.dataDir).sizes.slice(0, 5)) rmSync(file);
  at = await at.restart();
  running.server = at;
  expect(await expectBounded(at)).toBe(5);
  if (running.upstream !== undefined)
    running.upstream.behaviour = (_, response) => {
      response.writeHead(404).end();
      return "handled";
    };
  for (let n = 100; n < 110; n++) await (await fetch(`${at.url}/xyz/par/3/0/0.png?ELEV=${n}.5`)).arrayBuffer();
  expect(await expectBounded(at)).toBe(5);
});
