import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Configuration } from "../configuration.ts";
import type { ConfiguredObject } from "../gwc/configured-object.ts";
import { layerOrigin } from "../gwc/object-origin.ts";
import { ownDocument } from "../gwc/own-document.ts";
import { loadConfiguration } from "../load.ts";
import { changeLayer } from "./change-layer.ts";
import { withLayer } from "./layer-update.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-change-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const YAML = `
gridSets: [{ id: own, srs: 3857, extent: [0, 0, 100, 100], resolutions: [1, 0.5], tileSize: [10, 10] }]
layers: [{ name: file, source: { type: wms, url: "http://u/" } }]
`;
let files = 0;

async function load(objects: readonly ConfiguredObject[], yaml = YAML) {
  const config = join(directory, `${++files}.yaml`);
  writeFileSync(config, yaml);
  return loadConfiguration({ env: {}, flags: { config }, cwd: "/", objects });
}
async function loaded(objects: readonly ConfiguredObject[], yaml = YAML): Promise<Configuration> {
  const result = await load(objects, yaml);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
const object = (name: string, content: object = {}): ConfiguredObject => ({
  kind: "layer",
  name,
  document: ownDocument({ name, source: { type: "wms", url: "http://v/" }, ...content }),
});

test("a change of one layer comes to the same as a load of everything", async () => {
  const steps: readonly ConfiguredObject[] = [
    object("a"),
    object("b", { gridSubsets: [{ gridSet: "own" }], store: undefined }),
    object("a", { title: "A", enabled: false }),
    object("c", { gridSubsets: [{ gridSet: "EPSG:4326", zoomStop: 3 }] }),
  ];
  let configuration = await loaded([]);
  for (const step of steps) {
    const update = await changeLayer(configuration, step, {});
    if (update?.ok !== true) throw new Error(JSON.stringify(update));
    configuration = withLayer(configuration, update.value.next);
    const whole = await loaded(configuration.objects);
    expect(configuration.layers).toEqual(whole.layers);
    expect(configuration.objects).toEqual(whole.objects);
    for (const { name } of whole.layers.filter((layer) => layer.name !== "file"))
      expect(layerOrigin(configuration, name)).toEqual(layerOrigin(whole, name));
  }
  const removed = await changeLayer(configuration, { kind: "layer", name: "b", document: undefined }, {});
  if (removed?.ok !== true) throw new Error("not removed");
  configuration = withLayer(configuration, removed.value.next);
  expect(configuration.layers.map(({ name }) => name)).toEqual(["file", "a", "c"]);
  expect(configuration.layers).toEqual((await loaded(configuration.objects)).layers);
});

test("a layer that does not fit is refused with the problems of a load of everything", async () => {
  const before = await loaded([object("a")]);
  for (const wrong of [
    object("x", { gridSubsets: [{ gridSet: "nowhere" }] }),
    object("x", { store: "nowhere" }),
    object("x", { store: "default" }),
    object("x", { formats: ["image/bmp"], gutter: -1 }),
    object("x", { source: { type: "wms" } }),
    object("x.json"),
    object("a ", {}),
    object("fi:le", {}),
    object("x", { source: { type: "wms", url: "http://v/", method: "put", password: "secret" } }),
  ]) {
    const update = await changeLayer(before, wrong, {});
    const whole = await load([...before.objects, wrong]);
    expect(update?.ok, wrong.name).toBe(whole.ok);
    if (update?.ok === false && !whole.ok)
      expect(update.error.map(({ message, file }) => [message.replace(/^layers\[\d+\]/, "layers[n]"), file])).toEqual(
        whole.error.map(({ message, file }) => [message.replace(/^layers\[\d+\]/, "layers[n]"), file]),
      );
  }
});

test("two layers that would share a directory are refused", async () => {
  const before = await loaded([object("a:b")]);
  const update = await changeLayer(before, object("a_b"), {});
  expect(update?.ok === false && update.error[0]?.message).toMatch(/would share the directory a_b/);
});

test("the whole is loaded where another section names the layer, and where the source has files", async () => {
  const quotas =
    "diskQuota: { layerQuotas: [{ layer: file, expirationPolicyName: LRU, quota: { value: 1, units: GiB } }] }";
  const before = await loaded([], `${YAML}${quotas}`);
  expect(await changeLayer(before, object("file"), {})).toBeUndefined();
  expect(await changeLayer(before, object("m", { source: { type: "mbtiles", file: "/m" } }), {})).toBeUndefined();
  expect(
    await changeLayer(before, object("t", { source: { type: "wms", url: "https://v/", ca: "/ca.pem" } }), {}),
  ).toBeUndefined();
  expect(await changeLayer(before, { kind: "gridSet", name: "g", document: undefined }, {})).toBeUndefined();
});

test("a layer that came from another process shares the grid sets that are there", async () => {
  const before = await loaded([]);
  const update = await changeLayer(
    before,
    object("a", { gridSubsets: [{ gridSet: "own" }, { gridSet: "EPSG:4326" }] }),
    {},
  );
  if (update?.ok !== true) throw new Error("refused");
  const { layers, gridSets } = withLayer(before, structuredClone(update.value.next));
  const made = layers.find(({ name }) => name === "a");
  expect(made?.gridSubsets[0]?.gridSet).toBe(gridSets[0]);
  expect(made?.gridSubsets[1]?.gridSet).toBe(before.layers[0]?.gridSubsets[0]?.gridSet);
});

const GWC = `<gwcConfiguration xmlns="http://geowebcache.org/schema/1.27.0"><backendTimeout>60</backendTimeout>
<httpUsername>\${WMS_USER}</httpUsername>
<layers><wmsLayer><name>first</name><wmsUrl><string>http://u/</string></wmsUrl></wmsLayer></layers></gwcConfiguration>`;

const gwcLayer = (name: string, fields: readonly (readonly [string, string])[] = []): ConfiguredObject => ({
  kind: "layer",
  name,
  document: {
    root: "wmsLayer",
    node: {
      kind: "map",
      attributes: {},
      fields: [["name", name], ["wmsUrl", { kind: "list", items: [["string", "http://v/"]] }], ...fields],
    },
  },
});

test("a change of one layer of a GeoWebCache file comes to the same as a load of everything", async () => {
  const geowebcache = join(directory, "gwc");
  mkdirSync(geowebcache, { recursive: true });
  writeFileSync(join(geowebcache, "geowebcache.xml"), GWC);
  const env = { ALLOW_ENV_PARAMETRIZATION: "true", WMS_USER: "somebody" };
  const read = async (objects?: readonly ConfiguredObject[]): Promise<Configuration> => {
    const result = await loadConfiguration({ env, flags: { geowebcache }, cwd: "/", ...(objects && { objects }) });
    if (!result.ok) throw new Error(JSON.stringify(result.error));
    return result.value;
  };
  let configuration = await read();
  for (const step of [gwcLayer("a"), gwcLayer("first", [["gutter", "7"]]), gwcLayer("a", [["enabled", "false"]])]) {
    const update = await changeLayer(configuration, step, env);
    if (update?.ok !== true) throw new Error(JSON.stringify(update));
    configuration = withLayer(configuration, update.value.next);
    const whole = await read(configuration.objects);
    expect(configuration.layers).toEqual(whole.layers);
    expect(configuration.objects).toEqual(whole.objects);
  }
  expect(JSON.stringify(configuration.layers)).toContain("somebody");
  // A layer that is not served: from then on each change loads the whole configuration.
  const disabled: ConfiguredObject = {
    kind: "store",
    name: "off",
    document: {
      root: "FileBlobStore",
      node: {
        kind: "map",
        attributes: {},
        fields: [
          ["id", "off"],
          ["enabled", "false"],
        ],
      },
    },
  };
  const withStore = await read([...configuration.objects, disabled]);
  const away = gwcLayer("away", [["blobStoreId", "off"]]);
  expect(await changeLayer(withStore, away, env)).toBeUndefined();
  expect(await changeLayer(await read([...withStore.objects, away]), gwcLayer("b"), env)).toBeUndefined();
});
