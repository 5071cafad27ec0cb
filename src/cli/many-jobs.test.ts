import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf } from "../../test/support/run-program.ts";
import { startServer, type TestServer, usage } from "../../test/support/server.ts";
import { startUpstream, type Upstream } from "../../test/support/upstream.ts";
import { smallTiles } from "../../test/support/wms-configuration.ts";

let upstream: Upstream;
let server: TestServer;
beforeAll(async () => {
  upstream = await startUpstream();
  const extra = "parameterFilters: [{ type: string, key: STYLES, default: '', values: [day, night] }]";
  server = await startServer({
    configuration: smallTiles(upstream.url, [{ name: "ws:roads", extra }, { name: "ws:rivers" }, { name: "other" }]),
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const run = clientOf(() => server.url);
const jobsOf = (stdout: string): unknown =>
  JSON.parse(stdout).jobs.map((job: { layer: string; gridSet: string; format: string; parameters: object }) =>
    [job.layer, job.gridSet, job.format, ...Object.values(job.parameters)].join(" "),
  );

test("flags that are given again, all of a kind, and patterns make several jobs; truncate empties them all", async () => {
  const two = ["--grid-set", "EPSG:4326", "--grid-set", "EPSG:900913", "--zoom", "0-1"];
  const seeded = await run(["seed", "ws:*", ...two, "--wait"]);
  expect(seeded.code, seeded.stderr).toBe(0);
  expect(seeded.stdout).toMatch(/^4 jobs\.$/m);
  expect(seeded.stdout.match(/^ +\d+ +seed +ws:(roads|rivers) .* done .*$/gm)).toHaveLength(4);
  const styles = ["--parameter", "STYLES=night", "--parameter", "STYLES=day", "--format", "image/jpeg"];
  const styled = await run(["seed", "ws:roads", "--zoom", "0", ...styles, "--json"]);
  expect(jobsOf(styled.stdout)).toEqual([
    "ws:roads EPSG:900913 image/jpeg night",
    "ws:roads EPSG:900913 image/jpeg day",
  ]);
  const everything = ["--all-grid-sets", "--all-formats", "--all-parameters", "--zoom", "0", "--json", "--wait"];
  const all = await run(["seed", "ws:roads", ...everything]);
  expect([all.code, jobsOf(all.stdout)]).toEqual([0, expect.objectContaining({ length: 2 * 2 * 3 })]);

  const box = ["--bounds", "-170,10,-100,80", "--bounds-crs", "EPSG:4326", "--zoom", "0"];
  const part = await run(["truncate", "ws:roads", "ws:rivers", "--all-grid-sets", ...box, "--wait", "--json"]);
  const deleted = JSON.parse(part.stdout).jobs.map((job: { tiles: { deleted: number } }) => job.tiles.deleted);
  // Of the roads two formats, of the default style.
  expect([part.code, deleted], part.stderr).toEqual([0, [2, 2, 1, 1]]);
  expect((await run(["truncate", "ws:*", "--wait"])).code).toBe(0);
  expect((await usage(server)).total.tiles).toBe(0);
});

test("an estimate of several jobs tells their sum and each", async () => {
  const { stdout, code } = await run(["estimate", "other", "ws:r*", "--all-grid-sets", "--zoom", "0-1"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^tiles: +45$/m);
  expect(stdout.match(/^(other|ws:roads|ws:rivers) +EPSG:(4326|900913) +image\/png .*(10|5)\b/gm)).toHaveLength(6);
});

test("what excludes one another is wrong usage; what the server refuses is said in its words", async () => {
  expect((await run(["seed", "ws:roads", "--all-formats", "--format", "image/png"])).code).toBe(2);
  const unknown = await run(["seed", "sw:*"]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("Unknown layer: sw:*")]);
  const schedule = await run(["schedule", "add", "a", "ws:roads", "--cron", "@daily", "--all-formats"]);
  expect([schedule.code, schedule.stderr]).toEqual([
    1,
    expect.stringContaining('job.formats: expected format, as one job is asked for, got "*"'),
  ]);
});
