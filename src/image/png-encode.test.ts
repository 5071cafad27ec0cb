import fc from "fast-check";
import sharp from "sharp";
import { expect, test } from "vitest";
import { decodePicture } from "./decode.ts";
import { beginPalettePng, encodePng, onThisThread } from "./png-encode.ts";
import { type Cut, pixelsOf, type Raster } from "./raster.ts";

/** Returns the RGBA of a picture as sharp decodes it. Transparent pixels have no colour. */
async function rgba(png: Uint8Array): Promise<number[]> {
  return seen(await sharp(png).ensureAlpha().toColourspace("srgb").raw().toBuffer());
}
function seen(pixels: Uint8Array): number[] {
  const out = [...pixels];
  for (let i = 0; i < out.length; i += 4) if (out[i + 3] === 0) out.fill(0, i, i + 3);
  return out;
}
function cutRgba(raster: Raster, cut: Cut): number[] {
  const out: number[] = [];
  const pixels = pixelsOf(raster, cut);
  for (let at = 0; at < pixels.length; at += raster.channels)
    out.push(...pixels.subarray(at, at + 3), raster.channels === 4 ? (pixels[at + 3] ?? 0) : 255);
  return seen(Uint8Array.from(out));
}

const whole = ({ width, height }: Raster): Cut => ({ left: 0, top: 0, width, height });
const colourType = (png: Uint8Array) => png[25];
const bitDepth = (png: Uint8Array) => png[24];

/** Returns a raster of `colours` colours; each pixel has one of them. */
const rasters = fc
  .record({
    width: fc.integer({ min: 1, max: 24 }),
    height: fc.integer({ min: 1, max: 24 }),
    channels: fc.constantFrom(3 as const, 4 as const),
    colours: fc.constantFrom(1, 2, 3, 4, 5, 16, 17, 256, 1000),
    opaque: fc.boolean(),
    seed: fc.integer(),
  })
  .map(({ width, height, channels, colours, opaque, seed }): Raster => {
    const data = new Uint8Array(width * height * channels);
    for (let i = 0; i < width * height; i++) {
      const colour = Math.imul(Math.imul(i + 1, seed | 1) >>> 3, 0x9e3779b1) >>> 0;
      const picked = Math.imul((colour % colours) + 1, 0x85ebca6b) >>> 0;
      for (let c = 0; c < channels; c++) data[i * channels + c] = c === 3 && opaque ? 255 : picked >>> (c * 8);
    }
    return { width, height, channels, data };
  });

test("an encoded PNG is read back by sharp and by our own decoder, pixel by pixel", async () => {
  await fc.assert(
    fc.asyncProperty(rasters, async (raster) => {
      const png = encodePng(raster, whole(raster));
      const expected = cutRgba(raster, whole(raster));
      expect(await rgba(png)).toEqual(expected);
      const decoded = await decodePicture(png, raster);
      expect(cutRgba(decoded, whole(decoded))).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});

test("a cut holds its part of the raster", async () => {
  await fc.assert(
    fc.asyncProperty(rasters, fc.nat(), fc.nat(), async (raster, a, b) => {
      const left = a % raster.width;
      const top = b % raster.height;
      const cut = { left, top, width: raster.width - left, height: raster.height - top };
      expect(await rgba(encodePng(raster, cut))).toEqual(cutRgba(raster, cut));
    }),
    { numRuns: 60 },
  );
});

/** Returns a raster of `count` colours, one pixel each, and one more pixel of the last colour. */
function raster(count: number, channels: 3 | 4 = 3, alpha = 255): Raster {
  const width = count + 1;
  const data = new Uint8Array(width * channels);
  for (let i = 0; i < width; i++) {
    const n = Math.min(i, count - 1);
    data.set([n & 255, n >>> 8, 7, ...(channels === 4 ? [alpha] : [])], i * channels);
  }
  return { width, height: 1, channels, data };
}

test.each([
  [2, 1],
  [3, 2],
  [4, 2],
  [5, 4],
  [16, 4],
  [17, 8],
  [256, 8],
])("a tile of %i colours has a palette of %i bits per pixel", async (count, depth) => {
  const png = encodePng(raster(count), whole(raster(count)));
  expect([colourType(png), bitDepth(png)]).toEqual([3, depth]);
  expect(await rgba(png)).toEqual(cutRgba(raster(count), whole(raster(count))));
});

test("257 colours are true colour, without alpha when none is needed", () => {
  expect(onThisThread((rows) => beginPalettePng(raster(257), whole(raster(257)), "fast", rows))).toBeUndefined();
  expect(colourType(encodePng(raster(257), whole(raster(257))))).toBe(2);
  expect(colourType(encodePng(raster(257, 4), whole(raster(257))))).toBe(2);
  expect(colourType(encodePng(raster(257, 4, 128), whole(raster(257))))).toBe(6);
});

test("tiles of one colour share their bytes, those of another size or colour do not", () => {
  const of = (value: number, width: number): Uint8Array =>
    encodePng(
      { width, height: 8, channels: 4, data: new Uint8Array(width * 8 * 4).fill(value) },
      { left: 0, top: 0, width, height: 8 },
    );
  expect(of(255, 8)).toBe(of(255, 8));
  expect(of(255, 8)).not.toEqual(of(254, 8));
  expect(of(255, 8)).not.toEqual(of(255, 9));
  // A raster of three channels and the same colour gives the same tile.
  const rgb = { width: 8, height: 8, channels: 3 as const, data: new Uint8Array(8 * 8 * 3).fill(255) };
  expect(encodePng(rgb, whole(rgb))).toBe(of(255, 8));
});

test("small is smaller than fast, pixel by pixel the same, and another tile of one colour", async () => {
  const size = 64;
  const data = new Uint8Array(size * size * 3).map((_, i) =>
    Math.round(127 + 120 * Math.sin(i / 97) * Math.cos(i / 7919)),
  );
  const raster: Raster = { width: size, height: size, channels: 3, data };
  const [fast, small] = [encodePng(raster, whole(raster), "fast"), encodePng(raster, whole(raster), "small")];
  expect(small.byteLength).toBeLessThan(fast.byteLength);
  expect(await rgba(small)).toEqual(await rgba(fast));
});
