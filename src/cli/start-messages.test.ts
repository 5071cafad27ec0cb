import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../test/support/server/run-program.ts";
import { startServer, type TestServer } from "../../test/support/server/server.ts";
import { startOrigin } from "../../test/support/upstream/origin.ts";
import { fileFault } from "../lib/file/file-fault.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-start-"));
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  mkdirSync(join(directory, "folder"));
  writeFileSync(join(directory, "plain"), "there\n");
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}, input = "") =>
  runProgram(args, { env, cwd: directory, input });

describe("a start that cannot succeed says what to change", () => {
  const serve = async (...flags: string[]) => {
    const { code, stdout, stderr } = await run(["serve", "--data-dir", join(directory, "data"), ...flags]);
    expect(stdout).toBe("");
    return [code, stderr.split("\n").at(-2)];
  };
  const cannot = "nuthatch: the server cannot start:";

  test("for a port that a Nuthatch has", async () => {
    expect(await serve("--port", String(server.port))).toEqual([
      1,
      `${cannot} 127.0.0.1:${server.port} is in use, a Nuthatch server already answers there; --port, NUTHATCH_PORT or server.port names another port (0 picks a free one)`,
    ]);
  });
  test("for a port that another program has, with several HTTP workers too", async () => {
    const other = await startOrigin((_, response) => void response.writeHead(404).end());
    try {
      const port = new URL(other.origin).port;
      const expected = `${cannot} 127.0.0.1:${port} is in use, another program listens there; `;
      for (const workers of ["1", "2"])
        expect(await serve("--port", port, "--set", `server.workers=${workers}`)).toEqual([
          1,
          expect.stringContaining(expected),
        ]);
    } finally {
      await other.close();
    }
  });
  test("for an address of another machine", async () => {
    const args = ["serve", "--data-dir", "data", "--host", "192.0.2.1"];
    const { code, stderr } = await run(args, { NUTHATCH_ADMIN_PASSWORD: "secret" });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${cannot} this machine has no address 192.0.2.1; --host, NUTHATCH_HOST or server.host`),
    ]);
  });
  test("for a data directory that is a file", async () => {
    expect(await serve("--port", "0", "--data-dir", "plain")).toEqual([
      1,
      `${cannot} the data directory cannot be used: ${join(directory, "plain")}: there is a file or directory of this name already; --data-dir, NUTHATCH_DATA_DIR or dataDir names another than ${join(directory, "plain")}`,
    ]);
  });
});

test.each([
  ["NUTHATCH_LOG_LEVEL", "debug", "info, warn, error, silent"],
  ["NUTHATCH_LOG_FORMAT", "xml", "auto, text, json"],
])("%s=%s is a problem of the configuration", async (name, value, legal) => {
  const { code, stderr } = await run(["serve", "--data-dir", "data", "--port", "0"], { [name]: value });
  expect([code, stderr]).toEqual([
    78,
    `The configuration is not valid:\n  ${name}: expected one of ${legal}, got ${JSON.stringify(value)}\n`,
  ]);
});

test("files that cannot be used are told by name, and never in the words of Node", async () => {
  const absent = "there is no such file or directory";
  const folder = "expected a file, and this is a directory";
  const url = { NUTHATCH_URL: server.url };
  const piped = "long enough\n";
  const cases: [readonly string[], number, string][] = [
    [["serve", "--config", "none.yaml"], 78, `none.yaml: the configuration cannot be read: ${absent}; --config or`],
    [["config", "check", "--config", "folder"], 78, `folder: the configuration cannot be read: ${folder}; --config or`],
    [["user", "add", "a", "--password-stdin", "--config", "none.yaml"], 78, `nuthatch: none.yaml: ${absent}; --config`],
    [["user", "list", "--config", "folder"], 78, `nuthatch: folder: ${folder}; --config`],
    [["estimate", "a", "--area", "none"], 2, `${absent}.`],
  ];
  for (const [args, code, message] of cases) {
    const ended = await run(args, url, piped);
    expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringContaining(message)]);
    expect(ended.stderr).not.toMatch(/\bE[A-Z]{4,}\b/);
  }
});

test.each(["EACCES", "EPERM", "EROFS", "ENOSPC", "EEXIST", "ENOTDIR"])(
  "the fault of a file with the code %s is told in words, without the code",
  (code) => {
    expect(fileFault(Object.assign(new Error(code), { code }))).toMatch(/^(?!E[A-Z]+)[\w -]+/);
  },
);

describe("the commands that a start prints", () => {
  /** Starts a server, and runs the commands that it prints in a shell. Returns the statuses of the responses. */
  async function tried(yaml: string): Promise<{ readonly log: string; readonly statuses: readonly string[] }> {
    const at = await startServer({ configuration: yaml });
    try {
      const log = at.log();
      const commands = [...log.matchAll(/^ {2}curl (.*)$/gm)].map(([, rest = ""]) =>
        // curl would ask for the password.
        rest.replace(/-u '(\w+)'/, "-u '$1:secret'").replace(/-o \S+/, "-o /dev/null"),
      );
      const shell = (command: string): string =>
        execFileSync("sh", ["-c", `curl -s -o /dev/null -w '%{http_code}' ${command}`], { encoding: "utf8" });
      return { log, statuses: commands.map(shell) };
    } finally {
      await at.close();
    }
  }

  test("work for a layer of few levels in its own grid set, and with users", async () => {
    const { log, statuses } = await tried(`
users: [{ name: ann, password: secret, roles: [viewer] }, { name: bob, password: secret, roles: [operator] }]
layers:
  - name: "a b/c"
    secured: true
    source: { type: demo, dataset: states }
    gridSubsets: [{ gridSet: EPSG:4326, extent: [-109, 37, -102, 41], zoomStart: 5, zoomStop: 6 }]
`);
    expect(log).toContain('Layers: "a b/c"\n');
    expect(log).toMatch(/curl -u 'bob' -o tile\.png '.*\/xyz\/a%20b%2Fc\/EPSG:4326\/5\/\d+\/\d+\.png'/);
    expect(log).toMatch(/curl -u 'bob' -XPOST .*<zoomStart>5<\/zoomStart><zoomStop>6<\/zoomStop>/);
    expect(statuses).toEqual(["200", "200"]);
  });
  test("are there for the demo layers without a password", () => {
    expect(server.log()).toContain('Demo layers: topp:states, nurc:Arc_Sample, "img states"\n');
    expect(server.log()).toMatch(/curl -o tile\.png '.*\/xyz\/topp:states\/2\/1\/1\.png'\n {2}curl -XPOST /);
  });
  test("are none without layers", async () => {
    const { log } = await tried("layers: []\n");
    expect(log).toMatch(/^There are no layers\. nuthatch import wms URL -o nuthatch\.yaml /m);
    expect(log).not.toMatch(/LAYER|Try:/);
  });
});
