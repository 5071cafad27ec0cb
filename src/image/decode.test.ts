import { crc32, deflateSync } from "node:zlib";
import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, test } from "vitest";

import { decodePicture, provePicture } from "./decode.ts";
import { PictureError } from "./picture-error.ts";
import { pixelsOf } from "./raster.ts";

const WIDTH = 96;
const HEIGHT = 64;
const size = { width: WIDTH, height: HEIGHT };

/** A smooth picture, so that lossy formats stay close to it. */
const rgb = Buffer.alloc(WIDTH * HEIGHT * 3);
for (let i = 0; i < WIDTH * HEIGHT; i++)
  rgb.set([(i % WIDTH) * 2, Math.floor(i / WIDTH) * 3, ((i % WIDTH) + Math.floor(i / WIDTH)) & 255], i * 3);
const picture = () => sharp(rgb, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } });

const said = (looking: Promise<unknown>): Promise<string> =>
  looking.then(
    () => "decoded",
    (error: unknown) => {
      if (error instanceof PictureError) return error.reason;
      throw error;
    },
  );

/** Calls `provePicture` and turns a synchronous error into a rejection. */
const prove = async (...picture: Parameters<typeof provePicture>): Promise<void> => provePicture(...picture);

/** Returns the outcome of decoding. Checks that `provePicture` has the same outcome. */
async function reasonOf(bytes: Uint8Array, expected = size): Promise<string> {
  const reason = await said(decodePicture(bytes, expected));
  expect(await said(prove(bytes, expected))).toBe(reason);
  return reason;
}

function chunk(type: string, body: Uint8Array): Buffer {
  const out = Buffer.alloc(12 + body.byteLength);
  out.writeUInt32BE(body.byteLength, 0);
  out.write(type, 4, "latin1");
  out.set(body, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + body.byteLength)), 8 + body.byteLength);
  return out;
}

/** Returns a PNG assembled from parts, which may be invalid. */
function png(parts: {
  width?: number;
  height?: number;
  depth?: number;
  colour?: number;
  deflated: Uint8Array;
  palette?: Uint8Array;
}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(parts.width ?? WIDTH, 0);
  header.writeUInt32BE(parts.height ?? HEIGHT, 4);
  header.set([parts.depth ?? 8, parts.colour ?? 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    ...(parts.palette === undefined ? [] : [chunk("PLTE", parts.palette)]),
    chunk("IDAT", parts.deflated),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

const kinds: readonly (readonly [string, () => Promise<Buffer>])[] = [
  ["PNG without row filters", () => picture().png({ adaptiveFiltering: false }).toBuffer()],
  ["PNG with row filters", () => picture().png({ adaptiveFiltering: true }).toBuffer()],
  ["interlaced PNG", () => picture().png({ progressive: true }).toBuffer()],
  ["PNG with a palette", () => picture().png({ palette: true, colours: 200 }).toBuffer()],
  ["PNG with a palette of few colours", () => picture().png({ palette: true, colours: 64, effort: 1 }).toBuffer()],
  ["JPEG", () => picture().jpeg({ quality: 95 }).toBuffer()],
  ["progressive JPEG", () => picture().jpeg({ quality: 95, progressive: true }).toBuffer()],
  ["WebP", () => picture().webp({ quality: 95 }).toBuffer()],
  ["lossless WebP", () => picture().webp({ lossless: true }).toBuffer()],
  ["GIF", () => picture().gif().toBuffer()],
];

describe.each(kinds)("a %s", (_, make) => {
  test("is decoded to its pixels", async () => {
    const raster = await decodePicture(await make(), size);
    const pixels = pixelsOf(raster);
    expect([raster.width, raster.height, pixels.byteLength]).toEqual([WIDTH, HEIGHT, WIDTH * HEIGHT * raster.channels]);
    let worst = 0;
    for (let i = 0; i < WIDTH * HEIGHT; i++)
      for (let c = 0; c < 3; c++)
        worst = Math.max(worst, Math.abs((pixels[i * raster.channels + c] ?? 0) - (rgb[i * 3 + c] ?? 0)));
    expect(worst).toBeLessThan(40);
  });

  test("is proved whole without its pixels", async () => {
    await expect(prove(await make(), size)).resolves.toBeUndefined();
  });

  test("that is cut off anywhere is an error, never a picture", async () => {
    const bytes = await make();
    for (const share of [0.2, 0.5, 0.8, 0.95, 0.99]) {
      const reason = await reasonOf(bytes.subarray(0, Math.floor(bytes.byteLength * share)));
      expect(`${share} ${reason}`).toBe(`${share} truncated`);
    }
  });

  test("of another size is reported with its size", async () => {
    expect(await reasonOf(await make(), { width: WIDTH, height: HEIGHT + 1 })).toBe("wrong_size");
    await expect(decodePicture(await make(), { width: 256, height: 256 })).rejects.toThrow(
      "the picture is 96 x 64, requested was 256 x 256",
    );
  });
});

test("grey, grey with alpha, 16 bits and a palette with transparency become RGB or RGBA", async () => {
  const grey = await decodePicture(await picture().greyscale().png().toBuffer(), size);
  expect(grey.channels).toBe(3);
  const greyAlpha = await decodePicture(await picture().greyscale().ensureAlpha(0.5).png().toBuffer(), size);
  expect([greyAlpha.channels, pixelsOf(greyAlpha)[3]]).toEqual([4, 127]);
  const deep = await decodePicture(await picture().toColourspace("rgb16").png().toBuffer(), size);
  expect([deep.channels, pixelsOf(deep).byteLength]).toEqual([3, rgb.byteLength]);
  const palette = await decodePicture(await picture().ensureAlpha(0.5).png({ palette: true }).toBuffer(), size);
  expect([palette.channels, pixelsOf(palette)[3]]).toEqual([4, 127]);
});

test("bytes that are not a picture are reported as such", async () => {
  for (const text of ["", "<ServiceException/>", "GIF", "\xff", "RIFF1234WAVE"])
    expect(await reasonOf(Buffer.from(text, "latin1"))).toBe("not_a_picture");
});

test("a PNG without its last chunk is truncated, though all its pixels are there", async () => {
  const bytes = await picture().png({ adaptiveFiltering: false }).toBuffer();
  expect(await reasonOf(bytes.subarray(0, bytes.byteLength - 12))).toBe("truncated");
});

test("a PNG with too few rows is truncated", async () => {
  const rows = Buffer.alloc((WIDTH * 3 + 1) * (HEIGHT - 1));
  expect(await reasonOf(png({ deflated: deflateSync(rows) }))).toBe("truncated");
});

test("a PNG with more rows than it says, or far more, is too large, and the next one is proved again", async () => {
  const good = png({ deflated: deflateSync(Buffer.alloc((WIDTH * 3 + 1) * HEIGHT)) });
  for (const times of [2, 100]) {
    const bomb = png({ deflated: deflateSync(Buffer.alloc((WIDTH * 3 + 1) * HEIGHT * times)) });
    expect(await reasonOf(bomb)).toBe("too_large");
    expect(await reasonOf(good)).toBe("decoded");
  }
});

test("a PNG with pixels that do not inflate is truncated, and the next one is proved again", async () => {
  const deflated = deflateSync(Buffer.alloc((WIDTH * 3 + 1) * HEIGHT));
  const wrongSum = Buffer.from(deflated);
  wrongSum[deflated.byteLength - 1] = (wrongSum[deflated.byteLength - 1] ?? 0) ^ 1;
  for (const bad of [Buffer.from("no zlib at all"), wrongSum, deflated.subarray(0, -4), Buffer.alloc(0)]) {
    expect(await reasonOf(png({ deflated: bad }))).toBe("truncated");
    expect(await reasonOf(png({ deflated }))).toBe("decoded");
  }
});

test("a PNG with a row filter that there is not is truncated", async () => {
  const rows = Buffer.alloc((WIDTH * 3 + 1) * HEIGHT);
  rows[(WIDTH * 3 + 1) * 7] = 5;
  expect(await reasonOf(png({ deflated: deflateSync(rows) }))).toBe("truncated");
});

test("a palette that lacks a colour is an error", async () => {
  const rows = Buffer.alloc((WIDTH + 1) * HEIGHT);
  rows[5] = 2;
  const palette = Uint8Array.of(1, 2, 3, 4, 5, 6);
  expect(await reasonOf(png({ colour: 3, palette, deflated: deflateSync(rows) }))).toBe("truncated");
});

describe("a PNG that passes through is what every reader takes: ", () => {
  const deflated = deflateSync(Buffer.alloc((WIDTH * 3 + 1) * HEIGHT));
  const good = png({ deflated });
  const [header, rest] = [good.subarray(8, 33), good.subarray(33)];
  const signature = good.subarray(0, 8);
  const half = Math.floor(deflated.byteLength / 2);
  const end = chunk("IEND", new Uint8Array(0));
  const wrongSum = Buffer.from(good);
  wrongSum[good.byteLength - 13] = (wrongSum[good.byteLength - 13] ?? 0) ^ 1;
  const method = Buffer.from(header.subarray(8, 21));
  method[10] = 1;

  test.each([
    ["a wrong checksum of its pixels", wrongSum],
    ["a second header", Buffer.concat([signature, header, header, rest])],
    ["a header behind the pixels", Buffer.concat([signature, chunk("IDAT", deflated), header, end])],
    ["another compression", Buffer.concat([signature, chunk("IHDR", method), rest])],
    ["a critical chunk that nobody knows", Buffer.concat([signature, header, chunk("ABCD", Buffer.alloc(3)), rest])],
    [
      "something between its pixels",
      Buffer.concat([
        signature,
        header,
        chunk("IDAT", deflated.subarray(0, half)),
        chunk("tEXt", Buffer.from("a\0b")),
        chunk("IDAT", deflated.subarray(half)),
        end,
      ]),
    ],
    [
      "a palette of a colour and a third",
      png({ colour: 3, palette: Buffer.alloc(4), deflated: deflateSync(Buffer.alloc((WIDTH + 1) * HEIGHT)) }),
    ],
    [
      "a palette of 300 colours",
      png({ colour: 3, palette: Buffer.alloc(900), deflated: deflateSync(Buffer.alloc((WIDTH + 1) * HEIGHT)) }),
    ],
  ])("one with %s is not", async (_, bytes) => {
    expect(await reasonOf(bytes)).toBe("truncated");
  });

  test("pixels in several chunks, and words before and after them, are", async () => {
    const words = chunk("tEXt", Buffer.from("a\0b"));
    const parts = [chunk("IDAT", deflated.subarray(0, half)), chunk("IDAT", deflated.subarray(half))];
    expect(await reasonOf(Buffer.concat([signature, header, words, ...parts, words, end]))).toBe("decoded");
  });
});

/** Returns a PNG whose first chunk after the header has a wrong checksum. */
function withWrongSum(whole: Buffer, type: string): Buffer {
  const wrong = chunk(type, Buffer.from("a\0b"));
  wrong[wrong.byteLength - 1] = (wrong[wrong.byteLength - 1] ?? 0) ^ 1;
  return Buffer.concat([whole.subarray(0, 33), wrong, whole.subarray(33)]);
}

test.each([false, true])(
  "a wrong checksum of an ancillary chunk leaves the picture whole (filters: %s)",
  async (adaptiveFiltering) => {
    const whole = await picture().png({ adaptiveFiltering }).toBuffer();
    const { data } = await decodePicture(whole, size);
    for (const type of ["tEXt", "zTXt", "tIME", "pHYs", "gAMA", "abCd"]) {
      const wrong = withWrongSum(whole, type);
      expect([type, Buffer.from((await decodePicture(wrong, size)).data).equals(data)]).toEqual([type, true]);
      await expect(prove(wrong, size)).resolves.toBeUndefined();
    }
    for (const type of ["ABCd", "PLTE", "tRNS"]) expect(await reasonOf(withWrongSum(whole, type))).toBe("truncated");
  },
);

describe.each([1, 2, 4, 8] as const)("a PNG with %i bits a pixel", (depth) => {
  /** With this width the last byte of a row is only partly used. */
  const odd = { width: 93, height: 64 };
  const stride = Math.ceil((odd.width * depth) / 8) + 1;
  const indexed = (rows: Uint8Array, colours: number): Buffer =>
    png({ ...odd, depth, colour: 3, palette: Buffer.alloc(colours * 3, 7), deflated: deflateSync(rows) });
  const highest = 2 ** depth - 1;

  test("of a palette that is shorter than its pixels may ask for is proved where none asks for more", async () => {
    const rows = Buffer.alloc(stride * odd.height);
    expect(await reasonOf(indexed(rows, 1), odd)).toBe("decoded");
    // The first and the last pixel of a row have the index before the highest one.
    for (const x of [0, odd.width - 1])
      rows[stride * 3 + 1 + Math.floor((x * depth) / 8)] = (highest - 1) << (8 - depth - ((x * depth) % 8));
    expect(await reasonOf(indexed(rows, highest), odd)).toBe("decoded");
    expect(await reasonOf(indexed(rows, highest + 1), odd)).toBe("decoded");
  });

  test("with an index that has no colour is what its decoder makes of it", async () => {
    const rows = Buffer.alloc(stride * odd.height);
    rows[stride * 3 + 1] = 0x80;
    expect(await reasonOf(indexed(rows, 1), odd)).toBe(depth === 8 ? "truncated" : "decoded");
  });

  test("whose rows end in bits of no pixel is not judged by them", async () => {
    const rows = Buffer.alloc(stride * odd.height);
    const unused = (stride - 1) * 8 - odd.width * depth;
    rows[stride * 5 - 1] = 2 ** unused - 1;
    expect(await reasonOf(indexed(rows, 1), odd)).toBe("decoded");
  });

  test("of grey needs no palette, and is cut off as any other", async () => {
    const rows = Buffer.alloc(stride * odd.height, 0xff);
    for (let y = 0; y < odd.height; y++) rows[y * stride] = 0;
    expect(await reasonOf(png({ ...odd, depth, colour: 0, deflated: deflateSync(rows) }), odd)).toBe("decoded");
    const short = deflateSync(rows.subarray(stride));
    expect(await reasonOf(png({ ...odd, depth, colour: 0, deflated: short }), odd)).toBe("truncated");
  });

  test("without a palette at all is an error", async () => {
    const deflated = deflateSync(Buffer.alloc(stride * odd.height));
    expect(await reasonOf(png({ ...odd, depth, colour: 3, deflated }), odd)).toBe("truncated");
  });
});

test("a flipped bit anywhere in a PNG never passes as another picture", async () => {
  const good = await picture().png({ adaptiveFiltering: false }).toBuffer();
  const { data } = await decodePicture(good, size);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 8, max: good.byteLength - 1 }), fc.nat(7), async (at, bit) => {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ (1 << bit);
      try {
        const decoded = await decodePicture(bad, size);
        await prove(bad, size);
        // A damaged PNG that is still accepted must decode to the same pixels.
        expect(Buffer.from(decoded.data).equals(data)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(PictureError);
      }
    }),
    { numRuns: 300 },
  );
});

test("random bytes behind a picture's first bytes throw nothing but a PictureError", async () => {
  const heads = ["\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0", "GIF89a", "RIFF\x20\x00\x00\x00WEBP"];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 200 }), async (head, tail) => {
      const failure = decodePicture(Buffer.concat([Buffer.from(head, "latin1"), tail]), size);
      await expect(failure).rejects.toBeInstanceOf(PictureError);
    }),
    { numRuns: 200 },
  );
});

test("a small file that claims to be huge is refused before anything is inflated", async () => {
  const bomb = png({ width: 60_000, height: 60_000, deflated: deflateSync(Buffer.alloc(1000)) });
  expect(await reasonOf(bomb)).toBe("wrong_size");
  const huge = await sharp({ create: { width: 3000, height: 3000, channels: 3, background: "#fff" } })
    .jpeg()
    .toBuffer();
  expect(await reasonOf(huge)).toBe("wrong_size");
});

test("a PNG of the right size that inflates to far more is too large", async () => {
  const bomb = png({ deflated: deflateSync(Buffer.alloc(64 * 1024 * 1024)) });
  expect(bomb.byteLength).toBeLessThan(100_000);
  expect(await reasonOf(bomb)).toBe("too_large");
});

test("a PNG that something else follows is none", async () => {
  const whole = await picture().png().toBuffer();
  expect(await reasonOf(Buffer.concat([whole, Buffer.from("\r\n")]))).toBe("decoded");
  const error = "<html><body>Fatal error: out of memory in /srv/wms/map.php on line 217</body></html>";
  expect(await reasonOf(Buffer.concat([whole, Buffer.from(error)]))).toBe("not_a_picture");
});

test("a TIFF is decoded to its pixels", async () => {
  const pixels = Uint8Array.from({ length: 4 * 3 * 3 }, (_, i) => (i * 7) % 256);
  const tiff = await sharp(pixels, { raw: { width: 4, height: 3, channels: 3 } })
    .tiff({ compression: "lzw" })
    .toBuffer();
  const raster = await decodePicture(tiff, { width: 4, height: 3 });
  expect([raster.width, raster.height, raster.channels]).toEqual([4, 3, 3]);
  expect([...raster.data]).toEqual([...pixels]);
});
