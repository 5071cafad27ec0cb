import { crc32 } from "node:zlib";
import sharp from "sharp";
import { expect, test } from "vitest";
import { decodePicture } from "./decode.ts";

const size = { width: 16, height: 16 };
const whole = await sharp({ create: { ...size, channels: 3, background: "#123456" } })
  .png()
  .toBuffer();
const OWN_DATA = whole.indexOf("IDAT") - 4;

/** Returns the picture with empty chunks of image data inserted before its first one. */
function withEmptyChunks(count: number): Buffer {
  const empty = Buffer.alloc(12);
  empty.write("IDAT", 4, "latin1");
  empty.writeUInt32BE(crc32(Buffer.from("IDAT")), 8);
  return Buffer.concat([whole.subarray(0, OWN_DATA), Buffer.alloc(12 * count, empty), whole.subarray(OWN_DATA)]);
}

test("a PNG of two million empty chunks is refused after a bounded number of them", async () => {
  const bytes = withEmptyChunks(2_000_000);
  const before = process.memoryUsage().rss;
  await expect(decodePicture(bytes, size)).rejects.toMatchObject({ reason: "too_large" });
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 2 ** 20);
});

test("a PNG of some empty chunks is a picture", async () => {
  expect(await decodePicture(withEmptyChunks(1_000), size)).toMatchObject(size);
});
