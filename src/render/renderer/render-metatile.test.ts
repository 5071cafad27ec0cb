import { crc32 } from "node:zlib";
import sharp from "sharp";
import { expect, test } from "vitest";
import { formatNamed, gridSetNamed, layerNamed } from "../../../test/support/layer.ts";
import { createMemoryStore } from "../../../test/support/stores/memory-store.ts";
import { png } from "../../../test/support/upstream/upstream.ts";
import type { TileIndex, TileRect } from "../../grid/grid-set.ts";
import { atEveryZoom } from "../../layer/by-zoom.ts";
import { type Parameters, parseParameters } from "../../layer/filter/parameter-filter.ts";
import { contentTypeOf } from "../../layer/format.ts";
import { gridSubset } from "../../layer/grid-subset.ts";
import type { Layer } from "../../layer/layer.ts";
import { refusalMessage } from "../../lib/refusal.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { type RenderedImage, type RenderRequest, type Source, SourceError } from "../../source/source.ts";
import type { EarlyTiles } from "./missed-tile-first.ts";
import { renderMetatile } from "./render-metatile.ts";

const DEFAULTS: Parameters = { id: "", values: {} };
/** The whole level 0. */
const ROW: TileRect = { z: 0, minX: 0, minY: 0, maxX: 1, maxY: 0 };

/** No truncation happens during the render, and no user waits for the tiles. */
const undisturbed = {
  clock: machineClock,
  isCurrent: () => true,
  storing: () => {},
  user: () => undefined,
  mayStore: () => "store" as const,
  beside: [],
};

/**
 * Renders a rectangle from an upstream's answer. Returns the requests to the upstream, and the stored tiles, row by
 * row.
 */
async function rendered(
  layer: Layer,
  mimeType: string,
  { id, values }: Parameters,
  rect: TileRect,
  answer: RenderedImage,
) {
  const requested: RenderRequest[] = [];
  const source: Source = {
    async render(request) {
      requested.push(request);
      return answer;
    },
    async [Symbol.asyncDispose]() {},
  };
  await using store = createMemoryStore();
  const [subset] = layer.gridSubsets;
  if (subset === undefined) throw new Error("no grid subset");
  const tileSet = { layer: layer.name, gridSet: subset.gridSet.id, format: mimeType, parametersId: id };
  await renderMetatile(
    { tileSet, parameters: values, rect, wanted: null },
    { layer, subset, format: formatNamed(mimeType), source, store, ...undisturbed },
    new AbortController().signal,
  );
  const stored: Uint8Array[] = [];
  for (let y = rect.minY; y <= rect.maxY; y++)
    for (let x = rect.minX; x <= rect.maxX; x++)
      stored.push(store.get({ tileSet, x, y, z: rect.z })?.bytes ?? new Uint8Array());
  const [request] = requested;
  if (request === undefined || requested.length > 1) throw new Error(`${requested.length} requests`);
  return { request, kept: stored };
}

const plain = layerNamed("a", { gridSubsets: [gridSubset(gridSetNamed("EPSG:4326"), {})] });
const filtered: Layer = {
  ...plain,
  parameterFilters: [
    { type: "string", key: "TIME", default: "2020", values: ["2021"] },
    { type: "float", key: "ELEVATION", default: "0", values: [0, 10], threshold: 1 },
  ],
};

/** Opaque on the left, transparent on the right. */
const half = {
  kind: "encoded" as const,
  bytes: await sharp({ create: { width: 256, height: 256, channels: 4, background: "#3a6ea5" } })
    .extend({ right: 256, background: "#00000000" })
    .png()
    .toBuffer(),
};

test("the upstream is sent a value for every filter, the defaults where they are meant", async () => {
  const combination = (given: Readonly<Record<string, string>>): Parameters => {
    const parsed = parseParameters(filtered.parameterFilters, new Map(Object.entries(given)), "refuse");
    if (!parsed.ok) throw new Error(refusalMessage(parsed.error));
    return parsed.value;
  };
  const sent = async (given: Readonly<Record<string, string>>) =>
    (await rendered(filtered, "image/png", combination(given), ROW, half)).request.parameters;
  expect(await sent({})).toEqual({ TIME: "2020", ELEVATION: "0" });
  expect(await sent({ elevation: "9.5" })).toEqual({ TIME: "2020", ELEVATION: "10.0" });
});

test("a metatile in a hybrid format is stored as JPEG and PNG tiles, each recognised by its bytes", async () => {
  for (const mimeType of ["image/vnd.jpeg-png", "image/vnd.jpeg-png8"]) {
    const { kept } = await rendered(plain, mimeType, DEFAULTS, ROW, half);
    expect(kept.map((tile) => contentTypeOf(formatNamed(mimeType), tile))).toEqual(["image/jpeg", "image/png"]);
    expect(await Promise.all(kept.map(async (tile) => (await sharp(tile).metadata()).format))).toEqual(["jpeg", "png"]);
  }
});

test("a source gets the position of a single tile, y from the bottom, but not of a metatile of several tiles or with a gutter", async () => {
  const requested = async (gutter: number, rect: TileRect): Promise<RenderRequest> => {
    const width = 256 * (rect.maxX - rect.minX + 1) + 2 * gutter;
    const height = 256 * (rect.maxY - rect.minY + 1) + 2 * gutter;
    const raster = { width, height, channels: 3 as const, data: new Uint8Array(width * height * 3) };
    const { request } = await rendered({ ...plain, gutter }, "image/png", DEFAULTS, rect, { kind: "raster", raster });
    return request;
  };
  const one = { z: 2, minX: 3, minY: 1, maxX: 3, maxY: 1 };
  expect(await requested(0, one)).toMatchObject({ tile: { x: 3, y: 1, z: 2 }, width: 256, height: 256 });
  expect(await requested(0, { ...one, minX: 2, minY: 0 })).toMatchObject({ tile: undefined });
  expect(await requested(8, { ...one, minX: 2, maxX: 2 })).toMatchObject({ tile: undefined });
});

test("one rendering fills the formats beside its own: a single PNG stays as it is, a JPEG is made of it", async () => {
  await using store = createMemoryStore();
  const layer: Layer = { ...plain, metatile: [1, 1], gutter: 0, formatsTogether: true };
  const [subset] = layer.gridSubsets;
  if (subset === undefined) throw new Error("no grid subset");
  const bytes = await sharp({ create: { width: 256, height: 256, channels: 3, background: "#123456" } })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const requested: string[] = [];
  const source: Source = {
    async render({ format }) {
      requested.push(format.mimeType);
      return { kind: "encoded", bytes };
    },
    async [Symbol.asyncDispose]() {},
  };
  const jpeg = formatNamed("image/jpeg");
  const png = formatNamed("image/png");
  if (png.kind !== "image") throw new Error("PNG is no picture");
  const tileSet = { layer: layer.name, gridSet: subset.gridSet.id, format: "image/jpeg", parametersId: "" };
  const rect = { ...ROW, maxX: ROW.minX };
  const { written, writtenBeside } = await renderMetatile(
    { tileSet, beside: ["image/png"], parameters: {}, rect, wanted: null, isNew: true },
    { layer, subset, format: jpeg, source, store, ...undisturbed, beside: [png] },
    new AbortController().signal,
  );
  expect([requested, written.length, writtenBeside?.map((tiles) => tiles.length)]).toEqual([["image/png"], 1, [1]]);
  const stored = (format: string) =>
    store.get({ tileSet: { ...tileSet, format }, x: rect.minX, y: rect.minY, z: rect.z });
  expect(Buffer.from(stored("image/png")?.bytes ?? []).equals(bytes)).toBe(true);
  expect((await sharp(stored("image/jpeg")?.bytes).metadata()).format).toBe("jpeg");
});

test("tiles that equal the stored ones are reported as unchanged, and renewed where tiles expire or the order says so; others are written", async () => {
  await using store = createMemoryStore();
  const render = async (layer: Layer, wanted: Uint8Array | null, bytes: Uint8Array, more: { renewed?: true } = {}) => {
    const [subset] = layer.gridSubsets;
    if (subset === undefined) throw new Error("no grid subset");
    const tileSet = { layer: layer.name, gridSet: subset.gridSet.id, format: "image/png", parametersId: "" };
    const source: Source = { render: async () => ({ kind: "encoded", bytes }), async [Symbol.asyncDispose]() {} };
    const { written } = await renderMetatile(
      { tileSet, parameters: {}, rect: ROW, wanted, ...more },
      { layer, subset, format: formatNamed("image/png"), source, store, ...undisturbed },
      new AbortController().signal,
    );
    return written.map(({ x, unchanged, bytes: size, replaced }) => [x, unchanged, replaced === size]);
  };
  const expiring = { ...plain, expireCacheSeconds: atEveryZoom(60) };
  expect(await render(plain, new Uint8Array([1, 0]), half.bytes)).toEqual([[0, undefined, false]]);
  expect(await render(plain, null, half.bytes)).toEqual([
    [0, "left", true],
    [1, undefined, false],
  ]);
  expect(await render(expiring, null, half.bytes)).toEqual([
    [0, "renewed", true],
    [1, "renewed", true],
  ]);
  // An order may renew tiles that do not expire, because a job by age must know which tiles it has rendered.
  expect(await render(plain, null, half.bytes, { renewed: true })).toEqual([
    [0, "renewed", true],
    [1, "renewed", true],
  ]);
  const mirrored = await sharp(half.bytes).flop().png().toBuffer();
  expect(await render(expiring, null, mirrored)).toEqual([
    [0, undefined, false],
    [1, undefined, false],
  ]);
});

test("a user who joins a job's render before its picture has arrived has their tile stored and reported first", async () => {
  await using store = createMemoryStore();
  const layer = layerNamed("a");
  const [subset] = layer.gridSubsets;
  if (subset === undefined) throw new Error("no grid subset");
  const format = formatNamed("image/png");
  let missed: TileIndex | undefined;
  const source: Source = {
    async render({ width, height }) {
      missed = { x: 1, y: 0, z: 0 };
      const background = "#123456";
      return {
        kind: "encoded",
        bytes: await sharp({ create: { width, height, channels: 3, background } })
          .png()
          .toBuffer(),
      };
    },
    async [Symbol.asyncDispose]() {},
  };
  const tileSet = { layer: layer.name, gridSet: subset.gridSet.id, format: format.mimeType, parametersId: "" };
  const reports: string[] = [];
  const report = ({ written }: EarlyTiles): void => void reports.push(written.map(({ x, y }) => `${x}/${y}`).join(" "));
  const result = await renderMetatile(
    { tileSet, parameters: {}, rect: ROW, wanted: Uint8Array.of(1, 1) },
    { layer, subset, format, source, store, ...undisturbed, user: () => missed && { missed, report } },
    new AbortController().signal,
  );
  expect(reports).toEqual(["1/0", "0/0"]);
  expect(result).toMatchObject({ written: [], stale: false, storeFailure: undefined });
});

const STRIDE = 512 * 3 + 1;

/** Returns a picture of two tiles, side by side, whose last row begins with the given filter. */
function twoTiles(lastFilter: number, missingBytes = 0): Buffer {
  const rows = Buffer.alloc(STRIDE * 256, 0);
  for (let i = 0; i < rows.byteLength; i++) if (i % STRIDE !== 0) rows[i] = (i * 7) & 255;
  rows[STRIDE * 255] = lastFilter;
  return png(512, 256, rows.subarray(0, rows.byteLength - missingBytes));
}

/** Returns a picture with a wrong checksum at the end of its deflated data. The checksums of its chunks are right. */
function wronglyDeflated(): Buffer {
  const bytes = twoTiles(0);
  const at = bytes.indexOf("IDAT");
  const end = at + 4 + bytes.readUInt32BE(at - 4);
  bytes[end - 1] = (bytes[end - 1] ?? 0) ^ 1;
  bytes.writeUInt32BE(crc32(bytes.subarray(at, end)), end);
  return bytes;
}

test.each([
  ["that is whole", twoTiles(0), 2],
  ["whose last row lacks a byte", twoTiles(0, 1), 0],
  ["whose last row has an unknown filter", twoTiles(9), 0],
  ["whose deflated data ends in a wrong checksum", wronglyDeflated(), 0],
])(
  "of a picture %s, with right checksums of its chunks, a user's miss stores and reports all tiles or none",
  async (_, bytes, count) => {
    await using store = createMemoryStore();
    const [subset] = plain.gridSubsets;
    if (subset === undefined) throw new Error("no grid subset");
    const tileSet = { layer: plain.name, gridSet: subset.gridSet.id, format: "image/png", parametersId: "" };
    const source: Source = { render: async () => ({ kind: "encoded", bytes }), async [Symbol.asyncDispose]() {} };
    const reported: string[] = [];
    const report = ({ written, tiles }: EarlyTiles): void =>
      void reported.push(...new Set([...written, ...tiles].map(({ x, y }) => `${x}/${y}`)));
    const done = renderMetatile(
      { tileSet, parameters: {}, rect: ROW, wanted: null },
      {
        ...{ layer: plain, subset, format: formatNamed("image/png"), source, store, ...undisturbed },
        user: () => ({ missed: { x: 0, y: 0, z: 0 }, report }),
      },
      new AbortController().signal,
    );
    const outcome = await done.then(
      () => "rendered",
      (error: unknown) => (error instanceof SourceError ? error.failure : "another error"),
    );
    const isStored = [0, 1].filter((x) => store.get({ tileSet, x, y: 0, z: 0 }) !== undefined);
    expect([outcome, reported.length, isStored.length]).toEqual([count === 0 ? "truncated" : "rendered", count, count]);
  },
);
