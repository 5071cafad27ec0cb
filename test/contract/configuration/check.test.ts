import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";

const CONFIGURATION = `
users:
  - { name: root, password: root, roles: [admin] }
  - { name: op, password: op, roles: [operator] }
  - { name: view, password: view, roles: [viewer] }
layers:
  - { name: roads, source: { type: demo, dataset: states } }
`;
const SECRET = "hunter2-of-the-server";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ configuration: CONFIGURATION, env: { CHECK_SECRET: SECRET } });
});
afterAll(() => server.close());

interface Problem {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly path: string;
  readonly message: string;
  readonly suggestion: string | null;
  readonly severity: string;
}

const post = (body: string | Uint8Array<ArrayBuffer>, user = "root", type = "application/yaml"): Promise<Response> =>
  fetch(`${server.url}/api/v1/configuration/check`, {
    method: "POST",
    headers: { Authorization: `Basic ${Buffer.from(`${user}:${user}`).toString("base64")}`, "Content-Type": type },
    body,
  });

async function problemsOf(body: string | Uint8Array<ArrayBuffer>): Promise<readonly Problem[]> {
  const answer = await post(body);
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, expect.stringMatching(/^\{"problems":\[/)]);
  expect(text).not.toContain(SECRET);
  return (JSON.parse(text) as { readonly problems: readonly Problem[] }).problems;
}

const LAYERS = "layers:\n  - { name: a, source: { type: demo, dataset: states } }\n";

test.each(["application/yaml", "text/plain", "application/json", "application/x-www-form-urlencoded", "image/png"])(
  "a valid text of the type %s has no problems",
  async (type) => {
    const answer = await post(LAYERS, "root", type);
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
      200,
      "application/json",
      '{"problems":[]}',
    ]);
  },
);

test("mistakes are told all at once, with place, path, suggestion and severity", async () => {
  const text = `layers:
  - name: a
    guter: 3
    source: { type: demo, dataset: states }
  - name: b/c
    source: { type: demo, dataset: states }
    gutter: many
diskQuota: { layerQuotas: [{ layer: aa, quota: 1GiB }] }
users:
  - { name: x, password: p, roles: [admin] }
jobs: 1
`;
  const problems = await problemsOf(text);
  expect(problems).toContainEqual({
    file: "nuthatch.yaml",
    line: 3,
    column: 5,
    path: "layers[0].guter",
    message: expect.stringContaining("unknown key"),
    suggestion: "gutter",
    severity: "error",
  });
  expect(problems).toContainEqual(
    expect.objectContaining({ line: 7, column: 13, path: "layers[1].gutter", suggestion: null, severity: "error" }),
  );
  expect(problems).toContainEqual(expect.objectContaining({ line: 11, path: "jobs", severity: "error" }));
  expect(problems).toContainEqual(expect.objectContaining({ path: "layers[1].name", severity: "warning" }));
  expect(problems).toContainEqual(expect.objectContaining({ path: "users[0]", severity: "warning" }));
});

describe("what is no configuration is a problem", () => {
  test.each([
    ["an empty text", "", "empty"],
    ["a list", "- 1", "map"],
    ["no YAML", "layers: [", "not valid YAML"],
    ["an alias to itself", "layers: &a [*a]", "cannot be read"],
    ["many aliases", `a: &a [1,1,1,1,1,1,1,1]\n${bomb()}`, "cannot be read"],
    ["deep lists", "[".repeat(100_000), ""],
    ["GeoWebCache's file", "<gwcConfiguration><version>1</version></gwcConfiguration>", "GeoWebCache"],
    ["no UTF-8", Uint8Array.from([0x61, 0x3a, 0x0a, 0xff, 0xfe]), "not UTF-8"],
  ])("%s", async (_, body, message) => {
    const problems = await problemsOf(body);
    expect(problems[0]).toMatchObject({ severity: "error", message: expect.stringContaining(message) });
  });
  test("a map of so many keys that its check would take minutes; tiles are served meanwhile", async () => {
    const keys = Array.from({ length: 90_000 }, (_, i) => `k${i}: 1`).join("\n");
    const check = problemsOf(keys);
    const began = performance.now();
    expect((await fetch(`${server.url}/service/tms/1.0.0`)).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(5000);
    expect((await check)[0]).toMatchObject({ severity: "error" });
  });
});

function bomb(): string {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  return names
    .slice(1)
    .map((name, i) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${names[i]}`).join(",")}]`)
    .join("\n");
}

describe("variables and files of the server stay unknown", () => {
  test("a variable is not replaced, and its value is no problem", async () => {
    const v = "$" + "{CHECK_SECRET}";
    expect(
      await problemsOf(`layers:
  - name: a
    gutter: ${v}
    metatile: ["${v}", 4]
    source: { type: wms, url: "${v}" }
    gridSubsets: [{ gridSet: "${v}" }]
    formats: ["${v}"]
  - name: "${v}"
    source: { type: "${v}" }
eviction: { pins: [{ layer: "${v}" }] }
dataDir: "${v}/cache"
`),
    ).toEqual([]);
    const problems = await problemsOf(`layers:\n  - { name: a, title: "${v}", guter: 1 }\n`);
    expect(problems.map(({ message }) => message)).toEqual(
      expect.arrayContaining([expect.stringContaining("guter"), expect.stringContaining("source is missing")]),
    );
  });
  test("a variable that is set and one that is not have the same answer", async () => {
    const ofVariable = (name: string) => problemsOf(`layers: []\njobs: { maxRunningTasks: "$\{${name}}" }\n`);
    expect(await ofVariable("CHECK_SECRET")).toEqual(await ofVariable("CHECK_UNKNOWN"));
  });
  test.each([
    ["htpasswd", (file: string) => `${LAYERS}htpasswd: { file: ${file}, roles: [admin] }\n`],
    ["tileMatrixSet", (file: string) => `${LAYERS}gridSets: [{ id: x, tileMatrixSet: ${file} }]\n`],
    ["ca", (file: string) => `layers: [{ name: a, source: { type: wms, url: "https://h/wms", ca: ${file} } }]\n`],
    ["mbtiles", (file: string) => `layers: [{ name: a, source: { type: mbtiles, file: ${file} } }]\n`],
    ["pmtiles", (file: string) => `layers: [{ name: a, source: { type: pmtiles, file: ${file} } }]\n`],
  ])("a file under %s that exists and one that does not have the same answer", async (_, configuration) => {
    const there = join(server.dataDir, "there.file");
    writeFileSync(there, `${SECRET}\n`);
    const found = await problemsOf(configuration(there));
    expect(found).toEqual(await problemsOf(configuration(join(server.dataDir, "absent.file"))));
    expect(found).toEqual([]);
  });
});

test("the check is for administrators, has the limit of every body, and changes nothing", async () => {
  expect((await post(LAYERS, "view")).status).toBe(403);
  expect((await post(LAYERS, "op")).status).toBe(403);
  expect((await post("a".repeat(1024 * 1024 + 1))).status).toBe(413);
  expect((await post("layers: []")).status).toBe(200);
  const layers = await fetch(`${server.url}/api/v1/layers`, {
    headers: { Authorization: `Basic ${Buffer.from("root:root").toString("base64")}` },
  });
  expect(await layers.json()).toMatchObject({ layers: [{ name: "roads" }] });
});
