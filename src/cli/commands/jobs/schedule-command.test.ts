import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf } from "../../../../test/support/server/run-program.ts";
import { startServer, type TestServer } from "../../../../test/support/server/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const run = clientOf(() => `${server.url}/geowebcache/`, "schedule");

test("a schedule is added, listed, paused, resumed, run, replaced and removed", async () => {
  const range = ["--grid-set", "EPSG:4326", "--zoom", "0-2", "--parameter", "STYLES=polygon"];
  const times = ["--cron", "0 3 1 1 *", "--time-zone", "Europe/Zurich", "--missed", "skip"];
  const added = await run(["add", "New Year", "topp:states", ...range, ...times]);
  expect([added.code, added.stdout], added.stderr).toEqual([
    0,
    expect.stringMatching(/^cron: +0 3 1 1 \* in Europe\/Zurich$/m),
  ]);
  expect(added.stdout).toMatch(/^next run: +\d{4}-01-01 02:00:00Z$/m);
  const twice = await run(["add", "New Year", "topp:states", "--cron", "@daily", "--zoom", "0"]);
  expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining("409 Schedule New Year already exists")]);
  expect((await run(["list"])).stdout).toMatch(
    /^New Year +0 3 1 1 \* +Europe\/Zurich +seed of topp:states +\d{4}-01-01 02:00:00Z$/m,
  );
  expect((await run(["pause", "New Year"])).stdout).toMatch(/^next run: +paused$/m);
  const ran = await run(["run", "New Year", "--wait"]);
  expect([ran.code, ran.stdout], ran.stderr).toEqual([
    0,
    expect.stringMatching(/^job: .*, by the schedule New Year$/m),
  ]);
  const shown = await run(["list", "New Year"]);
  expect(shown.stdout).toMatch(/^\d{4}-\S+ \S+Z +run by hand +job 1$/m);
  expect((await run(["resume", "New Year"])).stdout).toMatch(/^next run: +\d{4}-01-01 02:00:00Z$/m);
  const other = ["--cron", "@monthly", "--type", "reseed", "--window", "22:00-06:00", "--replace", "--json", "--yes"];
  const replaced = await run(["add", "New Year", "topp:states", ...other]);
  expect(JSON.parse(replaced.stdout)).toMatchObject({
    name: "New Year",
    cron: "@monthly",
    timeZone: "UTC",
    window: { start: "22:00", end: "06:00" },
    job: { layer: "topp:states", type: "reseed" },
    lastRun: { job: 1 },
  });
  expect(await run(["remove", "New Year"])).toEqual({ code: 0, stdout: "New Year is removed.\n", stderr: "" });
  expect((await run(["list"])).stdout).toBe("There are no schedules.\n");
});

test("what the server refuses ends with 1 and its words, wrong usage with 2", async () => {
  const refused = await run(["add", "a", "no:such", "--cron", "@daily"]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('job.layer: expected the name of a layer, got "no:such"'),
  ]);
  expect((await run(["run", "a/b"])).stderr).toContain("Unknown schedule: a/b");
  const codes = [["add", "a", "topp:states"], ["add", "a", "b", "--cron", "@daily", "--window", "22"], ["start"]];
  expect(await Promise.all(codes.map(async (args) => (await run(args)).code))).toEqual([2, 2, 2]);
});
