import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../../../test/support/server/run-program.ts";
import { startServer, type TestServer, usage } from "../../../../test/support/server/server.ts";
import { smallTiles } from "../../../../test/support/server/wms-configuration.ts";
import { until } from "../../../../test/support/until.ts";
import { startUpstream, type Upstream } from "../../../../test/support/upstream/upstream.ts";

let upstream: Upstream;
let server: TestServer;
beforeAll(async () => {
  upstream = await startUpstream();
  server = await startServer({
    configuration: smallTiles(upstream.url, [{ name: "ws:roads" }, { name: "ws:rivers" }]),
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const run = (...args: string[]) => runProgram(args, { env: { NUTHATCH_URL: `${server.url}/geowebcache/` } });
const idOf = (stdout: string): string => /^Job (\d+):/.exec(stdout)?.[1] ?? "";
const never = () => new Promise<"render">(() => undefined);

test("seed --wait shows how the job ended, truncate empties a range and then the layer", async () => {
  const seeded = await run("seed", "ws:roads", "--grid-set", "EPSG:4326", "--zoom", "0-2", "--threads", "2", "--wait");
  expect(seeded.code, seeded.stderr).toBe(0);
  expect(seeded.stdout).toMatch(/^Job \d+: seed of ws:roads, zoom 0-2, 42 tiles\.$/m);
  expect(seeded.stdout).toMatch(/^tiles: +42: 42 stored, 0 skipped, 0 failed$/m);
  expect(seeded.stdout).toMatch(/^ +2 +32 +32 +0 +0 +[\d.]+ KiB$/m);
  const again = await run("reseed", "ws:roads", "--grid-set", "EPSG:4326", "--zoom", "1", "--wait");
  expect(again.stdout).toMatch(/^tiles: +8: 8 stored, of which 8 unchanged, 0 skipped, 0 failed$/m);
  const { stdout } = await run("job", idOf(again.stdout), "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    type: "reseed",
    outcome: "done",
    tiles: { total: 8, stored: 8, unchanged: 8 },
  });
  const range = ["--grid-set", "EPSG:4326", "--zoom", "2", "--bounds", "-180,-90,0,90"];
  const part = await run("truncate", "ws:roads", ...range, "--wait");
  expect([part.code, part.stdout], part.stderr).toEqual([0, expect.stringMatching(/^tiles: +16: 16 deleted$/m)]);
  expect((await usage(server, "?layer=ws:roads")).layers[0]?.tiles).toBe(26);
  expect(await run("truncate", "ws:roads")).toEqual({
    code: 0,
    stderr: "",
    stdout: expect.stringMatching(/^ws:roads is empty\. 26 tiles, .* can be restored until .*: nuthatch undo 1\.\n$/),
  });
  expect((await usage(server, "?layer=ws:roads")).layers[0]?.tiles).toBe(0);
});

test("--area takes GeoJSON or WKT, --tiles a list, each from a file", async () => {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-test-"));
  try {
    const file = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const corners = [
      [10, 10],
      [30, 10],
      [30, 30],
      [10, 10],
    ];
    const geoJson = file("a.json", JSON.stringify({ type: "Polygon", coordinates: [corners] }));
    const wkt = file("a.wkt", `POLYGON((${corners.map((corner) => corner.join(" ")).join(", ")}))\n`);
    const range = ["ws:rivers", "--grid-set", "EPSG:4326", "--zoom", "4"];
    for (const area of [
      ["--area", geoJson],
      ["--area", wkt],
      ["--area", wkt, "--area-crs", "EPSG:4326"],
    ]) {
      const estimated = await run("estimate", ...range, ...area);
      expect([estimated.code, estimated.stdout], estimated.stderr).toEqual([0, expect.stringMatching(/^tiles: +6$/m)]);
    }
    const seeded = await run("seed", ...range, "--area", geoJson, "--wait");
    expect(seeded.stdout).toMatch(/^of these: +an area$/m);
    const tiles = file("tiles.txt", "4/17/7\n4/16/6 5/0/0\n");
    const listed = await run("seed", "ws:rivers", "--grid-set", "EPSG:4326", "--tiles", tiles, "--wait");
    expect(listed.stdout).toMatch(/^tiles: +3: 1 stored, 2 skipped, 0 failed$/m);
    expect(await run("estimate", ...range, "--area", join(directory, "none"))).toMatchObject({ code: 2 });
    const both = await run("seed", ...range, "--area", wkt, "--bounds", "0,0,1,1");
    expect([both.code, both.stderr]).toEqual([1, expect.stringContaining("bounds: expected nothing beside area")]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("failed tiles end the waiting with 3, and retry does them alone", async () => {
  // The only tile of zoom 0 fails. The tiles of zoom 1 succeed.
  upstream.behaviour = ({ width }, response) => {
    if (width > 100) return "render";
    response.writeHead(400).end("no");
    return "handled";
  };
  const failed = await run("seed", "ws:rivers", "--grid-set", "EPSG:900913", "--zoom", "0-1", "--wait");
  expect([failed.code, failed.stdout], failed.stderr).toEqual([
    3,
    expect.stringMatching(/^state: +done with failures$/m),
  ]);
  expect(failed.stdout).toMatch(/^1 tiles failed, /m);
  upstream.behaviour = () => "render";
  const retried = await run("retry", idOf(failed.stdout), "--wait");
  expect([retried.code, retried.stdout]).toEqual([0, expect.stringMatching(/, retry of job \d+$/m)]);
});

test("a job is paused, resumed and killed; a --wait for it elsewhere shows its progress and ends with 1", async () => {
  upstream.behaviour = never;
  const id = idOf((await run("seed", "ws:rivers", "--grid-set", "EPSG:4326", "--zoom", "3-5")).stdout);
  expect((await run("pause", id)).stdout).toMatch(
    new RegExp(`^job ${id} \\(seed of ws:rivers\\): paused, 0 of \\d+ tiles`),
  );
  expect((await run("jobs", "--layer", "ws:rivers", "--state", "pending")).stdout).toMatch(/ paused /);
  expect((await run("jobs", "--layer", "ws:rivers", "--state", "paused")).stdout).toMatch(/ paused /);
  expect((await run("jobs", "--layer", "ws:rivers", "--outcome", "done")).stdout).not.toMatch(/ paused /);
  expect((await run("jobs", "--outcome", "failed")).stdout).toBe("There are no such jobs.\n");
  expect((await run("resume", id)).stdout).toMatch(
    new RegExp(`^job ${id} \\(seed of ws:rivers\\): (pending|running), `),
  );
  const waiting = run("job", id, "--wait");
  await until("the job runs", async () => (/ 1 running/.test((await run("status")).stdout) ? true : undefined));
  expect((await run("kill", id)).stdout).toMatch(new RegExp(`^job ${id} \\(seed of ws:rivers\\): aborted, `));
  const ended = await waiting;
  expect([ended.code, ended.stdout]).toEqual([1, expect.stringMatching(/^reason: +cancelled$/m)]);
  expect((await run("kill", id)).code).toBe(0);
  const two = ["--grid-set", "EPSG:4326", "--zoom", "3-5", "--threads", "2"];
  const rivers = idOf((await run("seed", "ws:rivers", ...two)).stdout);
  // The full text of a job lists its tasks.
  expect((await run("job", rivers)).stdout).toMatch(/^tasks: +\d+, \d+$/m);
  const [first, second] = [await run("seed", "ws:roads", ...two), await run("seed", "ws:roads", ...two)].map(
    ({ stdout }) => idOf(stdout),
  );
  expect((await run("kill", "--layer", "ws:rivers")).stdout).toBe(`Job ${rivers} has been cancelled.\n`);
  expect((await run("kill", "--layer", "ws:rivers")).stdout).toBe("There was no job to cancel.\n");
  expect((await run("kill", "--all")).stdout).toBe(`2 jobs have been cancelled: ${second}, ${first}.\n`);
  expect((await run("kill", "--all")).stdout).toBe("There was no job to cancel.\n");
  const unknown = await run("kill", "999999");
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringMatching(/404 Unknown job: 999999 \(expected the id of a job, .* ids of tasks\)\n$/),
  ]);
  upstream.behaviour = () => "render";
});

test("how a job runs is said when it is made, and changed later", async () => {
  upstream.behaviour = never;
  const flags = [
    "--priority",
    "high",
    "--rate-limit",
    "0.5",
    "--run-window",
    "00:00-23:59",
    "--time-zone",
    "Asia/Tokyo",
  ];
  const range = ["ws:rivers", "--grid-set", "EPSG:4326", "--zoom", "3-5"];
  const id = idOf((await run("seed", ...range, ...flags)).stdout);
  const shown = (await run("job", id)).stdout;
  expect(shown).toMatch(/^rate limit: +0.5 tiles\/s$/m);
  expect(shown).toMatch(/^priority: +100$/m);
  expect(shown).toMatch(/^run window: +00:00-23:59 in Asia\/Tokyo$/m);
  const terms = ["--priority", "3", "--rate-limit", "none", "--run-window", "none", "--threads", "3"];
  const changed = await run("job", id, ...terms);
  expect([changed.code, changed.stdout], changed.stderr).toEqual([0, expect.stringMatching(/^priority: +3$/m)]);
  expect(changed.stdout).toMatch(/^threads: +3$/m);
  expect(changed.stdout).not.toMatch(/rate limit|run window/);
  const reseed = idOf((await run("reseed", ...range, "--supersede")).stdout);
  expect((await run("job", id)).stdout).toMatch(new RegExp(`^reason: +superseded by job ${reseed}$`, "m"));
  const refused = await run("job", id, "--priority", "3");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("has ended")]);
  expect((await run("seed", ...range, "--rate-limit", "fast")).code).toBe(2);
  await run("kill", "--all");
  upstream.behaviour = () => "render";
});

test("status and layers show the server's documents", async () => {
  expect((await run("status")).stdout).toMatch(/^server: +Nuthatch [\d.]+, ready$/m);
  expect((await run("layers")).stdout).toMatch(/^ws:rivers +EPSG:4326 +0-21 +image\/png, image\/jpeg$/m);
  expect(JSON.parse((await run("layers", "--json")).stdout)).toHaveProperty("layers.0.name", "ws:roads");
  expect(JSON.parse((await run("status", "--json")).stdout)).toMatchObject({ ready: true, layers: 2 });
});

test("refusals end with 1 and the server's message, wrong usage with 2 before a request", async () => {
  const refused = [
    ["seed", "nope"],
    ["seed", "ws:roads", "--grid-set", "nope"],
    ["job", "999999"],
    ["pause", "999999"],
    ["truncate", "nope"],
  ];
  const codes = (all: string[][]) => Promise.all(all.map(async (args) => [args, (await run(...args)).code]));
  expect(await codes(refused)).toEqual(refused.map((args) => [args, 1]));
  const near = await run("estimate", "ws:raods");
  expect(near.stderr).toMatch(/: 404 Unknown layer: ws:raods\nDid you mean ws:roads\?\n$/);
  expect((await run("kill", "--layer", "ws:river")).stderr).toMatch(
    /Unknown layer: ws:river; did you mean ws:rivers\?/,
  );
  const wrong = [
    ["seed"],
    ["seed", "ws:roads", "--zoom", "6-2"],
    ["seed", "ws:roads", "--bounds", "1,2,3"],
    ["seed", "ws:roads", "--parameter", "night"],
    ["seed", "ws:roads", "--threads", "0"],
    ["job", "x"],
    ["jobs", "--state", "odd"],
    ["kill"],
    ["kill", "1", "--all"],
    ["kill", "--layer", ""],
    ["kill", "--all", "--json"],
  ];
  expect(await codes(wrong)).toEqual(wrong.map((args) => [args, 2]));
});
