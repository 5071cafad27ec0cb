import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { PROGRAM } from "../../../test/support/server/program.ts";
import { runProgram } from "../../../test/support/server/run-program.ts";
import { startServer, type TestServer } from "../../../test/support/server/server.ts";
import { startOrigin } from "../../../test/support/upstream/origin.ts";

const CONFIGURATION = `
users:
  - { name: root, password: "root root", roles: [admin] }
  - { name: view, password: "view view", roles: [viewer] }
layers:
  - { name: "ws:roads", source: { type: demo, dataset: states } }
  - { name: "ws:rivers", source: { type: demo, dataset: states } }
`;

let server: TestServer;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  server = await startServer({ configuration: CONFIGURATION });
  env = { NUTHATCH_URL: server.url, NUTHATCH_USER: "root", NUTHATCH_PASSWORD: "root root" };
});
afterAll(() => server.close());
const run = (...args: string[]) => runProgram(args, { env });

test("users lists the accounts of the server, and the options of a server stand before or after the command", async () => {
  expect(await run("users")).toEqual({ code: 0, stderr: "", stdout: "user  roles\nroot  admin\nview  viewer\n" });
  const users = [
    { name: "root", roles: ["admin"], keptIn: "configuration" },
    { name: "view", roles: ["viewer"], keptIn: "configuration" },
  ];
  const closed = await startOrigin(() => undefined);
  await closed.close();
  const nowhere = { env: { NUTHATCH_URL: closed.origin, NUTHATCH_PASSWORD: "view view" } };
  const flags = ["--url", server.url, "--user", "view", "--json"];
  for (const args of [
    [...flags, "users"],
    ["users", ...flags],
    ["--json", "users", ...flags.slice(0, 4)],
    // The option after the command takes precedence.
    ["--url", closed.origin, "users", ...flags],
  ])
    expect(JSON.parse((await runProgram(args, nowhere)).stdout)).toEqual({ users });
  const inner = await runProgram([...flags, "quota", "usage"], nowhere);
  expect(JSON.parse(inner.stdout)).toHaveProperty("total");
  const outer = await runProgram(["quota", ...flags, "usage"], nowhere);
  expect(JSON.parse(outer.stdout)).toHaveProperty("total");
  const other = await run("--json", "user", "list", "--config", "x");
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining("'--json' does not go with the command 'list'"),
  ]);
  const absent = await runProgram(["status"], nowhere);
  expect([absent.code, absent.stderr]).toEqual([
    1,
    `nuthatch: ${closed.origin} cannot be reached: no program listens there; start the server, or name another address with --url or NUTHATCH_URL\n`,
  ]);
});

test("reload reads the file again, and ends with 78 and the problems of one that is not valid", async () => {
  const file = join(server.dataDir, "nuthatch.yaml");
  const good = await run("reload");
  expect([good.code, good.stdout], good.stderr).toEqual([
    0,
    expect.stringMatching(/^The configuration has been reloaded\.\nwarning: \S+:3:5: users\[0\]: /),
  ]);
  writeFileSync(file, `${CONFIGURATION}layerz: []\n`);
  onTestFinished(() => writeFileSync(file, CONFIGURATION));
  const bad = await run("reload");
  expect([bad.code, bad.stdout]).toEqual([78, ""]);
  expect(bad.stderr).toMatch(/not valid and was not loaded\.\n.*nuthatch\.yaml:8:1: layerz: .*did you mean layers/);
  const viewer = await runProgram(["--user", "view", "reload"], { env: { ...env, NUTHATCH_PASSWORD: "view view" } });
  expect([viewer.code, viewer.stderr]).toEqual([1, expect.stringContaining("403 ")]);
  const near = await run("relod");
  expect([near.code, near.stderr]).toEqual([2, expect.stringContaining("Did you mean reload?")]);
});

/** Follows the events of the server. Returns a function that reads the next matching line. */
function following(...args: string[]): (wanted: RegExp) => Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, "events", ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (wanted) => {
    for (;;) {
      const next = await lines.next();
      if (next.done === true) throw new Error(`the events ended before ${wanted}`);
      if (wanted.test(next.value)) return next.value;
    }
  };
}

test("events follows the changes of jobs, as lines or as JSON, over a restart of the server", async () => {
  const paused = ["seed", "ws:rivers", "--grid-set", "EPSG:4326", "--zoom", "0", "--run-window", "00:00-00:01"];
  const held = /^Job (\d+):/.exec((await run(...paused, "--priority", "low")).stdout)?.[1];
  const text = following();
  const json = following("--json", "--layer", "ws:roads");
  // The snapshot with the unfinished job shows that both commands are following the server.
  expect(await text(new RegExp(`job ${held} `))).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ job \d+ \(seed of ws:rivers\): /,
  );
  expect(JSON.parse(await json(/snapshot/))).toMatchObject({ event: "snapshot", data: { jobs: [], complete: true } });
  await run("seed", "ws:roads", "--grid-set", "EPSG:4326", "--zoom", "0", "--wait");
  expect(await text(/\(seed of ws:roads\): done/)).toMatch(/ 2 of 2 tiles \(100\.0 %\)/);
  expect(JSON.parse(await json(/"outcome":"done"/))).toMatchObject({ event: "job", data: { layer: "ws:roads" } });
  await server.kill("SIGTERM");
  // On the same port, like a server that an operator restarts.
  server = await startServer({
    configuration: CONFIGURATION,
    dataDir: server.dataDir,
    env: { NUTHATCH_PORT: String(server.port) },
  });
  await run("seed", "ws:roads", "--grid-set", "EPSG:4326", "--zoom", "1", "--wait");
  expect(await text(/\(seed of ws:roads\): done, 8 /)).toBeTruthy();
  expect(JSON.parse(await json(/"zoomStart":1.*"outcome":"done"/))).toMatchObject({ event: "job" });
});
