import fc from "fast-check";
import sharp from "sharp";
import { expect, test } from "vitest";
import { formatOf, type TileFormat } from "../layer/format.ts";
import { decodePicture } from "./decode.ts";
import { encodeTiles } from "./encode.ts";
import type { PictureError } from "./picture-error.ts";
import type { Raster } from "./raster.ts";

const png = formatOf("image/png");
if (png === undefined) throw new Error("image/png");

test("a PNG tile holds exactly the pixels of its cut, whatever the colours, read by another decoder", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        channels: fc.constantFrom(3 as const, 4 as const),
        colours: fc.integer({ min: 1, max: 400 }),
        seed: fc.nat(),
        opaque: fc.boolean(),
      }),
      async ({ channels, colours, seed, opaque }) => {
        const width = 24;
        const height = 20;
        const data = new Uint8Array(width * height * channels);
        for (let i = 0; i < width * height; i++) {
          const colour = (Math.imul(i + seed, 2654435761) >>> 8) % colours;
          data.set([colour & 255, (colour * 7) & 255, (colour >> 3) & 255], i * channels);
          if (channels === 4) data[i * 4 + 3] = opaque ? 255 : 1 + (colour % 255);
        }
        const raster: Raster = { width, height, channels, data };
        const cut = { left: 3, top: 2, width: 17, height: 13 };
        const [tile] = await encodeTiles(raster, [cut], png);
        const theirs = await sharp(tile).ensureAlpha().raw().toBuffer();
        const ours = await sharp(data, { raw: { width, height, channels } })
          .extract(cut)
          .ensureAlpha()
          .raw()
          .toBuffer();
        expect(theirs.equals(ours)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

const reasonOf = async (bytes: Uint8Array, width = 64, height = 64): Promise<string> =>
  decodePicture(bytes, { width, height }).then(
    () => "whole",
    (error: PictureError) => error.reason,
  );

test("a picture is believed only when it is whole and of the size asked for", async () => {
  const noise = Buffer.from(Array.from({ length: 64 * 64 * 3 }, (_, i) => Math.imul(i, 2654435761) >>> 24));
  const make = () => sharp(noise, { raw: { width: 64, height: 64, channels: 3 } });
  for (const bytes of [
    await make().png().toBuffer(),
    await make().png({ adaptiveFiltering: true }).toBuffer(),
    await make().jpeg().toBuffer(),
    await make().webp().toBuffer(),
  ]) {
    expect(await reasonOf(bytes)).toBe("whole");
    expect(await reasonOf(bytes.subarray(0, bytes.length >> 1))).toBe("truncated");
    expect(await reasonOf(bytes, 64, 65)).toBe("wrong_size");
  }
  expect(await reasonOf(Buffer.from("<xml/>"))).toBe("not_a_picture");
});

const format = (mimeType: string): TileFormat => {
  const found = formatOf(mimeType);
  if (found === undefined) throw new Error(mimeType);
  return found;
};

/** Left half: a gradient of many colours; right half: transparent. */
const half: Raster = (() => {
  const data = new Uint8Array(64 * 32 * 4);
  for (let y = 0; y < 32; y++)
    for (let x = 0; x < 32; x++) data.set([x * 8, y * 8, (x * y) & 255, 255], (y * 64 + x) * 4);
  return { width: 64, height: 32, channels: 4, data };
})();
const cuts = [
  { left: 0, top: 0, width: 32, height: 32 },
  { left: 32, top: 0, width: 32, height: 32 },
];

test.each([
  ["image/png", "png"],
  ["image/png24", "png"],
  ["image/png8", "png"],
  ["image/jpeg", "jpeg"],
  ["image/webp", "webp"],
  ["image/gif", "gif"],
])("%s cuts become whole pictures of that kind, in the order of the cuts", async (mimeType, kind) => {
  const tiles = await encodeTiles(half, cuts, format(mimeType));
  const described = await Promise.all(tiles.map((tile) => sharp(tile).metadata()));
  expect(described.map((d) => [d.format, d.width, d.height])).toEqual([
    [kind, 32, 32],
    [kind, 32, 32],
  ]);
  const onWhite = async (tile: Uint8Array): Promise<number[]> => [
    ...(await sharp(tile).flatten({ background: "#ffffff" }).raw().toBuffer()),
  ];
  const [left = [], right = []] = await Promise.all(tiles.map(onWhite));
  expect(left.reduce((sum, value) => sum + value, 0) / left.length).toBeLessThan(140);
  expect(Math.min(...right)).toBeGreaterThan(253);
});

test("png8 is a palette: exact when the colours fit, quantised when not", async () => {
  const [many, one] = await encodeTiles(half, cuts, format("image/png8"));
  expect([many?.[25], one?.[25]]).toEqual([3, 3]);
  const flat: Raster = { width: 4, height: 1, channels: 4, data: Uint8Array.from({ length: 16 }, (_, i) => i * 16) };
  const [exact = new Uint8Array()] = await encodeTiles(
    flat,
    [{ left: 0, top: 0, width: 4, height: 1 }],
    format("image/png8"),
  );
  expect([...(await sharp(exact).raw().toBuffer())]).toEqual([...flat.data]);
});

test("what is transparent becomes white in a JPEG", async () => {
  const [, right = new Uint8Array()] = await encodeTiles(half, cuts, format("image/jpeg"));
  const { channels } = await sharp(right).metadata();
  expect(channels).toBe(3);
  expect(new Set(await sharp(right).raw().toBuffer())).toEqual(new Set([255]));
});
