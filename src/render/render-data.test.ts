import { expect, test } from "vitest";
import { formatNamed, gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { createMemoryStore } from "../../test/support/stores/memory-store.ts";
import type { TileFormat } from "../layer/format.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import { type Layer, metatileFor } from "../layer/layer.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import type { RenderedImage, RenderRequest, Source } from "../source/source.ts";
import type { EarlyTiles } from "./renderer/missed-tile-first.ts";
import { renderMetatile } from "./renderer/render-metatile.ts";

const png = formatNamed("image/png");
const webp = formatNamed("image/webp");
const vector = formatNamed("application/vnd.mapbox-vector-tile");
const subset = gridSubset(gridSetNamed("EPSG:900913"), {});

/** Like a layer in front of a WMS: its pictures have metatiles and a gutter, its vector tiles have neither. */
const layer = layerNamed("a", { gridSubsets: [subset], formats: [png, vector], gutter: 8 });

async function rendered(format: TileFormat, rendering: RenderedImage, of: Layer = layer) {
  const requests: RenderRequest[] = [];
  const source: Source = {
    async render(request) {
      requests.push(request);
      return rendering;
    },
    async [Symbol.asyncDispose]() {},
  };
  const store = createMemoryStore();
  const tileSet = { layer: "a", gridSet: subset.gridSet.id, format: format.mimeType, parametersId: "" };
  const reports: EarlyTiles[] = [];
  const { written } = await renderMetatile(
    { tileSet, parameters: {}, rect: { z: 2, minX: 1, minY: 2, maxX: 1, maxY: 2 }, wanted: null },
    {
      clock: machineClock,
      layer: of,
      subset,
      format,
      source,
      store,
      isCurrent: () => true,
      storing: () => undefined,
      user: () => ({ missed: { x: 1, y: 2, z: 2 }, report: (early) => reports.push(early) }),
      mayStore: () => "store",
      beside: [],
    },
    new AbortController().signal,
  );
  expect(written, "it has been reported").toEqual([]);
  return { request: requests[0], reports, kept: store.get({ tileSet, x: 1, y: 2, z: 2 })?.bytes };
}

test("a vector tile is requested alone and without a gutter, and stored byte by byte", async () => {
  const bytes = Buffer.from([0x1a, 0x05, 0x0a, 0x01, 0x61, 0x78, 0x02]);
  expect(metatileFor(layer, vector.mimeType)).toEqual([1, 1]);
  expect(metatileFor(layer, png.mimeType)).toEqual([4, 4]);
  const { request, reports, kept } = await rendered(vector, { kind: "data", bytes });
  expect(request).toMatchObject({ tile: { x: 1, y: 2, z: 2 }, width: 256, height: 256 });
  expect(reports).toMatchObject([{ tiles: [{ x: 1, y: 2, bytes }], written: [{ x: 1, y: 2, z: 2, bytes: 7 }] }]);
  expect(kept).toEqual(bytes);
});

test("a picture is never stored as a vector tile, nor a vector tile as a picture", async () => {
  const raster = { width: 256, height: 256, channels: 3, data: new Uint8Array(256 * 256 * 3) } as const;
  await expect(rendered(vector, { kind: "raster", raster })).rejects.toMatchObject({ failure: "wrong_type" });
  await expect(rendered(png, { kind: "data", bytes: Buffer.from([0x1a]) })).rejects.toMatchObject({
    failure: "wrong_type",
  });
});

test("a WebP tile of an upstream with single tiles is stored unchanged after a check that it can be decoded", async () => {
  const { default: sharp } = await import("sharp");
  const bytes = await sharp({ create: { width: 256, height: 256, channels: 3, background: "#123456" } })
    .webp({ quality: 20 })
    .toBuffer();
  const single: Layer = { ...layer, formats: [webp], metatile: [1, 1], gutter: 0 };
  expect((await rendered(webp, { kind: "encoded", bytes }, single)).kept).toEqual(bytes);
  const cut = bytes.subarray(0, bytes.length - 40);
  await expect(rendered(webp, { kind: "encoded", bytes: cut }, single)).rejects.toMatchObject({ failure: "truncated" });
});
