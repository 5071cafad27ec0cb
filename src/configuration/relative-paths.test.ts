import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfiguration } from "./load.ts";

const LAYER = "{ source: { type: demo, dataset: states } }";

/** Writes files into a new directory, and loads the first one from a working directory beside it. */
async function load(
  files: Readonly<Record<string, string>>,
  { env = {}, flags = {} }: { env?: Record<string, string>; flags?: Record<string, string> } = {},
) {
  const root = mkdtempSync(join(tmpdir(), "nuthatch-paths-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const cwd = join(root, "elsewhere");
  mkdirSync(cwd);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const [config = ""] = Object.keys(files);
  const loaded = await loadConfiguration({ env, flags: { config: `../${config}`, ...flags }, cwd });
  return { root, cwd, loaded };
}

test("relative paths of a file begin at its directory, also those of an included file", async () => {
  const { root, loaded } = await load({
    "conf/nuthatch.yaml": `
dataDir: state
include: [parts/stores.yaml]
htpasswd: { file: users.htpasswd, roles: [viewer] }
gridSets: [{ tileMatrixSet: ./grid.json }]
users: [{ name: ann, password: secret-of-ann, roles: [admin] }]
layers:
  - { name: a, ...: 1 }
`.replace("{ name: a, ...: 1 }", `{ name: a, ${LAYER.slice(2)}`),
    "conf/users.htpasswd": "",
    "conf/grid.json": JSON.stringify({
      id: "Own",
      crs: "http://www.opengis.net/def/crs/EPSG/0/3857",
      tileMatrices: [
        {
          id: "0",
          scaleDenominator: 559082264.028717,
          cellSize: 156543.033928041,
          pointOfOrigin: [-20037508.342789, 20037508.342789],
          tileWidth: 256,
          tileHeight: 256,
          matrixWidth: 1,
          matrixHeight: 1,
        },
      ],
    }),
    "conf/parts/stores.yaml": "stores: [{ id: main, type: file, path: ./tiles }]",
  });
  expect(loaded).toMatchObject({
    ok: true,
    value: {
      dataDir: join(root, "conf/state"),
      stores: [{ id: "main", path: join(root, "conf/parts/tiles") }],
      gridSets: [{ id: "Own" }],
    },
  });
});

test("the files of a request filter are beside the configuration", async () => {
  const { root, loaded } = await load({
    "conf/nuthatch.yaml": `
layers:
  - name: a
    source: { type: demo, dataset: states }
    requestFilters: [{ type: file, name: land, directory: ./masks, extension: png, zoomStop: 4 }]
`,
  });
  expect(loaded).toMatchObject({
    ok: true,
    value: { layers: [{ requestFilters: [{ name: "land", directory: join(root, "conf/masks") }] }] },
  });
});

test("a file that is not there is looked for beside the configuration", async () => {
  const { loaded } = await load({
    "conf/nuthatch.yaml": `
layers:
  - { name: a, source: { type: mbtiles, file: a.mbtiles } }
  - { name: b, source: { type: wms, url: "https://127.0.0.1/", layers: b, ca: ca.pem } }
`,
    // The working directory has files with these names, which must not be used.
    "elsewhere/a.mbtiles": "",
    "elsewhere/ca.pem": "",
  });
  const messages = loaded.ok ? [] : loaded.error.map(({ message }) => message);
  expect(messages.filter((message) => /no such file/.test(message))).toHaveLength(2);
});

test("paths of flags, variables and defaults begin at the working directory", async () => {
  const plain = `layers: [{ name: a, ${LAYER.slice(2)}]`;
  const file = { "conf/nuthatch.yaml": `dataDir: state\n${plain}\n` };
  const dataDirs: string[] = [];
  for (const [files, given] of [
    [{ "conf/nuthatch.yaml": plain }, {}],
    [file, { env: { NUTHATCH_DATA_DIR: "of-variable" } }],
    [file, { flags: { "data-dir": "of-flag" } }],
  ] as const) {
    const { cwd, loaded } = await load(files, given);
    if (loaded.ok) dataDirs.push(loaded.value.dataDir.slice(cwd.length));
  }
  expect(dataDirs).toEqual(["/data", "/of-variable", "/of-flag"]);
});
