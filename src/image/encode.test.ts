import fc from "fast-check";
import sharp from "sharp";
import { expect, test } from "vitest";
import { formatOf } from "../layer/format.ts";
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
