import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { verifyPassword } from "../account/password.ts";
import type { Configuration } from "./configuration.ts";
import { checkText, loadConfiguration } from "./load.ts";
import { problemText } from "./problem.ts";

const root = mkdtempSync(join(tmpdir(), "nuthatch-included-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let directories = 0;
interface Given {
  readonly files: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, string>>;
}

/** Loads `main.yaml` of a new directory with these files. */
function loading({ files, env = {}, flags = {} }: Given) {
  const cwd = join(root, String(++directories));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  return loadConfiguration({ env, flags: { config: "main.yaml", ...flags }, cwd });
}
async function loaded(given: Given): Promise<Configuration> {
  const result = await loading(given);
  if (!result.ok) throw new Error(result.error.map(problemText).join("\n"));
  return result.value;
}
async function problems(given: Given): Promise<string[]> {
  const result = await loading(given);
  return result.ok ? [] : result.error.map(problemText);
}
const layer = (name: string, more = ""): string =>
  `  - { name: ${name}, source: { type: wms, url: "http://u/" }${more} }\n`;
const namesOf = ({ layers }: Configuration): string[] => layers.map(({ name }) => name);

test("the lists of included files follow those of the file, in the order of the names", async () => {
  const configuration = await loaded({
    files: {
      "main.yaml": `include: [grids.yaml, "conf.d/*.yaml"]\nlayers:\n${layer("first")}`,
      "conf.d/20-roads.yaml": `layers:\n${layer("roads", ", gridSubsets: [{ gridSet: own }]")}`,
      "conf.d/10-rivers.yaml": `layers:\n${layer("rivers")}`,
      "conf.d/.hidden.yaml": "nonsense: true",
      "conf.d/readme.txt": "no YAML: [",
      "grids.yaml": "gridSets:\n  - { id: own, srs: EPSG:25832, extent: [0, 0, 100, 100], levels: 3 }\n",
    },
  });
  expect(namesOf(configuration)).toEqual(["first", "rivers", "roads"]);
  expect(configuration.layers[2]?.gridSubsets[0]?.gridSet.id).toBe("own");
  expect(configuration.layerOrigins.get("roads")).toMatchObject({ file: "conf.d/20-roads.yaml", line: 2 });
});

test("problems name the included file, its line, and the path within it", async () => {
  expect(
    await problems({
      files: {
        "main.yaml": `include: [a.yaml, sub/b.yaml]\nlayers:\n${layer("first", ", gutter: -1")}`,
        "a.yaml": `layers:\n${layer("x")}${layer("y", ", guter: 3")}`,
        "sub/b.yaml": `server: { port: 80 }\nlayers:\n${layer("first")}gridSets: 3\n`,
      },
    }),
  ).toEqual([
    "main.yaml:3:69: layers[0].gutter: expected a whole number from 0 to 256, got -1",
    expect.stringMatching(/^a\.yaml:3:\d+: layers\[1\]\.guter: unknown key; did you mean gutter\?/),
    expect.stringMatching(
      /^sub\/b\.yaml:1:1: server: unknown key \(known here: users, gridSets, layers, stores, webhooks, layerDefaults\)/,
    ),
    expect.stringMatching(/^sub\/b\.yaml:3:\d+: layers\[0\]\.name: two layers are called "first"/),
    "sub/b.yaml:4:11: gridSets: expected a list, got 3",
  ]);
});

test("a file that cannot be included is named with the place that names it", async () => {
  expect(
    await problems({
      files: {
        "main.yaml": 'include: [none.yaml, main.yaml, a.yaml, a.yaml, "no/*.yaml", "*/a.yaml"]\n',
        "a.yaml": "{}",
      },
    }),
  ).toEqual([
    "main.yaml:1:11: include[0]: none.yaml cannot be read: there is no such file or directory",
    "main.yaml:1:22: include[1]: main.yaml: this is the file itself",
    "main.yaml:1:41: include[3]: a.yaml: the file is included twice",
    "main.yaml:1:49: include[4]: no/*.yaml: the directory cannot be read: there is no such file or directory",
    "main.yaml:1:62: include[5]: */a.yaml: expected a path with * in its last part only",
  ]);
  expect(await problems({ files: { "main.yaml": "include: a.yaml\n" } })).toEqual([
    'main.yaml:1:10: include: expected a list, got "a.yaml"',
  ]);
  expect(await problems({ files: { "main.yaml": "include: [a.yaml]\n", "a.yaml": "layers: [\n" } })).toEqual([
    expect.stringMatching(/^a\.yaml:2:1: this is not valid YAML/),
  ]);
});

test("a pattern without files adds nothing, and does not include the file itself", async () => {
  const configuration = await loaded({ files: { "main.yaml": `include: ["*.yaml"]\nlayers:\n${layer("first")}` } });
  expect(namesOf(configuration)).toEqual(["first"]);
});

test("an included file includes no other", async () => {
  expect(
    await problems({ files: { "main.yaml": "include: [a.yaml]\n", "a.yaml": "include: [b.yaml]\nlayers: []\n" } }),
  ).toEqual([expect.stringMatching(/^a\.yaml:1:1: include: unknown key \(known here:/)]);
});

test("a variable names the included files, too", async () => {
  const configuration = await loaded({
    files: { "main.yaml": "include: [none.yaml]\n", "a.yaml": `layers:\n${layer("x")}` },
    env: { NUTHATCH_INCLUDE: "a.yaml" },
  });
  expect(namesOf(configuration)).toEqual(["x"]);
  expect(await problems({ files: { "main.yaml": "{}" }, env: { NUTHATCH_INCLUDE: "b.yaml" } })).toEqual([
    "NUTHATCH_INCLUDE: include[0]: b.yaml cannot be read: there is no such file or directory",
  ]);
});

test("a layer takes what it lacks from the defaults of its file, then from those of the configuration file", async () => {
  const { layers } = await loaded({
    files: {
      "main.yaml": `include: [a.yaml]
layerDefaults:
  metatile: [2, 2]
  gutter: 5
  formats: [image/png]
  source: { type: wms, url: "http://main/", version: 1.1.1, connections: 3 }
layers:
  - { name: a, source: { layers: [roads] } }
  - { name: b, gutter: 7, source: { layers: [b], url: "http://own/" } }
  - { name: c, source: { type: demo, dataset: states } }
  - { name: d }
`,
      "a.yaml": `layerDefaults: { gutter: 9, source: { url: "http://second/" } }
layers:
  - { name: e, source: { layers: [e] } }
`,
    },
  });
  const facts = layers.map(({ name, gutter, metatile, formats, source }) => ({
    name,
    gutter,
    width: metatile[0],
    formats: formats.length,
    url: "url" in source ? source.url : source.type,
    connections: source.connections,
  }));
  expect(facts).toEqual([
    { name: "a", gutter: 5, width: 2, formats: 1, url: "http://main/", connections: 3 },
    { name: "b", gutter: 7, width: 2, formats: 1, url: "http://own/", connections: 3 },
    { name: "c", gutter: 5, width: 2, formats: 1, url: "demo", connections: expect.any(Number) },
    { name: "d", gutter: 5, width: 2, formats: 1, url: "http://main/", connections: 3 },
    { name: "e", gutter: 9, width: 2, formats: 1, url: "http://second/", connections: 3 },
  ]);
});

test("a wrong default is reported once, where it stands", async () => {
  const layers = Array.from({ length: 300 }, (_, i) => `  - { name: l${i}, source: { layers: [a] } }\n`).join("");
  expect(
    await problems({
      files: {
        "main.yaml": `include: [a.yaml]
layerDefaults:
  gutter: much
  guter: 3
  name: x
  gridSubsets: [{ gridSet: EPSG:1 }]
  source: { type: wms, url: "http://u/", colour: red }
layers:
${layers}`,
        "a.yaml": "layerDefaults: { metatile: 4 }\nlayers:\n  - { name: z, source: { layers: [a] } }\n",
      },
    }),
  ).toEqual([
    'main.yaml:3:11: layerDefaults.gutter: expected a whole number from 0 to 256, got "much"',
    expect.stringMatching(/^main\.yaml:4:3: layerDefaults\.guter: unknown key; did you mean gutter\?/),
    expect.stringMatching(/^main\.yaml:5:3: layerDefaults\.name: unknown key/),
    expect.stringMatching(/^main\.yaml:6:28: layerDefaults\.gridSubsets\[0\]\.gridSet: unknown grid set "EPSG:1"/),
    expect.stringMatching(/^main\.yaml:7:42: layerDefaults\.source\.colour: unknown key/),
    "a.yaml:1:28: layerDefaults.metatile: expected a list of 2 numbers, got 4",
  ]);
});

test("a wrong address in the defaults is reported where it stands", async () => {
  const defaults = 'layerDefaults: { source: { type: wms, url: "ftp://u/" } }';
  expect(
    await problems({
      files: { "main.yaml": `${defaults}\nlayers: [{ name: a, source: { layers: [a] } }, { name: b }]\n` },
    }),
  ).toEqual(['main.yaml:1:44: layerDefaults.source.url: expected an address with http:// or https://, got "ftp://u/"']);
});

test("a variable sets a default of layers", async () => {
  const files = { "main.yaml": `layerDefaults: { gutter: 3 }\nlayers:\n${layer("a")}` };
  const { layers } = await loaded({ files, env: { NUTHATCH_LAYER_DEFAULTS_GUTTER: "11" } });
  expect(layers[0]?.gutter).toBe(11);
  expect(await problems({ files, env: { NUTHATCH_LAYER_DEFAULTS_GUTTER: "x" } })).toEqual([
    expect.stringMatching(/^NUTHATCH_LAYER_DEFAULTS_GUTTER: layerDefaults\.gutter: expected a whole number/),
  ]);
});

test("the text of a secret comes from a file, without the line break at its end", async () => {
  const { users } = await loaded({
    files: {
      "main.yaml": `include: ["users/*.yaml"]\nlayers: []\nusers:\n  - { name: a, roles: [admin], password: "\${FILE:secrets/a}" }\n`,
      "users/b.yaml": `users:\n  - { name: b, roles: [viewer], password: "\${FILE:../secrets/b}" }\n`,
      "secrets/a": "first secret\n",
      "secrets/b": "second\r\n",
    },
  });
  const [a, b] = users;
  expect(await verifyPassword("first secret", a?.passwordHash ?? "")).toBe(true);
  expect(await verifyPassword("second", b?.passwordHash ?? "")).toBe(true);
});

test("a file of a secret that cannot be used is named with its field, and its content is in no message", async () => {
  const user = (name: string, text: string): string => `  - { name: ${name}, roles: [admin], password: "${text}" }\n`;
  const secret = "do-not-tell";
  const found = await problems({
    files: {
      "main.yaml": `users:
${user("a", `\${FILE:none}`)}${user("b", `\${FILE:empty}`)}${user("c", `\${FILE:large}`)}${user("e", `\${FILE:.}`)}${user("f", `\${FILE:}`)}${user("g", `\${FILE}`)}server: { port: "\${FILE:port}" }
layers: []
`,
      empty: "\n",
      large: secret.repeat(10_000),
      port: secret,
    },
  });
  expect(found.map((text) => text.replace(/:\d+:\d+:/, ":"))).toEqual([
    "main.yaml: users[0].password: the file none cannot be read: there is no such file or directory",
    "main.yaml: users[1].password: the file empty is empty",
    "main.yaml: users[2].password: the file large is larger than 65536 bytes",
    "main.yaml: users[3].password: the file . cannot be read: expected a file, and this is a directory",
    `main.yaml: users[4].password: expected the path of a file: \${FILE:/path}`,
    "main.yaml: users[5].password: the variable FILE is not set, and there is no default",
    `main.yaml: server.port: expected a whole number from 0 to 65535, got "\${FILE:port}"`,
  ]);
  expect(found.join("\n")).not.toContain(secret);
});

test("the check of a text takes what is in other files for right", async () => {
  const text = `include: ["conf.d/*.yaml"]
layerDefaults: { gutter: "\${GUTTER}", metatile: [2, 2], source: { type: wms, url: "http://u/" } }
layers:
  - { name: a, source: { layers: [a] }, store: elsewhere, gridSubsets: [{ gridSet: elsewhere }] }
diskQuota: { layerQuotas: [{ layer: other, expirationPolicyName: LRU, quota: { value: 1, units: GiB } }] }
users:
  - { name: admin, roles: [admin], password: "\${FILE:/run/secrets/admin}" }
`;
  expect((await checkText(Buffer.from(text), "text")).problems.map(problemText)).toEqual([]);
  const wrong = `${text.replace("metatile: [2, 2]", "metatile: 2")}server: { port: x }\n`;
  expect((await checkText(Buffer.from(wrong), "text")).problems.map(problemText)).toEqual([
    "text:2:49: layerDefaults.metatile: expected a list of 2 numbers, got 2",
    expect.stringMatching(/^text:8:17: server\.port: expected a whole number/),
  ]);
});
