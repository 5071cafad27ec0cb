import { expect, test } from "vitest";
import { loadConfiguration } from "../../load.ts";

async function problems(layer: object): Promise<readonly string[]> {
  const loaded = await loadConfiguration({ env: {}, flags: { layers: JSON.stringify([layer]) }, cwd: "/" });
  return loaded.ok ? [] : loaded.error.map(({ message }) => message);
}

const layer = (tilesOnDisk?: readonly object[], more: object = {}) => ({
  name: "a",
  source: { type: "none" },
  ...(tilesOnDisk === undefined ? {} : { tilesOnDisk }),
  ...more,
});
const tiles = (more: object) => ({ gridSet: "EPSG:900913", path: "/t", layout: "tc", ...more });

test("tiles on the disk have a layout, or a path with placeholders", async () => {
  expect(await problems(layer([tiles({ rows: "top", extension: "jpg", format: "image/jpeg" })]))).toEqual([]);
  expect(await problems(layer([{ gridSet: "EPSG:900913", path: "/t/{z}/{x}/{-y}.png" }]))).toEqual([]);
});

test("a layer without an upstream may have grid sets of several CRSs", async () => {
  const both = { gridSubsets: [{ gridSet: "EPSG:900913" }, { gridSet: "EPSG:4326" }] };
  expect(await problems(layer([tiles({}), tiles({ gridSet: "EPSG:4326" })], both))).toEqual([]);
});

test("what cannot work is refused, with the field and the value", async () => {
  expect(await problems(layer())).toEqual([
    "layers[0]: tilesOnDisk is missing: a source of type none renders no tiles",
  ]);
  const at = "layers[0].tilesOnDisk[0]";
  expect(await problems(layer([tiles({ path: "t" })]))).toEqual([`${at}.path: expected an absolute path, got "t"`]);
  expect(await problems(layer([tiles({ path: "/{z}" })]))).toEqual([
    `${at}.path: expected no placeholders beside layout, got "/{z}"`,
  ]);
  expect(await problems(layer([{ gridSet: "EPSG:900913", path: "/{z}/{x}" }]))).toEqual([
    `${at}.path: expected {z}, {x} and {y} or {-y}, as there is no layout, got "/{z}/{x}"`,
  ]);
  expect(await problems(layer([{ gridSet: "EPSG:900913", path: "/{z}/{x}/{y}/{q}" }]))).toEqual([
    `${at}.path: expected no other placeholders than {z}, {x}, {y}, {-y}, got "/{z}/{x}/{y}/{q}"`,
  ]);
  expect(await problems(layer([tiles({ gridSet: "EPSG:4326" })]))).toEqual([
    `${at}.gridSet: expected a grid set of the layer (EPSG:900913), got "EPSG:4326"`,
  ]);
  expect((await problems(layer([tiles({ format: "image/x" })])))[0]).toContain(`${at}.format: expected one of`);
  expect((await problems(layer([tiles({ layout: "xyz" })])))[0]).toContain(`${at}.layout: expected one of tc, mp`);
});
