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
import { inDirectory } from "../support/stores/in-directory.ts";
import { unconditionally } from "../support/stores/memory-store.ts";

const gdal = { translate: "/usr/bin/gdal_translate", info: "/usr/bin/gdalinfo" };
const hasGdal = existsSync(gdal.translate);
const hasMapProxy = existsSync("/usr/lib/python3/dist-packages/mapproxy/cache/compact.py");
if (!hasGdal || !hasMapProxy)
  console.warn("SKIPPED: the tests of compact stores with other programs need Debian's gdal-bin and python3-mapproxy");

const directory = mkdtempSync(join(tmpdir(), "nuthatch-compact-cache-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A picture of random pixels, so that each tile differs from all other tiles in each row and column. */
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
  const store = createCompactStore({ ...inDirectory(root), gridSets: () => gridSet });
  const { matrixWidth: width = 0, matrixHeight: height = 0 } = gridSet.matrices[z] ?? {};
  const whole = Buffer.alloc(width * 256 * height * 256 * 4);
  const tileSet = { layer: "ws:roads", gridSet: gridSet.id, format: "image/png", parametersId: "" };
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const pixels = noise(y * width + x + 1);
      await store.put(
        { tileSet, x, y, z },
        await sharp(pixels, raw).png({ compressionLevel: 0 }).toBuffer(),
        ...unconditionally,
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
  scale: { resolutions: [4, 2] },
});
const small = created.ok ? created.value : undefined;

describe.skipIf(!hasGdal)("GDAL's driver ESRIC", () => {
  test.each([
    ["the world in Mercator", mercator, 2],
    ["a grid set with a corner of its own", small, 1],
  ])("reads a compact store pixel for pixel: %s", async (_, gridSet, z) => {
    if (gridSet === undefined) throw new Error("there is no such grid set");
    const root = join(directory, gridSet.id);
    const stored = await storeLevel(root, gridSet, z);
    const { matrixWidth = 0, matrixHeight = 0 } = gridSet.matrices[z] ?? {};
    const [width, height] = [matrixWidth * 256, matrixHeight * 256];
    const description = join(root, "ws_roads", gridSet.id.replace(":", "_"), "png", "conf.xml");
    const out = join(directory, `${z}.png`);
    const size = ["-outsize", String(width), String(height)];
    execFileSync(gdal.translate, ["-q", "-of", "PNG", ...size, description, out], { timeout: 120_000 });
    const read = await sharp(out, { limitInputPixels: false }).ensureAlpha().raw().toBuffer();
    expect(read.equals(stored)).toBe(true);
    const info = execFileSync(gdal.info, ["-json", description], { encoding: "utf8", timeout: 120_000 });
    const { minX, maxY } = gridSet.extent;
    const { cornerCoordinates } = JSON.parse(info);
    expect(cornerCoordinates.upperLeft[0]).toBeCloseTo(minX, 2);
    expect(cornerCoordinates.upperLeft[1]).toBeCloseTo(maxY, 2);
    expect(info).toContain(gridSet.srs === 2163 ? "US National Atlas" : "Pseudo-Mercator");
  });
});

/** Does things with tiles of a cache. Prints the checksum of the pixels of each tile that it has read. */
const MAPPROXY = `
import sys, json, hashlib
from mapproxy.cache.compact import CompactCacheV2
from mapproxy.cache.tile import Tile
from mapproxy.image import ImageSource
from mapproxy.image.opts import ImageOptions
from PIL import Image
cache = CompactCacheV2(sys.argv[1])
for action, x, y, z in json.loads(sys.argv[2]):
    tile = Tile((x, y, z))
    if action == "read":
        loaded = cache.load_tile(tile)
        print(hashlib.sha1(tile.source.as_image().convert("RGBA").tobytes()).hexdigest() if loaded else "absent")
    elif action == "store":
        tile.source = ImageSource(Image.new("RGBA", (256, 256), (x, y, z, 255)), image_opts=ImageOptions(format="image/png"))
        cache.store_tile(tile)
    else:
        cache.remove_tile(tile)
`;

const never = new AbortController().signal;

type Action = readonly ["read" | "store" | "remove", x: number, row: number, z: number];

describe.skipIf(!hasMapProxy)("MapProxy's compact cache", () => {
  const z = 2;
  const tileSet = { layer: "ws:roads", gridSet: "EPSG:900913", format: "image/png", parametersId: "" };
  /** Rows count as in the grid of MapProxy's cache: from the top with `origin: nw`. */
  const mapProxy = (root: string, actions: readonly Action[]): string[] => {
    const cache = join(root, "ws_roads", "EPSG_900913", "png", "_alllayers");
    const run = ["-c", MAPPROXY, cache, JSON.stringify(actions)];
    return execFileSync("/usr/bin/python3", run, { encoding: "utf8", timeout: 60_000 }).trim().split("\n");
  };

  test("reads what Nuthatch stored, and what it stores and removes is read and overwritten by Nuthatch", async () => {
    if (mercator === undefined) throw new Error("there is no such grid set");
    const root = join(directory, "mapproxy");
    await storeLevel(root, mercator, z);
    const store = createCompactStore({ ...inDirectory(root), gridSets: () => mercator });
    const places = [0, 1, 3].flatMap((row) => [0, 2].map((x) => ({ x, row })));
    const digest = (pixels: Buffer): string => createHash("sha1").update(pixels).digest("hex");
    const read = mapProxy(root, [
      ...places.map(({ x, row }): Action => ["read", x, row, z]),
      ["store", 1, 2, z],
      ["store", 9, 9, 4],
      ["remove", 3, 3, z],
      ["read", 3, 3, z],
    ]);
    expect(read).toEqual([...places.map(({ x, row }) => digest(noise((3 - row) * 4 + x + 1))), "absent"]);

    const at = (x: number, row: number, level: number) => ({ tileSet, x, y: 2 ** level - 1 - row, z: level });
    for (const [x, row, level] of [
      [1, 2, z],
      [9, 9, 4],
    ] as const) {
      const pixels = await sharp(store.get(at(x, row, level))?.bytes)
        .ensureAlpha()
        .raw()
        .toBuffer();
      expect([...pixels.subarray(0, 4)]).toEqual([x, row, level, 255]);
      expect(store.stat(at(x, row, level))?.modifiedMs).toBeGreaterThan(Date.now() - 600_000);
    }
    expect(store.get(at(3, 3, z))).toBeUndefined();
    expect(store.recount(tileSet, { z, minX: 0, minY: 0, maxX: 3, maxY: 3 }, true)).toHaveLength(15);
    const bytes = store.get(at(1, 2, z))?.bytes ?? new Uint8Array();
    expect(store.confirm(at(1, 2, z), bytes, { time: "keep", guard: () => true }, never)).toBe(true);
    expect(
      store.confirm(at(1, 2, z), bytes, { time: "renew", guard: () => true }, never),
      "it has no place for a time",
    ).toBe(false);
    await store.put(at(1, 2, z), await sharp(noise(99), raw).png().toBuffer(), ...unconditionally);
    await store[Symbol.asyncDispose]();
    expect(mapProxy(root, [["read", 1, 2, z]])).toEqual([digest(noise(99))]);
  });
});
