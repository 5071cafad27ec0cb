import fc from "fast-check";
import sharp from "sharp";
import { expect, test } from "vitest";
import { contentTypeOf, formatNames, formatOf, type ImageFormat } from "../layer/format.ts";
import { DEFAULT_ENCODING } from "../layer/picture/encoding.ts";
import { decodePicture } from "./decode.ts";
import { encodeTiles } from "./encode.ts";
import type { PictureError } from "./picture-error.ts";
import type { Cut, Raster } from "./raster.ts";

const png = formatOf("image/png");
if (png?.kind !== "image") throw new Error("image/png");

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

test("a picture is accepted only if it is complete and has the requested size", async () => {
  const noise = Buffer.from(Array.from({ length: 64 * 64 * 3 }, (_, i) => Math.imul(i, 2654435761) >>> 24));
  const make = () => sharp(noise, { raw: { width: 64, height: 64, channels: 3 } });
  for (const bytes of [
    await make().png().toBuffer(),
    await make().png({ adaptiveFiltering: true }).toBuffer(),
    await make().jpeg().toBuffer(),
    await make().webp().toBuffer(),
    await make().avif({ effort: 0 }).toBuffer(),
  ]) {
    expect(await reasonOf(bytes)).toBe("whole");
    expect(await reasonOf(bytes.subarray(0, bytes.length >> 1))).toBe("truncated");
    expect(await reasonOf(bytes, 64, 65)).toBe("wrong_size");
  }
  expect(await reasonOf(Buffer.from("<xml/>"))).toBe("not_a_picture");
});

const format = (mimeType: string): ImageFormat => {
  const found = formatOf(mimeType);
  if (found?.kind !== "image") throw new Error(mimeType);
  return found;
};

/** The left half is a gradient of many colours, the right half is transparent. */
const half: Raster = (() => {
  const data = new Uint8Array(64 * 32 * 4);
  for (let y = 0; y < 32; y++)
    for (let x = 0; x < 32; x++) data.set([x * 8, y * 8, (x * y) & 255, 255], (y * 64 + x) * 4);
  return { width: 64, height: 32, channels: 4, data };
})();
const bytesOf = (tile: Uint8Array): string => Buffer.from(tile).toString("base64");
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
  ["image/avif", "heif"],
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

test.each(["image/png", "image/png8", "image/jpeg", "image/webp", "image/vnd.jpeg-png"])(
  "%s is the same in haste, in the order of the cuts",
  async (mimeType) => {
    const many = [...cuts, { left: 8, top: 0, width: 16, height: 32 }, ...cuts.toReversed()];
    const hasty = await encodeTiles(half, many, format(mimeType), DEFAULT_ENCODING, true);
    expect(hasty.map(bytesOf)).toEqual((await encodeTiles(half, many, format(mimeType))).map(bytesOf));
  },
);

test.each(["image/png", "image/jpeg", "image/webp"])(
  "%s tiles of one colour are encoded once, in haste too",
  async (mimeType) => {
    const data = new Uint8Array(64 * 32 * 3).fill(7);
    const sea: Raster = { width: 64, height: 32, channels: 3, data };
    const [left, right] = await encodeTiles(sea, cuts, format(mimeType), DEFAULT_ENCODING, true);
    expect(right).toBe(left);
    expect((await encodeTiles(sea, cuts, format(mimeType)))[1]).toBe(left);
  },
);

/** Returns the colours of an indexed PNG (PNG 1.2, 4.1.2). Fails for any other PNG. */
function paletteOf(tile: Uint8Array): number {
  expect(tile[25], "the colour type").toBe(3);
  const bytes = Buffer.from(tile);
  return bytes.readUInt32BE(bytes.indexOf("PLTE") - 4) / 3;
}

const pixelsOf = async (tile: Uint8Array): Promise<Buffer> => sharp(tile).ensureAlpha().raw().toBuffer();

test("png8 holds every pixel exactly while a tile has at most 256 colours, opaque or not", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 256 }),
      fc.constantFrom("opaque", "translucent"),
      async (colours, kind) => {
        const data = Uint8Array.from({ length: 32 * 32 * 4 }, (_, i) => {
          const colour = (i >> 2) % colours;
          if (i % 4 === 3) return kind === "opaque" ? 255 : 255 - (colour % 200);
          return (colour >> ((i % 4) * 2)) ^ colour;
        });
        const cut = { left: 0, top: 0, width: 32, height: 32 };
        const raster: Raster = { width: 32, height: 32, channels: 4, data };
        const [tile = new Uint8Array()] = await encodeTiles(raster, [cut], format("image/png8"));
        expect(paletteOf(tile)).toBeLessThanOrEqual(256);
        expect((await pixelsOf(tile)).equals(Buffer.from(data))).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
});

test("png8 of more than 256 colours is quantised: a palette, near to the picture", async () => {
  for (const colours of [257, 1024]) {
    const data = Uint8Array.from({ length: 32 * 32 * 4 }, (_, i) => {
      const colour = (i >> 2) % colours;
      return [(colour & 31) * 8, (colour >> 5) * 8, 128, 255][i % 4] ?? 0;
    });
    const raster: Raster = { width: 32, height: 32, channels: 4, data };
    const cut = { left: 0, top: 0, width: 32, height: 32 };
    const [tile = new Uint8Array()] = await encodeTiles(raster, [cut], format("image/png8"));
    expect(paletteOf(tile)).toBeLessThanOrEqual(256);
    const got = await pixelsOf(tile);
    const off = got.reduce((sum, value, i) => sum + Math.abs(value - (data[i] ?? 0)), 0) / got.length;
    expect(off).toBeGreaterThan(0);
    expect(off).toBeLessThan(6);
  }
});

test.each([
  ["image/vnd.jpeg-png", 6],
  ["image/vnd.jpeg-png8", 3],
])("%s is JPEG where every pixel is opaque, else the PNG of its kind", async (mimeType, colourType) => {
  const cut = { left: 0, top: 0, width: 32, height: 32 };
  const tileOf = async (raster: Raster): Promise<Uint8Array> => {
    const [tile = new Uint8Array()] = await encodeTiles(raster, [cut], format(mimeType));
    return tile;
  };
  const [left, right] = await encodeTiles(half, cuts, format(mimeType));
  expect(await Promise.all([left, right].map(async (tile) => (await sharp(tile).metadata()).format))).toEqual([
    "jpeg",
    "png",
  ]);
  const rgb: Raster = { width: 32, height: 32, channels: 3, data: new Uint8Array(32 * 32 * 3) };
  expect((await sharp(await tileOf(rgb)).metadata()).format, "no alpha at all").toBe("jpeg");
  // One pixel is not quite opaque, at any position.
  for (const at of [0, 32 * 32 - 1]) {
    const data = new Uint8Array(half.data.length);
    for (let y = 0; y < 32; y++) data.set(half.data.subarray(y * 256, y * 256 + 128), y * 128);
    data[at * 4 + 3] = 254;
    const tile = await tileOf({ width: 32, height: 32, channels: 4, data: data.subarray(0, 32 * 32 * 4) });
    expect(tile[25]).toBe(colourType);
  }
});

test("the Content-Type of a tile is that of its bytes, for every picture", async () => {
  for (const mimeType of formatNames.filter((name) => formatOf(name)?.kind === "image")) {
    for (const tile of await encodeTiles(half, cuts, format(mimeType))) {
      const { format: kind, compression } = await sharp(tile).metadata();
      const found = kind === "heif" ? (compression === "av1" ? "avif" : kind) : kind;
      expect(contentTypeOf(format(mimeType), tile), mimeType).toBe(`image/${found}`);
    }
  }
});

test("the quality of JPEG tiles is the layer's, of hybrids too, and of nothing else", async () => {
  const sizes = async (mimeType: string, jpegQuality = DEFAULT_ENCODING.jpegQuality): Promise<number> =>
    (await encodeTiles(half, cuts.slice(0, 1), format(mimeType), { ...DEFAULT_ENCODING, jpegQuality }))[0]
      ?.byteLength ?? 0;
  for (const mimeType of ["image/jpeg", "image/vnd.jpeg-png", "image/vnd.jpeg-png8"]) {
    expect(await sizes(mimeType, 20)).toBeLessThan(await sizes(mimeType, 95));
    expect(await sizes(mimeType), "85 is the default").toBe(await sizes(mimeType, 85));
  }
  for (const mimeType of ["image/webp", "image/png8", "image/avif"])
    expect(await sizes(mimeType, 20)).toBe(await sizes(mimeType, 95));
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

test("transparent pixels become white in a JPEG", async () => {
  const [, right = new Uint8Array()] = await encodeTiles(half, cuts, format("image/jpeg"));
  const { channels } = await sharp(right).metadata();
  expect(channels).toBe(3);
  expect(new Set(await sharp(right).raw().toBuffer())).toEqual(new Set([255]));
});

test("tiles of one colour are encoded once, per format, quality and size", async () => {
  const plain = (width: number, red: number): Raster => ({
    width,
    height: 32,
    channels: 3,
    data: new Uint8Array(width * 32 * 3).map((_, i) => (i % 3 === 0 ? red : 90)),
  });
  const whole = (raster: Raster): Cut => ({ left: 0, top: 0, width: raster.width, height: raster.height });
  const tile = async (
    raster: Raster,
    mimeType: string,
    jpegQuality = DEFAULT_ENCODING.jpegQuality,
  ): Promise<Uint8Array | undefined> =>
    (await encodeTiles(raster, [whole(raster)], format(mimeType), { ...DEFAULT_ENCODING, jpegQuality }))[0];
  for (const mimeType of ["image/png", "image/png8", "image/jpeg", "image/webp"]) {
    const first = await tile(plain(32, 7), mimeType);
    expect(await tile(plain(32, 7), mimeType), mimeType).toBe(first);
    expect(await tile(plain(32, 8), mimeType), "another colour").not.toEqual(first);
    expect(await tile(plain(16, 7), mimeType), "another size").not.toEqual(first);
  }
  expect(await tile(plain(32, 7), "image/jpeg", 20)).not.toEqual(await tile(plain(32, 7), "image/jpeg", 90));
  const spotted = plain(32, 7);
  spotted.data[32 * 32 * 3 - 1] = 91;
  expect(await tile(spotted, "image/webp"), "all but one pixel").not.toBe(await tile(plain(32, 7), "image/webp"));
});
