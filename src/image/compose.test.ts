import { expect, test } from "vitest";
import { DEFAULT_ENCODING } from "../layer/encoding.ts";
import { formatOf } from "../layer/format.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { type Composition, composePicture } from "./compose.ts";
import { decodePicture } from "./decode.ts";
import { encodePng } from "./png-encode.ts";
import { pixelsOf, type Raster } from "./raster.ts";

const png = formatOf("image/png");
if (png?.kind !== "image") throw new Error("there is PNG");

/** Returns a tile of 16 x 16 pixels. The colour of each pixel is its position in the world: red is x, green is y. */
function tile(originX: number, originY: number): { readonly bytes: Uint8Array; readonly raster: Raster } {
  const data = new Uint8Array(16 * 16 * 3);
  for (let y = 0; y < 16; y++) {
    for (let x = 0; x < 16; x++) data.set([originX + x, originY + y, 7], (y * 16 + x) * 3);
  }
  const raster: Raster = { width: 16, height: 16, channels: 3, data };
  return { raster, bytes: encodePng(raster, { left: 0, top: 0, width: 16, height: 16 }) };
}

type Wanted = Pick<Composition, "tiles" | "windowWidth" | "windowHeight" | "width" | "height"> & Partial<Composition>;

/** Composes a picture of tiles made by `tile`. */
const pictureOf = async (wanted: Wanted): Promise<Uint8Array> => {
  const composed = await composePicture(
    machineClock,
    {
      tileWidth: 16,
      tileHeight: 16,
      cut: undefined,
      format: png,
      ...DEFAULT_ENCODING,
      ...wanted,
    },
    new AbortController().signal,
  );
  if (composed.kind !== "picture") throw new Error(composed.message);
  return composed.bytes;
};

test("a window over the corner of four tiles holds each pixel where it belongs", async () => {
  const tiles = [0, 16].flatMap((y) => [0, 16].map((x) => ({ left: x - 5, top: y - 9, bytes: tile(x, y).bytes })));
  const size = { width: 20, height: 12 };
  const bytes = await pictureOf({
    tiles,
    windowWidth: 20,
    windowHeight: 12,
    ...size,
  });
  const raster = await decodePicture(bytes, size);
  const { channels } = raster;
  const data = pixelsOf(raster);
  for (let y = 0; y < 12; y++)
    for (let x = 0; x < 20; x++)
      expect([...data.subarray((y * 20 + x) * channels, (y * 20 + x) * channels + 3)]).toEqual([x + 5, y + 9, 7]);
});

test("what no tile covers is transparent, also after resampling", async () => {
  const size = { width: 8, height: 4 };
  const bytes = await pictureOf({
    tiles: [{ left: 16, top: 0, bytes: tile(0, 0).bytes }],
    windowWidth: 32,
    windowHeight: 16,
    ...size,
  });
  const raster = await decodePicture(bytes, size);
  const { channels } = raster;
  const data = pixelsOf(raster);
  expect(channels).toBe(4);
  expect(data[3]).toBe(0);
  expect(data[(8 - 1) * 4 + 3]).toBe(255);
});

test("a tile of another size is reported", async () => {
  const composed = await composePicture(
    machineClock,
    {
      tiles: [{ left: 0, top: 0, bytes: tile(0, 0).bytes }],
      tileWidth: 256,
      tileHeight: 256,
      windowWidth: 256,
      windowHeight: 256,
      cut: undefined,
      width: 256,
      height: 256,
      format: png,
      ...DEFAULT_ENCODING,
    },
    new AbortController().signal,
  );
  expect(composed).toMatchObject({ kind: "damaged", tile: 0, message: expect.stringContaining("256") });
});

test("a part of a few pixels is enlarged from where it lies, to parts of a pixel", async () => {
  const size = { width: 40, height: 20 };
  const bytes = await pictureOf({
    tiles: [{ left: 0, top: 0, bytes: tile(100, 50).bytes }],
    windowWidth: 4,
    windowHeight: 2,
    cut: { left: 1.25, top: 0.5, width: 2, height: 1 },
    ...size,
  });
  const raster = await decodePicture(bytes, size);
  const { channels } = raster;
  const data = pixelsOf(raster);
  // A pixel has the colour at its centre: 20 pixels of the picture show one pixel of the window.
  for (const [x, y] of [
    [0, 0],
    [7, 3],
    [39, 19],
  ] as const) {
    const [red, green] = data.subarray((y * 40 + x) * channels);
    expect([red, green]).toEqual([Math.round(100 + 1.25 + (x + 0.5) / 20 - 0.5), Math.round(50 + (y + 0.5) / 20)]);
  }
});

test("a map whose client has left ends between two of its tiles", async () => {
  const gone = new AbortController();
  const bytes = tile(0, 0).bytes;
  const tiles = Array.from({ length: 1_000 }, () => ({
    left: 0,
    top: 0,
    get bytes() {
      decoded++;
      if (decoded === 3) gone.abort(new Error("gone"));
      return bytes;
    },
  }));
  let decoded = 0;
  const size = { tileWidth: 16, tileHeight: 16, windowWidth: 16, windowHeight: 16, width: 16, height: 16 };
  const composed = composePicture(
    machineClock,
    { tiles, ...size, cut: undefined, format: png, ...DEFAULT_ENCODING },
    gone.signal,
  );
  await expect(composed).rejects.toThrow("gone");
  expect(decoded).toBe(3);
});

test("a background is under the tiles: where there are none, and where they are transparent", async () => {
  const size = { width: 32, height: 16 };
  const half: Raster = { width: 16, height: 16, channels: 4, data: new Uint8Array(16 * 16 * 4).fill(128) };
  const bytes = encodePng(half, { left: 0, top: 0, width: 16, height: 16 });
  const picture = await pictureOf({
    tiles: [{ left: 0, top: 0, bytes }],
    windowWidth: 32,
    windowHeight: 16,
    ...size,
    background: [255, 0, 10],
  });
  const raster = await decodePicture(picture, size);
  expect([...pixelsOf(raster, { left: 0, top: 0, width: 1, height: 1 })].slice(0, 3)).toEqual([191, 64, 69]);
  expect([...pixelsOf(raster, { left: 31, top: 0, width: 1, height: 1 })].slice(0, 3)).toEqual([255, 0, 10]);
});
