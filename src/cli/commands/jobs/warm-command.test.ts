import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../../../test/support/run-program.ts";
import { startServer, type TestServer, usage } from "../../../../test/support/server.ts";
import { startUpstream, type Upstream } from "../../../../test/support/upstream.ts";
import { smallTiles } from "../../../../test/support/wms-configuration.ts";

let upstream: Upstream;
let server: TestServer;
const directory = mkdtempSync(join(tmpdir(), "nuthatch-test-"));
beforeAll(async () => {
  upstream = await startUpstream();
  const extra = "metatile: [1, 1]\n    parameterFilters: [{ type: string, key: STYLES, default: '', values: [night] }]";
  server = await startServer({
    configuration: smallTiles(upstream.url, [{ name: "ws:roads", extra }, { name: "empty" }]),
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

const run = (args: readonly string[], input = "") =>
  runProgram(["warm", ...args], { env: { NUTHATCH_URL: `${server.url}/geowebcache` }, input });
const file = (name: string, bytes: string | Uint8Array): string => {
  writeFileSync(join(directory, name), bytes);
  return join(directory, name);
};
const lines = (times: number, target: string, status = 200): string =>
  `10.0.0.1 - - [10/Oct/2026:13:55:36 +0200] "GET ${target} HTTP/1.1" ${status} 12 "-" "-"\n`.repeat(times);

const LOG = [
  lines(9, "/maps/xyz/ws:roads/7/70/40.png"),
  lines(8, "/xyz/ws:roads/EPSG:4326/3/9/2.png?STYLES=night"),
  lines(7, "/service/tms/1.0.0/ws:roads@EPSG:900913@png/7/71/87.png"),
  lines(6, "/xyz/ws:roads/7/72/40.png", 502),
  lines(5, "/xyz/gone/0/0/0.png"),
  lines(1, "/xyz/ws:roads/7/73/40.png"),
  "nonsense\n",
].join("");

test("only the most used tiles of a log are stored, whatever the protocol of the requests", async () => {
  const reported = await run([file("access.log", LOG), "--max-tiles", "3", "--dry-run"]);
  expect([reported.code, reported.stderr]).toEqual([0, ""]);
  expect(reported.stdout).toMatch(/^lines: +37: 25 for tiles, 5 for something else$/m);
  expect(reported.stdout).toMatch(/^failed: +6 for tiles, not counted$/m);
  expect(reported.stdout).toMatch(/^not understood: +1$/m);
  expect(reported.stdout).toMatch(/^tiles: +3, requested 24 times \(96\.0 % of all\)$/m);
  expect(reported.stdout).toMatch(/^limited by: +--max-tiles$/m);
  expect(reported.stdout).toMatch(/^ws:roads +EPSG:900913 +image\/png +2 +16$/m);
  expect(reported.stdout).toMatch(/^ws:roads +EPSG:4326 +image\/png +STYLES=night +1 +8$/m);
  expect((await usage(server)).total.tiles).toBe(0);

  const packed = file("access.log.1.gz", gzipSync(LOG));
  const warmed = await run([packed, "--max-tiles", "3", "--threads", "2", "--wait"]);
  expect(warmed.code, warmed.stderr).toBe(0);
  expect((await usage(server)).total.tiles).toBe(3);
  for (const path of ["7/70/40.png", "7/71/40.png", "EPSG:4326/3/9/2.png?STYLES=night"]) {
    const tile = await fetch(`${server.url}/xyz/ws:roads/${path}`);
    expect([path, tile.headers.get("geowebcache-cache-result")]).toEqual([path, "HIT"]);
  }

  // The jobs above have made the sizes and rates known.
  const mean = (await usage(server, "?by=tileSet")).total.bytes / 3;
  const bytes = await run(
    ["--max-bytes", `${Math.ceil(mean * 2.5)}B`, "--max-minutes", "9", "--dry-run", "--json"],
    LOG,
  );
  const plan = JSON.parse(bytes.stdout);
  expect(plan).toMatchObject({ tiles: 2, limitedBy: "bytes", log: { lines: 37, notUnderstood: 1, shortBy: 0 } });
  expect(plan.bytes).toBeGreaterThan(0);
  const failed = JSON.parse((await run(["-", "--failed", "--dry-run", "--json"], LOG)).stdout);
  expect([failed.tiles, failed.requests, failed.limitedBy]).toEqual([5, 31, null]);
});

test("a budget that nothing can be held against is refused, and nothing to do is no failure", async () => {
  const unknown = await run(["--max-bytes", "1GiB"], lines(1, "/xyz/empty/0/0/0.png"));
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    "nuthatch: --max-bytes: none of these tiles is stored, so their size is unknown; use --max-tiles\n",
  ]);
  const slow = await run(["--max-minutes", "1"], lines(1, "/xyz/empty/0/0/0.png"));
  expect([slow.code, slow.stderr]).toEqual([
    1,
    expect.stringMatching(/^nuthatch: --max-minutes: no job has rendered /),
  ]);
  const nothing = await run([], "nonsense\n");
  expect([nothing.code, nothing.stdout]).toEqual([0, expect.stringMatching(/^There is nothing to warm\.$/m)]);
  expect((await run([join(directory, "no.log")])).stderr).toMatch(/no\.log: there is no such file/);
  expect((await run(["--max-bytes", "5GB"])).code).toBe(2);
});
