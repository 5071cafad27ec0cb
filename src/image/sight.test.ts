import sharp from "sharp";
import { expect, test } from "vitest";
import { fingerprintOf } from "./sight.ts";

const plain = (background: string, width = 256) =>
  sharp({ create: { width, height: width, channels: 4, background } })
    .png()
    .toBuffer();
const whole = { left: 0, top: 0, width: 256, height: 256 };

test("a tile of one colour is blank, whatever its format; one with a line is not", async () => {
  const sea = await plain("#aaccff");
  const line = await sharp(sea)
    .composite([
      { input: { create: { width: 200, height: 2, channels: 4, background: "#000000" } }, left: 20, top: 90 },
    ])
    .png()
    .toBuffer();
  const blank = async (bytes: Uint8Array) => (await fingerprintOf(bytes)).blank;
  expect(await Promise.all([sea, await sharp(sea).jpeg().toBuffer(), line].map(blank))).toEqual([true, true, false]);
});

test("a tile is unlike the place above it when its colours are others, not when a line or a label is", async () => {
  const above = await sharp(await plain("#ffffff"))
    .composite([{ input: await plain("#226622", 128), left: 128, top: 0 }])
    .png()
    .toBuffer();
  const unlike = async (bytes: Uint8Array, left: number) =>
    (await fingerprintOf(bytes, { bytes: above, part: { ...whole, left, width: 128, height: 128 } })).unlikeParent;
  const forest = await plain("#226622");
  const path = await sharp(forest)
    .composite([{ input: { create: { width: 240, height: 4, channels: 4, background: "#ffffff" } }, left: 8, top: 90 }])
    .png()
    .toBuffer();
  expect(await unlike(forest, 128)).toBe(false);
  expect(await unlike(path, 128)).toBe(false);
  expect(await unlike(await plain("#ffffff"), 128), "the forest is gone").toBe(true);
  expect(await unlike(await plain("#00000000"), 0), "nothing is as white as the paper").toBe(false);
  expect((await fingerprintOf(forest)).unlikeParent).toBeUndefined();
});
