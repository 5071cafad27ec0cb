import sharp from "sharp";
import { expect, test } from "vitest";
import { builtInGridSet } from "../grid/built-in.ts";
import { contentTypeOf, formatOf, type TileFormat } from "../layer/format.ts";
import { DEFAULT_JPEG_QUALITY, gridSubset, type Layer } from "../layer/layer.ts";
import { type Parameters, parseParameters } from "../layer/parameter-filter.ts";
import type { DrawRequest, Source } from "../source/source.ts";
import { createMemoryBlobStore } from "../store/memory-blob-store.ts";
import { paint } from "./paint.ts";

const gridSet = builtInGridSet("EPSG:4326");
if (gridSet === undefined) throw new Error("EPSG:4326");
const subset = gridSubset(gridSet, {});

function format(mimeType: string): TileFormat {
  const found = formatOf(mimeType);
  if (found === undefined) throw new Error(mimeType);
  return found;
}

const layer: Layer = {
  name: "a",
  title: "",
  description: "",
  source: { type: "demo", dataset: "world", connections: 1 },
  gridSubsets: [subset],
  formats: [format("image/png")],
  metatile: [2, 1],
  gutter: 0,
  parameterFilters: [
    { type: "string", key: "TIME", default: "2020", values: ["2021"] },
    { type: "float", key: "ELEVATION", default: "0", values: [0, 10], threshold: 1 },
  ],
  jpegQuality: DEFAULT_JPEG_QUALITY,
  expireCacheSeconds: 0,
  staleWhileRevalidateSeconds: 0,
  queryable: false,
  fullWms: false,
  legends: [],
  negativeCacheSeconds: 0,
  expireClientSeconds: 0,
  secured: false,
};

/** Paints the one row of level 0 from an upstream's picture; what was asked of the upstream, and what was kept. */
async function painted(mimeType: string, { id, values }: Parameters, picture: Uint8Array) {
  const asked: DrawRequest[] = [];
  const source: Source = {
    async draw(request) {
      asked.push(request);
      return { kind: "encoded", bytes: picture };
    },
    async [Symbol.asyncDispose]() {},
  };
  await using store = createMemoryBlobStore();
  const tileSet = { layer: layer.name, gridSet: subset.gridSet.id, format: mimeType, parametersId: id };
  await paint(
    { tileSet, parameters: values, rect: { z: 0, minX: 0, minY: 0, maxX: 1, maxY: 0 }, wanted: null },
    {
      layer,
      subset,
      format: format(mimeType),
      source,
      store,
      isCurrent: () => true,
      storing: () => {},
      bytesWanted: false,
    },
    new AbortController().signal,
  );
  const kept = [0, 1].map((x) => store.get({ tileSet, x, y: 0, z: 0 })?.bytes ?? new Uint8Array());
  return { asked: asked.map((request) => request.parameters), kept };
}

/** Opaque on the left, nothing on the right. */
const half = await sharp({ create: { width: 256, height: 256, channels: 4, background: "#3a6ea5" } })
  .extend({ right: 256, background: "#00000000" })
  .png()
  .toBuffer();

test("the upstream is sent a value for every filter, the defaults where they are meant", async () => {
  const combination = (given: Readonly<Record<string, string>>): Parameters => {
    const parsed = parseParameters(layer.parameterFilters, new Map(Object.entries(given)), "refuse");
    if (!parsed.ok) throw new Error(parsed.error.message);
    return parsed.value;
  };
  const sent = async (given: Readonly<Record<string, string>>) =>
    (await painted("image/png", combination(given), half)).asked;
  expect(await sent({})).toEqual([{ TIME: "2020", ELEVATION: "0" }]);
  expect(await sent({ elevation: "9.5" })).toEqual([{ TIME: "2020", ELEVATION: "10.0" }]);
});

test("a hybrid's metatile is kept as JPEG and PNG side by side, each told by its bytes", async () => {
  for (const mimeType of ["image/vnd.jpeg-png", "image/vnd.jpeg-png8"]) {
    const { kept } = await painted(mimeType, { id: "", values: {} }, half);
    expect(kept.map((tile) => contentTypeOf(format(mimeType), tile))).toEqual(["image/jpeg", "image/png"]);
    expect(await Promise.all(kept.map(async (tile) => (await sharp(tile).metadata()).format))).toEqual(["jpeg", "png"]);
  }
});
