import { expect, test } from "vitest";
import { formatOf } from "../layer/format.ts";
import { DEFAULT_ENCODING } from "../layer/picture/encoding.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { type ComposedLayer, type Composition, composePicture } from "./compose.ts";
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

const LAYER = { tileWidth: 16, tileHeight: 16, cut: undefined, resampling: "bilinear" } as const;

type Wanted = Pick<ComposedLayer, "tiles" | "windowWidth" | "windowHeight"> &
  Partial<ComposedLayer> &
  Pick<Composition, "width" | "height"> &
  Partial<Composition>;

const composed = async (
  composition: Omit<Composition, "format" | keyof typeof DEFAULT_ENCODING>,
): Promise<Uint8Array> => {
  const made = await composePicture(
    machineClock,
    { format: png, ...DEFAULT_ENCODING, ...composition },
    new AbortController().signal,
  );
  if (made.kind !== "picture") throw new Error(made.message);
  return made.bytes;
};

/** Composes a picture of one layer of tiles made by `tile`. */
const pictureOf = ({ width, height, background, ...layer }: Wanted): Promise<Uint8Array> =>
  composed({ layers: [{ ...LAYER, ...layer }], width, height, ...(background === undefined ? {} : { background }) });

/** Returns a tile of 16 x 16 pixels of one colour. */
const plain = (...colour: readonly number[]): Uint8Array => {
  const data = new Uint8Array(16 * 16 * 4);
  for (let at = 0; at < data.length; at += 4) data.set(colour, at);
  return encodePng({ width: 16, height: 16, channels: 4, data }, { left: 0, top: 0, width: 16, height: 16 });
};

const pixelOf = async (bytes: Uint8Array, x: number, y: number, size = { width: 16, height: 16 }) => {
  const raster = await decodePicture(bytes, size);
  return [...pixelsOf(raster, { left: x, top: y, width: 1, height: 1 })];
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

test("a tile of another size is reported, with its layer", async () => {
  const size = { tileWidth: 256, tileHeight: 256, windowWidth: 256, windowHeight: 256, cut: undefined };
  const resampling = "bilinear" as const;
  const made = await composePicture(
    machineClock,
    {
      layers: [
        { tiles: [], ...size, resampling },
        { tiles: [{ left: 0, top: 0, bytes: tile(0, 0).bytes }], ...size, resampling },
      ],
      width: 256,
      height: 256,
      format: png,
      ...DEFAULT_ENCODING,
    },
    new AbortController().signal,
  );
  expect(made).toMatchObject({ kind: "damaged", layer: 1, tile: 0, message: expect.stringContaining("256") });
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
  const made = composePicture(
    machineClock,
    {
      layers: [{ ...LAYER, tiles, windowWidth: 16, windowHeight: 16 }],
      width: 16,
      height: 16,
      format: png,
      ...DEFAULT_ENCODING,
    },
    gone.signal,
  );
  await expect(made).rejects.toThrow("gone");
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

test("layers lie on each other in their order, each with its own resolution", async () => {
  const layer = (bytes: Uint8Array, window: number, left = 0): ComposedLayer => ({
    ...LAYER,
    tiles: [{ left, top: 0, bytes }],
    windowWidth: window,
    windowHeight: window,
    cut: undefined,
  });
  const red = plain(255, 0, 0, 255);
  const half = plain(0, 0, 255, 128);
  const size = { width: 16, height: 16 };
  // The blue layer has a coarser level, and covers only the right half.
  const both = await composed({ layers: [layer(red, 16), layer(half, 8, 4)], ...size });
  expect(await pixelOf(both, 2, 8)).toEqual([255, 0, 0]);
  expect(await pixelOf(both, 14, 8)).toEqual([127, 0, 128]);
  const other = await composed({ layers: [layer(half, 8, 4), layer(red, 16)], ...size });
  expect(await pixelOf(other, 14, 8)).toEqual([255, 0, 0]);
  const thin = await composed({ layers: [layer(plain(0, 255, 0, 64), 16), layer(half, 16)], ...size });
  // 128 + 64 * 127 / 255 is opaque to 160; blue has 128 parts of 160.
  expect(await pixelOf(thin, 8, 8)).toEqual([0, 51, 204, 160]);
  const none = await composed({ layers: [], ...size, background: [1, 2, 3] });
  expect(await pixelOf(none, 8, 8)).toEqual([1, 2, 3]);
});

test("each resampling has its own pixels, enlarged and reduced", async () => {
  const data = new Uint8Array(16 * 16 * 3);
  for (let x = 8; x < 16; x++) for (let y = 0; y < 16; y++) data.fill(255, (y * 16 + x) * 3, (y * 16 + x) * 3 + 3);
  const edge = encodePng({ width: 16, height: 16, channels: 3, data }, { left: 0, top: 0, width: 16, height: 16 });
  const around = async (resampling: ComposedLayer["resampling"]): Promise<readonly (number | undefined)[]> => {
    const picture = await pictureOf({
      tiles: [{ left: 0, top: 0, bytes: edge }],
      windowWidth: 16,
      windowHeight: 16,
      cut: { left: 6, top: 6, width: 4, height: 4 },
      width: 16,
      height: 16,
      resampling,
    });
    const row = Array.from({ length: 16 }, async (_, x) => (await pixelOf(picture, x, 8))[0]);
    return Promise.all(row);
  };
  const nearest = await around("nearest");
  expect(nearest).toEqual([...Array.from({ length: 8 }, () => 0), ...Array.from({ length: 8 }, () => 255)]);
  expect((await around("bilinear")).slice(5, 11)).toEqual(
    [0, 32, 96, 159, 223, 255].map((v) => expect.closeTo(v, -0.5)),
  );
  // Catmull-Rom is steeper than a line, and overshoots, which is cut off.
  const bicubic = await around("bicubic");
  expect(bicubic[6]).toBeLessThan(32);
  expect(bicubic[7]).toBeGreaterThan(64);
  const reduced = async (resampling: ComposedLayer["resampling"]) => {
    const tiles = [{ left: 0, top: 0, bytes: tile(0, 0).bytes }];
    return pixelOf(
      await pictureOf({ tiles, windowWidth: 16, windowHeight: 16, width: 5, height: 5, resampling }),
      1,
      1,
      {
        width: 5,
        height: 5,
      },
    );
  };
  expect((await reduced("nearest")).every(Number.isInteger)).toBe(true);
  expect(await reduced("bilinear")).toEqual([expect.closeTo(4.3, -0.5), expect.closeTo(4.3, -0.5), 7]);
});

test("a text is black on white at the top, in lines that fit, and cut off at the bottom", async () => {
  const size = { width: 120, height: 60 };
  const picture = await composed({
    layers: [],
    ...size,
    text: "Unknown layer: ws:roäds and a_very_long_name_without_any_blank",
  });
  const raster = await decodePicture(picture, size);
  const pixels = pixelsOf(raster);
  const { channels } = raster;
  const dark = (from: number, to: number): number => {
    let count = 0;
    for (let at = from * 120 * channels; at < to * 120 * channels; at += channels)
      if (pixels[at] === 0 && (channels === 3 || pixels[at + 3] === 255)) count++;
    return count;
  };
  expect(dark(4, 15)).toBeGreaterThan(50);
  expect(dark(15, 26)).toBeGreaterThan(50);
  expect(dark(0, 4)).toBe(0);
  const small = await composed({ layers: [], width: 1, height: 1, text: "x" });
  expect(await decodePicture(small, { width: 1, height: 1 })).toMatchObject({ width: 1 });
});
