import { expect, test } from "vitest";
import { loadConfiguration } from "../../../load.ts";

async function loaded(group: object, more: object = {}) {
  const part = (name: string, own: object = {}) => ({ name, source: { type: "demo", dataset: "world" }, ...own });
  const layers = [
    part("a"),
    part("b", more),
    { name: "g", source: { type: "group", layers: ["a", "b"] }, gridSubsets: [{ gridSet: "EPSG:4326" }], ...group },
  ];
  return loadConfiguration({ env: {}, flags: { layers: JSON.stringify(layers) }, cwd: "/" });
}

const problems = async (group: object, more: object = {}): Promise<readonly string[]> => {
  const result = await loaded(group, more);
  return result.ok ? [] : result.error.map(({ message }) => message);
};

test("a group stores no tiles", async () => {
  const result = await loaded({ expireCacheSeconds: 60 });
  const group = result.ok ? result.value.layers.find(({ name }) => name === "g") : undefined;
  expect(group).toMatchObject({
    source: { type: "group", layers: ["a", "b"] },
    expireCacheSeconds: [{ minZoom: 0, value: -1 }],
    metatile: [1, 1],
  });
});

test("a group of layers that cannot lie on each other is refused", async () => {
  const source = (...layers: string[]) => ({ source: { type: "group", layers } });
  for (const name of ["nope", "g"])
    expect(await problems(source("a", name))).toEqual([
      `layers[2].source.layers[1]: expected the name of a layer that is no group, got "${name}"`,
    ]);
  expect(await problems(source())).toHaveLength(1);
  expect(await problems({ gridSubsets: [{ gridSet: "WebMercatorQuad" }] })).toEqual([
    'layers[2].source.layers[0]: layer "a" lacks grid set WebMercatorQuad of the group',
    'layers[2].source.layers[1]: layer "b" lacks grid set WebMercatorQuad of the group',
  ]);
  expect(await problems({}, { secured: true })).toEqual([
    'layers[2].secured: expected true, because layer "b" of the group is secured',
  ]);
  expect(await problems({ secured: true }, { secured: true })).toEqual([]);
  expect(await problems({ requestFilters: [{ type: "circle", name: "c" }] })).toEqual([
    "layers[2].requestFilters: is given, but the layers of a group have their own filters",
  ]);
});

test("a layer of layers offers what all of its layers offer", async () => {
  const part = (name: string, own: object) => ({ name, source: { type: "demo", dataset: "world" }, ...own });
  const layers = [
    { name: "g", title: "Both", layers: ["a", "b"] },
    part("a", {
      gridSubsets: [{ gridSet: "EPSG:4326", zoomStop: 9, extent: [-10, -10, 40, 40] }, { gridSet: "EPSG:900913" }],
      formats: ["image/png", "image/webp"],
    }),
    part("b", {
      gridSubsets: [{ gridSet: "EPSG:4326", zoomStart: 2, extent: [0, 0, 90, 90] }],
      formats: ["image/webp"],
    }),
  ];
  const result = await loadConfiguration({ env: {}, flags: { layers: JSON.stringify(layers) }, cwd: "/" });
  expect(result).toMatchObject({ ok: true });
  const [group] = result.ok ? result.value.layers : [];
  expect(group).toMatchObject({
    name: "g",
    title: "Both",
    source: { type: "group", layers: ["a", "b"] },
    gridSubsets: [
      { gridSet: { id: "EPSG:4326" }, zoomStart: 2, zoomStop: 9, extent: { minX: 0, minY: 0, maxX: 40, maxY: 40 } },
    ],
    formats: [{ mimeType: "image/webp" }],
  });
  expect(group?.gridSubsets).toHaveLength(1);
});
