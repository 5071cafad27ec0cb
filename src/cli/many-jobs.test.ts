import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf } from "../../test/support/server/run-program.ts";
import { startServer, type TestServer, usage } from "../../test/support/server/server.ts";
import { smallTiles } from "../../test/support/server/wms-configuration.ts";
import { startUpstream, type Upstream } from "../../test/support/upstream/upstream.ts";

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
  JSON.parse(stdout).jobs.map((job: { layer: string; gridSet: string; format: string; parameterSets: unknown }) =>
    [job.layer, job.gridSet, job.format, JSON.stringify(job.parameterSets)].join(" "),
  );

test("flags that are given again, all of a kind, and patterns make several jobs; truncate empties them all", async () => {
  const two = ["--grid-set", "EPSG:4326", "--grid-set", "EPSG:900913", "--zoom", "0-1"];
  const seeded = await run(["seed", "ws:*", ...two, "--wait"]);
  expect(seeded.code, seeded.stderr).toBe(0);
  expect(seeded.stdout).toMatch(/^4 jobs\.$/m);
  expect(seeded.stdout.match(/^ +\d+ +seed +ws:(roads|rivers) .* done .*$/gm)).toHaveLength(4);
  const styles = ["--parameter", "STYLES=night", "--parameter", "STYLES=day", "--format", "image/jpeg"];
  const styled = await run(["seed", "ws:roads", "--zoom", "0", ...styles, "--json"]);
  expect(jobsOf(styled.stdout)).toEqual(['ws:roads EPSG:900913 image/jpeg [{"STYLES":"night"},{"STYLES":"day"}]']);
  const everything = ["--all-grid-sets", "--all-formats", "--all-parameters", "--zoom", "0", "--json", "--wait"];
  const all = await run(["seed", "ws:roads", ...everything]);
  expect([all.code, jobsOf(all.stdout)]).toEqual([0, expect.objectContaining({ length: 2 * 2 })]);

  const box = ["--bounds", "-170,10,-100,80", "--bounds-crs", "EPSG:4326", "--zoom", "0"];
  const part = await run(["truncate", "ws:roads", "ws:rivers", "--all-grid-sets", ...box, "--wait", "--json"]);
  const deleted = JSON.parse(part.stdout).jobs.map((job: { tiles: { deleted: number } }) => job.tiles.deleted);
  // Two formats of the roads in the default style.
  expect([part.code, deleted], part.stderr).toEqual([0, [2, 2, 1, 1]]);
  expect((await run(["truncate", "ws:*", "--wait"])).code).toBe(0);
  expect((await usage(server)).total.tiles).toBe(0);
});

test("values are chosen by a pattern; the jobs of a request are paused, resumed and killed together", async () => {
  const seeded = await run(["seed", "ws:roads", "--zoom", "0", "--parameter-like", "styles=*", "--wait", "--json"]);
  const [{ id: seed, tiles, ...more }] = JSON.parse(seeded.stdout).jobs;
  expect([tiles.stored, more.parameterSets]).toEqual([3, [{ STYLES: { like: "*" } }]]);
  expect((await run(["job", String(seed)])).stdout).toMatch(/^parameters: +{"STYLES":{"like":"\*"}}: 3 combinations$/m);
  const truncated = await run(["truncate", "ws:roads", "--parameter-like", "STYLES=n*", "--wait", "--json"]);
  const [truncate] = JSON.parse(truncated.stdout).jobs;
  expect([truncated.code, truncate.tiles.deleted]).toEqual([0, 1]);
  const shown = await run(["job", String(truncate.id)]);
  expect(shown.stdout).toMatch(/^parameters: +{"STYLES":{"like":"n\*"}}$/m);
  const both = await run([
    ...["seed", "ws:roads", "--zoom", "0", "--json", "--parameter-like", "styles=n*"],
    ...["--parameter-like", "STYLES=d*", "--parameter", "STYLES="],
  ]);
  const [three, ...others] = JSON.parse(both.stdout).jobs;
  expect([three.tiles.total, others]).toEqual([3, []]);
  const wrong = await run(["seed", "ws:roads", "--parameter-range", "STYLES=a..b"]);
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringContaining("parameterSets.STYLES: expected from and to as texts, "),
  ]);
  expect((await run(["seed", "ws:roads", "--parameter-range", "STYLES=.."])).code).toBe(2);

  const slow = [
    "--grid-set",
    "EPSG:4326",
    "--grid-set",
    "EPSG:900913",
    "--zoom",
    "3",
    "--rate-limit",
    "0.001",
    "--json",
  ];
  const [{ id }] = JSON.parse((await run(["seed", "other", ...slow])).stdout).jobs;
  for (const [command, renderStatus] of [
    ["pause", "2 paused"],
    ["resume", "2 "],
    ["kill", "2 aborted"],
  ] as const) {
    const { code, stdout } = await run([command, "--requested-with", String(id)]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`2 jobs: ${renderStatus}`)]);
  }
  expect((await run(["pause"])).code).toBe(2);
  await run(["truncate", "*", "--wait"]);
});

test("--wait waits for all jobs of a request, also after a repeated request; failed tiles of any job end it with 3", async () => {
  // The only tile of zoom 0 of EPSG:900913 fails. The tiles of zoom 1 succeed.
  upstream.behaviour = ({ width, height }, response) => {
    if (width !== height || width > 100) return "render";
    response.writeHead(400).end("no");
    return "handled";
  };
  const range = ["--grid-set", "EPSG:900913", "--grid-set", "EPSG:4326", "--zoom", "0-1"];
  const seeded = await run(["seed", "ws:rivers", "other", ...range, "--wait"]);
  upstream.behaviour = () => "render";
  expect([seeded.code, seeded.stdout], seeded.stderr).toEqual([3, expect.stringMatching(/^4 jobs\.$/m)]);
  expect(seeded.stdout.match(/ done with failures /g)).toHaveLength(2);
  const id = /^ *(\d+) +seed /m.exec(seeded.stdout)?.[1] ?? "";
  const again = await run(["jobs", "--requested-with", id, "--wait", "--json"]);
  expect([again.code, JSON.parse(again.stdout).jobs.length]).toEqual([3, 4]);
  expect((await run(["job", String(Number(id) + 3)])).stdout).toContain(`, requested with job ${id}\n`);
  const listed = await run(["jobs", "--requested-with", String(Number(id) + 3)]);
  expect(listed.stdout.match(/ seed /g)).toHaveLength(4);
  await run(["truncate", "*", "--wait"]);
});

test("an estimate of several jobs prints the sum and each job", async () => {
  const { stdout, code } = await run(["estimate", "other", "ws:r*", "--all-grid-sets", "--zoom", "0-1"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^tiles: +45$/m);
  expect(stdout.match(/^(other|ws:roads|ws:rivers) +EPSG:(4326|900913) +image\/png .*(10|5)\b/gm)).toHaveLength(6);
});

test("what excludes one another is wrong usage; what the server refuses is said in its words", async () => {
  expect((await run(["seed", "ws:roads", "--all-formats", "--format", "image/png"])).code).toBe(2);
  const unknown = await run(["seed", "sw:*"]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("Unknown layer: sw:*")]);
});

test("a schedule takes the same flags, shows the layers, and its run waits for all of its jobs", async () => {
  const times = ["--cron", "@yearly", "--time-zone", "Europe/Zurich"];
  const all = ["--all-grid-sets", "--zoom", "0", "--priority", "high", "--yes"];
  const added = await run(["schedule", "add", "a", "ws:*", "other", ...times, ...all]);
  expect([added.code, added.stdout], added.stderr).toEqual([
    0,
    expect.stringMatching(/^schedule: +a, seed of ws:\*, other$/m),
  ]);
  const ran = await run(["schedule", "run", "a", "--wait"]);
  expect([ran.code, ran.stdout], ran.stderr).toEqual([0, expect.stringMatching(/^6 jobs\.$/m)]);
  const shown = await run(["schedule", "list", "a", "--json"]);
  expect(JSON.parse(shown.stdout)).toMatchObject({
    job: { gridSets: "*", priority: 100, confirm: true },
    lastRun: { result: "started", jobs: { length: 6 } },
  });
  expect((await run(["schedule", "list", "a"])).stdout).toMatch(/^\S+ \S+ +run by hand +6 jobs, \d+ to \d+$/m);
  const hours = ["--type", "reseed", "--run-window", "22:00-06:00", "--supersede", "--replace", "--json", "--yes"];
  const replaced = await run(["schedule", "add", "a", "ws:roads", ...times, ...hours]);
  expect(JSON.parse(replaced.stdout)).toMatchObject({
    job: { layer: "ws:roads", runWindow: { from: "22:00", to: "06:00", timeZone: "Europe/Zurich" }, supersede: true },
  });
  expect((await run(["truncate", "*", "--wait"])).code).toBe(0);
});
