import { expect, test } from "vitest";
import { formatNamed, gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { asTileIndex } from "../grid/grid-set.ts";
import type { Composition } from "../image/compose.ts";
import { catalogueOf } from "../layer/catalogue.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import type { Layer } from "../layer/layer.ts";
import { asLayerName } from "../layer/tile-set.ts";
import { GroupReader } from "./group-reader.ts";
import type { ServedTile, TileOutcome, TileRequest } from "./tile-reader.ts";

const subset = gridSubset(gridSetNamed("EPSG:900913"), {});
const PNG = formatNamed("image/png");
const JPEG = formatNamed("image/jpeg");
const named = (name: string, more: Partial<Layer> = {}) =>
  layerNamed(name, { gridSubsets: [subset], formats: [JPEG, PNG], ...more });
const [a, b] = [named("a"), named("b")];
const group = named("g", { source: { type: "group", layers: [a.name, b.name], connections: 1 } });
const request: TileRequest = {
  layer: group,
  subset,
  format: JPEG,
  parameters: { id: "", values: {} },
  index: asTileIndex({ x: 0, y: 1, z: 1 }),
};
const requester = { client: "client", gone: new AbortController().signal };

const tile = (text: string, more: Partial<ServedTile> = {}): TileOutcome => ({
  kind: "tile",
  tile: {
    bytes: Buffer.from(text),
    etag: `"${text}"`,
    modifiedMs: 1000,
    writtenMs: 1000,
    cacheResult: "HIT",
    forwarded: undefined,
    ...more,
  },
});

/** Returns a reader of the group, and what it reads and composes. */
function groupReader(layers: readonly Layer[] = [a, b, group]) {
  const outcomes = new Map<string, TileOutcome>([
    ["a", tile("a")],
    ["b", tile("b", { modifiedMs: 5000, cacheResult: "MISS", forwarded: "miss" })],
  ]);
  const reads: string[] = [];
  const composed: Composition[] = [];
  const reader = new GroupReader({
    catalogue: () => catalogueOf(layers),
    tiles: {
      read: ({ layer, format }) => {
        reads.push(`${layer.name} ${format.mimeType}`);
        return outcomes.get(layer.name) ?? { kind: "filtered", filter: "f", debug: false };
      },
    },
    compose: async (composition) => {
      composed.push(composition);
      const bytes = Buffer.concat(composition.layers.flatMap(({ tiles }) => tiles.map((one) => one.bytes)));
      return { kind: "picture", bytes };
    },
  });
  const read = async () => {
    const outcome = await reader.read(request, () => requester);
    return outcome.kind === "tile" ? { ...outcome.tile, bytes: Buffer.from(outcome.tile.bytes).toString() } : outcome;
  };
  return { reader, outcomes, reads, composed, read };
}

test("a tile of a group has the tiles of its layers in their order, and the marks of any of them", async () => {
  const { read, reads } = groupReader();
  expect(await read()).toMatchObject({ bytes: "ab", modifiedMs: 5000, cacheResult: "MISS", forwarded: "miss" });
  // JPEG would hide the layer below.
  expect(reads).toEqual(["a image/jpeg", "b image/png"]);
});

test("equal parts are composed once, and another part gives another tile", async () => {
  const { read, composed, outcomes } = groupReader();
  await Promise.all([read(), read()]);
  await read();
  expect(composed).toHaveLength(1);
  outcomes.set("b", tile("c"));
  expect(await read()).toMatchObject({ bytes: "ac", cacheResult: "HIT" });
  expect(composed).toHaveLength(2);
});

test("a layer without a tile there leaves a hole, and a layer that fails makes the group fail", async () => {
  const { read, outcomes } = groupReader();
  outcomes.delete("b");
  expect(await read()).toMatchObject({ bytes: "a" });
  outcomes.set("a", { kind: "failure", failure: { code: "no_tile", message: "none" } });
  expect(await read()).toMatchObject({ kind: "failure", failure: { code: "no_tile", message: "none" } });
  outcomes.set("b", { kind: "failure", failure: { code: "upstream_failed", message: "down" } });
  expect(await read()).toMatchObject({ failure: { code: "upstream_failed" } });
});

test("a layer that does not offer the tile is not read, and one that has left is no part", async () => {
  const far = named("b", { gridSubsets: [{ ...subset, zoomStart: 5 }] });
  const { read, reads } = groupReader([a, far, group]);
  expect(await read()).toMatchObject({ bytes: "a" });
  expect(reads).toEqual(["a image/jpeg"]);
  expect(await groupReader([group]).read()).toMatchObject({ failure: { code: "no_tile" } });
});

test("the parameters of a group are those of its layers, and a value that a layer lacks is no tile", async () => {
  const time = { type: "string" as const, key: "TIME", default: "2020", values: ["2021"] };
  const read = async (parts: readonly Layer[]) => {
    const { reader } = groupReader([...parts, group]);
    const layer = { ...group, parameterFilters: [{ ...time, values: ["2021", "2022"] }] };
    const parameters = { id: "x", values: { TIME: "2022" } };
    return reader.read({ ...request, layer, parameters }, () => requester);
  };
  expect(await read([a, b])).toMatchObject({ kind: "tile" });
  expect(await read([a, named("b", { parameterFilters: [time] })])).toMatchObject({ failure: { code: "no_tile" } });
});

test("a read of a layer that is no group passes through, without a promise", () => {
  const { reader } = groupReader();
  expect(reader.read({ ...request, layer: a }, () => requester)).toMatchObject({ kind: "tile" });
});

test("a damaged part and too much work are reported", async () => {
  const outcome = (composed: Awaited<ReturnType<ConstructorParameters<typeof GroupReader>[0]["compose"]>>) =>
    new GroupReader({
      catalogue: () => catalogueOf([a, b, group]),
      tiles: { read: () => tile("a") },
      compose: async () => composed,
    }).read(request, () => requester);
  expect(await outcome({ kind: "damaged", layer: 0, tile: 0, message: "bad" })).toMatchObject({
    failure: { code: "damaged_tile", message: expect.stringContaining(`group ${asLayerName("g")}`) },
  });
  expect(await outcome({ kind: "refused", retryAfterSeconds: 7 })).toMatchObject({
    failure: { code: "too_many_maps", retryAfterSeconds: 7 },
  });
});
