import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../../../test/support/server/run-program.ts";
import { ended, putQuota, seed, startServer, type TestServer } from "../../../../test/support/server/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const run = (...args: string[]) => runProgram(["estimate", ...args], { env: { NUTHATCH_URL: server.url } });

test("an estimate is exact beyond 2^53, and knows nothing of bytes and time before anything was rendered", async () => {
  const raw = await run("nurc:Arc_Sample", "--grid-set", "EPSG:900913", "--zoom", "0-30", "--json");
  // The tiles of the whole square at each level: 4^0 + … + 4^30.
  expect(raw.stdout).toContain(`{"tiles":${(4n ** 31n - 1n) / 3n},"kept":0,`);
  const shown = await run("nurc:Arc_Sample", "--grid-set", "EPSG:900913", "--zoom", "30");
  expect(shown.stdout).toMatch(new RegExp(`^tiles: +${4n ** 30n}$`, "m"));
  expect(shown.stdout).toMatch(/^bytes: +not known/m);
  expect(shown.stdout).toMatch(/^on disk: +at least [\d.]+ \w+, 1152921504606846976 new files$/m);
  expect(shown.stdout).toMatch(/^disk: +does not fit\ninodes: +does not fit$/m);
});

test("after a seed it prints stored and missing tiles, bytes and time, and that the tiles exceed the quota", async () => {
  const grid = ["--grid-set", "EPSG:4326"];
  const range = { gridSetId: "EPSG:4326", zoomStart: 0, zoomStop: 2 };
  await ended(server, await seed(server, "topp:states", { ...range, type: "seed" }));
  await putQuota(server, { enabled: true, globalQuota: { value: 200, units: "KiB" } });
  const small = JSON.parse((await run("topp:states", ...grid, "--zoom", "0-3", "--json")).stdout);
  expect(small).toMatchObject({ tiles: 23, kept: 7, missing: 16, fitsDisk: true });
  expect(small.zooms.at(-1)).toEqual({ z: 3, tiles: 16, kept: 0, missing: 16 });
  expect(small.seconds).toBeGreaterThanOrEqual(0);
  const again = JSON.parse((await run("topp:states", ...grid, "--zoom", "0-2", "--reseed", "--json")).stdout);
  expect([again.missing, again.bytes > 0, again.fitsQuota]).toEqual([0, true, true]);
  expect((await run("topp:states", ...grid, "--zoom", "0-9")).stdout).toMatch(/^quota: +does not fit$/m);
  expect((await run("topp:states", ...grid, "--zoom", "0-9")).stdout).toMatch(
    /^on disk: +about [\d.]+ MiB, \d+ new files$/m,
  );
  const freed = await run("topp:states", "--truncate", ...grid, "--zoom", "0-1");
  expect(freed.stdout).toMatch(/^tiles: +3\nbytes: +about .*\nfrees: +[\d.]+ KiB on disk, 3 files$/m);
  expect((await run("topp:states", "--truncate")).stdout).toMatch(/^tiles: +7$/m);
  expect((await run("topp:states", "--truncate", "--reseed")).code).toBe(2);
});
