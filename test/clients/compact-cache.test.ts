import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { builtInGridSet } from "../../src/grid/built-in.ts";
import { createGridSet } from "../../src/grid/create-grid-set.ts";
import type { GridSet } from "../../src/grid/grid-set.ts";
import { createCompactStore } from "../../src/store/compact/compact-store.ts";

const gdal = { translate: "/usr/bin/gdal_translate", info: "/usr/bin/gdalinfo" };
const hasGdal = existsSync(gdal.translate);
const hasMapProxy = existsSync("/usr/lib/python3/dist-packages/mapproxy/cache/compact.py");
if (!hasGdal || !hasMapProxy)
  console.warn("SKIPPED: the tests of compact stores with other programs need Debian's gdal-bin and python3-mapproxy");

const directory = mkdtempSync(join(tmpdir(), "nuthatch-compact-cache-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A picture of random pixels, so that each tile differs from all others in each row and column. */
function noise(seed: number): Buffer {
  const raw = Buffer.alloc(256 * 256 * 4);
  let state = seed * 2_654_435_761 + 1;
  for (let i = 0; i < raw.length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    raw[i] = i % 4 === 3 ? 255 : state >>> 24;
  }
  return raw;
}
const raw = { raw: { width: 256, height: 256, channels: 4 as const } };

/** Stores a level of noise, and returns its pixels from the upper left corner. */
async function storeLevel(root: string, gridSet: GridSet, z: number): Promise<Buffer> {
  const store = createCompactStore({ root, fsync: false, instance: "test", gridSets: () => gridSet });
  const { matrixWidth: width = 0, matrixHeight: height = 0 } = gridSet.matrices[z] ?? {};
  const whole = Buffer.alloc(width * 256 * height * 256 * 4);
  const tileSet = { layer: "ws:roads", gridSet: gridSet.id, format: "image/png", parametersId: "" };
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const pixels = noise(y * width + x + 1);
      await store.put(
        { tileSet, x, y, z },
        await sharp(pixels, raw).png({ compressionLevel: 0 }).toBuffer(),
        () => true,
      );
      for (let row = 0; row < 256; row++)
        pixels.copy(whole, (((height - 1 - y) * 256 + row) * width + x) * 256 * 4, row * 1024, (row + 1) * 1024);
    }
  await store[Symbol.asyncDispose]();
  return whole;
}

const mercator = builtInGridSet("EPSG:900913");
const created = createGridSet({
  id: "my:small",
  srs: 2163,
  extent: { minX: -1000, minY: 500, maxX: 2072, maxY: 2548 },
  scale: { resolutions: [4, 2, 1] },
});
const small = created.ok ? created.value : undefined;

describe.skipIf(!hasGdal)("GDAL's driver ESRIC", () => {
  test.each([
    ["the world in Mercator", mercator, 3],
    ["a grid set with a corner of its own", small, 2],
  ])("reads a compact store pixel for pixel: %s", async (_, gridSet, z) => {
    if (gridSet === undefined) throw new Error("there is no such grid set");
    const root = join(directory, `gdal-${z}`);
    const stored = await storeLevel(root, gridSet, z);
    const { matrixWidth = 0, matrixHeight = 0 } = gridSet.matrices[z] ?? {};
    const [width, height] = [matrixWidth * 256, matrixHeight * 256];
    const description = join(root, "ws_roads", gridSet.id.replace(":", "_"), "png", "conf.xml");
    const out = join(directory, `${z}.png`);
    const size = ["-outsize", String(width), String(height)];
    execFileSync(gdal.translate, ["-q", "-of", "PNG", ...size, description, out], { timeout: 30_000 });
    const read = await sharp(out, { limitInputPixels: false }).ensureAlpha().raw().toBuffer();
    expect(read.equals(stored)).toBe(true);
    const info = execFileSync(gdal.info, ["-json", description], { encoding: "utf8", timeout: 30_000 });
    const { minX, maxY } = gridSet.extent;
    const { cornerCoordinates } = JSON.parse(info);
    expect(cornerCoordinates.upperLeft[0]).toBeCloseTo(minX, 2);
    expect(cornerCoordinates.upperLeft[1]).toBeCloseTo(maxY, 2);
    expect(info).toContain(gridSet.srs === 2163 ? "US National Atlas" : "Pseudo-Mercator");
  });
});

/** Reads tiles from a cache, or stores one in it. Prints the pixels' checksum of each tile that it has read. */
const MAPPROXY = `
import sys, json, hashlib
from io import BytesIO
from mapproxy.cache.compact import CompactCacheV2
from mapproxy.cache.tile import Tile
from mapproxy.image import ImageSource
from mapproxy.image.opts import ImageOptions
from PIL import Image
directory, action, tiles = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
cache = CompactCacheV2(directory)
for x, y, z in tiles:
    if action == "read":
        tile = Tile((x, y, z))
        print(hashlib.sha1(tile.source.as_image().convert("RGBA").tobytes()).hexdigest() if cache.load_tile(tile) else "absent")
    elif action == "store":
        picture = Image.new("RGBA", (256, 256), (x, y, z, 255))
        cache.store_tile(Tile((x, y, z), source=ImageSource(picture, image_opts=ImageOptions(format="image/png"))))
    else:
        cache.remove_tile(Tile((x, y, z)))
`;

describe.skipIf(!hasMapProxy)("MapProxy's compact cache", () => {
  const z = 3;
  const tileSet = { layer: "ws:roads", gridSet: "EPSG:900913", format: "image/png", parametersId: "" };
  const mapProxy = (
    root: string,
    action: "read" | "store" | "remove",
    tiles: readonly (readonly number[])[],
  ): string[] =>
    execFileSync(
      "/usr/bin/python3",
      ["-c", MAPPROXY, join(root, "ws_roads", "EPSG_900913", "png", "_alllayers"), action, JSON.stringify(tiles)],
      { encoding: "utf8", timeout: 30_000 },
    )
      .trim()
      .split("\n");

  test("reads what Nuthatch stored, and what it stores and removes is read and overwritten by Nuthatch", async () => {
    if (mercator === undefined) throw new Error("there is no such grid set");
    const root = join(directory, "mapproxy");
    await storeLevel(root, mercator, z);
    const store = createCompactStore({ root, fsync: false, instance: "test", gridSets: () => mercator });
    // MapProxy counts rows as the grid of its cache does: from the top with `origin: nw`.
    const rows = [0, 3, 7].flatMap((y) => [0, 5].map((x) => [x, y, z]));
    const expected = rows.map(([x = 0, y = 0]) =>
      createHash("sha1")
        .update(noise((7 - y) * 8 + x + 1))
        .digest("hex"),
    );
    expect(mapProxy(root, "read", rows)).toEqual(expected);

    mapProxy(root, "store", [
      [2, 6, z],
      [9, 9, 4],
    ]);
    mapProxy(root, "remove", [[5, 7, z]]);
    const at = (x: number, row: number, level: number) => ({ tileSet, x, y: 2 ** level - 1 - row, z: level });
    for (const [x, row, level] of [
      [2, 6, z],
      [9, 9, 4],
    ] as const) {
      const read = await sharp(store.get(at(x, row, level))?.bytes)
        .ensureAlpha()
        .raw()
        .toBuffer();
      expect([...read.subarray(0, 4)]).toEqual([x, row, level, 255]);
      expect(store.stat(at(x, row, level))?.modifiedMs).toBeGreaterThan(Date.now() - 60_000);
    }
    expect(store.get(at(5, 7, z))).toBeUndefined();
    expect(store.recount(tileSet, { z, minX: 0, minY: 0, maxX: 7, maxY: 7 }, true)).toHaveLength(63);
    const bytes = store.get(at(2, 6, z))?.bytes ?? new Uint8Array();
    expect(store.confirm(at(2, 6, z), bytes, "keep", () => true)).toBe(true);
    expect(
      store.confirm(at(2, 6, z), bytes, "renew", () => true),
      "it has no place for a time",
    ).toBe(false);
    await store.put(at(2, 6, z), bytes, () => true);
    expect(store.confirm(at(2, 6, z), bytes, "renew", () => true)).toBe(true);
    expect(mapProxy(root, "read", [[2, 6, z]])[0]).toMatch(/^[0-9a-f]{40}$/);
    await store[Symbol.asyncDispose]();
  });
});
