import { expect, test } from "vitest";
import { builtInGridSet } from "../grid/built-in.ts";
import { formatOf } from "../layer/format.ts";
import { gridSubset, type Layer } from "../layer/layer.ts";
import type { DrawRequest, Source } from "../source/source.ts";
import { createMemoryBlobStore } from "../store/memory-blob-store.ts";
import { paint } from "./paint.ts";

function present<T>(found: T | undefined): T {
  if (found === undefined) throw new Error("not found");
  return found;
}
const png = present(formatOf("image/png"));
const subset = gridSubset(present(builtInGridSet("EPSG:900913")), {});

/** What the source is asked for when tiles of level 2 are painted. */
async function asked(rect: readonly [number, number, number, number], gutter: number): Promise<DrawRequest> {
  const requests: DrawRequest[] = [];
  const source: Source = {
    async draw(request) {
      requests.push(request);
      const { width, height } = request;
      return { kind: "raster", raster: { width, height, channels: 3, data: new Uint8Array(width * height * 3) } };
    },
    async [Symbol.asyncDispose]() {},
  };
  const layer: Layer = {
    name: "a",
    title: "a",
    description: "",
    source: { type: "demo", dataset: "world", connections: 1 },
    gridSubsets: [subset],
    formats: [png],
    metatile: [1, 1],
    gutter,
    parameterFilters: [],
    expireCacheSeconds: 0,
    jpegQuality: 85,
    staleWhileRevalidateSeconds: 0,
    queryable: false,
    fullWms: false,
    legends: [],
    negativeCacheSeconds: 0,
    expireClientSeconds: 0,
    secured: false,
  };
  const [minX, minY, maxX, maxY] = rect;
  await paint(
    {
      tileSet: { layer: "a", gridSet: subset.gridSet.id, format: png.mimeType, parametersId: "" },
      parameters: {},
      rect: { z: 2, minX, minY, maxX, maxY },
      wanted: null,
    },
    {
      layer,
      subset,
      format: png,
      source,
      store: createMemoryBlobStore(),
      isCurrent: () => true,
      storing: () => undefined,
      bytesWanted: false,
    },
    new AbortController().signal,
  );
  const [request] = requests;
  if (request === undefined || requests.length > 1) throw new Error(`${requests.length} requests`);
  return request;
}

test("a source is told which tile it draws, y from the bottom", async () => {
  expect(await asked([3, 1, 3, 1], 0)).toMatchObject({ tile: { x: 3, y: 1, z: 2 }, width: 256, height: 256 });
});

test("no tile is named for a metatile of several, nor for one with a gutter", async () => {
  expect(await asked([2, 0, 3, 1], 0)).not.toHaveProperty("tile");
  expect(await asked([2, 1, 2, 1], 8)).not.toHaveProperty("tile");
});
