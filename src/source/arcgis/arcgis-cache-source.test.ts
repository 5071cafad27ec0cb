import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { formatNamed } from "../../../test/support/layer.ts";
import {
  type CacheTile,
  COMPACT,
  COMPACT_V2,
  confXml,
  EXPLODED,
  WORLD,
  writeAt,
  writeCache,
  writeExploded,
} from "../../../test/support/stores/arcgis-fixture.ts";
import { matrixOf, tileExtent } from "../../grid/grid-set.ts";
import { SourceError } from "../source.ts";
import { createArcgisCacheSource } from "./arcgis-cache-source.ts";
import { cacheGridSet, readTilingScheme } from "./tiling-scheme.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-arcgis-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;
const root = (): string => join(directory, String(made++));

/** Opens the cache with this `conf.xml`. */
async function cacheAt(path: string, { hexZoom = false } = {}) {
  const read = await readTilingScheme(path);
  if (!read.ok) throw new Error(read.error);
  const { scheme, gridSet } = { scheme: read.value, gridSet: cacheGridSet(read.value, "a") };
  if (!gridSet.ok) throw new Error(gridSet.error);
  const grid = gridSet.value;
  const source = createArcgisCacheSource({ type: "arcgisCache", path, hexZoom, connections: 1, ...scheme });
  const render = (z: number, row: number, x: number, signal: AbortSignal) => {
    const tile = { z, x, y: matrixOf(grid, z).matrixHeight - 1 - row };
    const extent = tileExtent(grid, tile);
    const size = { width: grid.tileWidth, height: grid.tileHeight };
    return source.render(
      { gridSet: grid, extent, ...size, tile, format: formatNamed("image/png"), parameters: {} },
      signal,
    );
  };
  return {
    /** Returns the bytes of a tile as text, or the failure. */
    async at(z: number, row: number, x: number, signal = new AbortController().signal): Promise<string> {
      try {
        const image = await render(z, row, x, signal);
        return image.kind === "encoded" ? Buffer.from(image.bytes).toString("latin1") : image.kind;
      } catch (error) {
        return error instanceof SourceError ? `${error.failure}: ${error.message}` : String(error);
      }
    },
  };
}

const tile = (level: number, row: number, column: number): CacheTile => ({
  level,
  row,
  column,
  bytes: Buffer.from(`tile ${level}/${row}/${column}`),
});
/** Tiles of several bundles of one level, and both corners of a bundle. */
const TILES = [
  tile(0, 0, 0),
  tile(3, 1, 6),
  tile(8, 0, 0),
  tile(8, 127, 127),
  tile(8, 127, 128),
  tile(8, 128, 127),
  tile(8, 200, 3),
  tile(8, 255, 255),
];

describe.each([EXPLODED, COMPACT, COMPACT_V2])("a cache of %s", (storage) => {
  test("has each tile at its own place, and no others", async () => {
    const cache = await cacheAt(await writeCache(root(), storage, TILES));
    for (const { level, row, column } of TILES)
      expect(await cache.at(level, row, column)).toBe(`tile ${level}/${row}/${column}`);
    for (const [z, row, x] of [
      [3, 6, 1],
      [8, 3, 200],
      [8, 0, 128],
      [7, 0, 0],
    ] as const)
      expect(await cache.at(z, row, x)).toBe(`no_tile: the cache has no tile ${z}/${x}/${row}`);
  });

  test("reads nothing for a request that was cancelled", async () => {
    const cache = await cacheAt(await writeCache(root(), storage, TILES));
    expect(await cache.at(0, 0, 0, AbortSignal.abort())).toBe("cancelled: cancelled");
  });
});

describe("an exploded cache", () => {
  test("has hexadecimal levels where the layer says so", async () => {
    const at = root();
    const levels = Array.from({ length: 12 }, (_, z) => z);
    writeAt(join(at, "conf.xml"), confXml({ storage: EXPLODED, levels }));
    writeAt(join(at, "conf.cdi"), WORLD);
    writeAt(join(at, "_alllayers", "L0a", "R0000001f", "C000002ff.png"), "hexadecimal");
    writeExploded(join(at, "_alllayers"), [tile(10, 31, 767)], "png");
    const path = join(at, "conf.xml");
    expect(await (await cacheAt(path, { hexZoom: true })).at(10, 31, 767)).toBe("hexadecimal");
    expect(await (await cacheAt(path)).at(10, 31, 767)).toBe("tile 10/31/767");
  });

  test("of mixed tiles has JPEG and PNG, and an empty file is no tile", async () => {
    const at = root();
    writeAt(join(at, "conf.xml"), confXml({ storage: EXPLODED, format: "MIXED" }));
    writeAt(join(at, "conf.cdi"), WORLD);
    writeExploded(join(at, "_alllayers"), [tile(1, 0, 0)], "jpg");
    writeExploded(join(at, "_alllayers"), [tile(1, 0, 1), { ...tile(1, 1, 1), bytes: new Uint8Array() }], "png");
    const cache = await cacheAt(join(at, "conf.xml"));
    expect([await cache.at(1, 0, 0), await cache.at(1, 0, 1), await cache.at(1, 1, 1)]).toEqual([
      "tile 1/0/0",
      "tile 1/0/1",
      "no_tile: the cache has no tile 1/1/1",
    ]);
  });

  test("whose levels do not begin with 0 is read by ArcGIS's numbers", async () => {
    const at = root();
    writeAt(join(at, "conf.xml"), confXml({ storage: EXPLODED, levels: [5, 6] }));
    writeAt(join(at, "conf.cdi"), WORLD);
    writeExploded(join(at, "_alllayers"), [tile(6, 1, 0)], "png");
    expect(await (await cacheAt(join(at, "conf.xml"))).at(1, 1, 0)).toBe("tile 6/1/0");
  });
});

describe("a damaged bundle", () => {
  const level = async (storage: string) => {
    const path = await writeCache(root(), storage, [tile(0, 0, 0)]);
    return { path, name: join(dirname(path), "_alllayers", "L00", "R0000C0000") };
  };
  const changed = (path: string, change: (bytes: Buffer) => void): void => {
    const bytes = readFileSync(path);
    change(bytes);
    writeFileSync(path, bytes);
  };

  test("of version 1 gives no bytes from elsewhere", async () => {
    const { path, name } = await level(COMPACT);
    const cache = await cacheAt(path);
    const set = (position: number) => changed(`${name}.bundlx`, (bytes) => bytes.writeUIntLE(position, 16, 5));
    const { length } = readFileSync(`${name}.bundle`);
    for (const position of [length - 3, length, 2 ** 40 - 1]) {
      set(position);
      expect(await cache.at(0, 0, 0)).toBe("wrong_type: the cache is damaged: a bundle ends before one of its tiles");
    }
    set(0);
    expect(await cache.at(0, 0, 0)).toBe("no_tile: the cache has no tile 0/0/0");
    set(60 + 4 * 128 * 128);
    changed(`${name}.bundle`, (bytes) => bytes.writeUInt32LE(2 ** 32 - 1, 60 + 4 * 128 * 128));
    expect(await cache.at(0, 0, 0)).toMatch(/^too_large: a tile of the cache is larger than 33554432 bytes/);
    truncateSync(`${name}.bundlx`, 18);
    expect(await cache.at(0, 0, 0)).toMatch(/^wrong_type: /);
    rmSync(`${name}.bundlx`);
    expect(await cache.at(0, 0, 0)).toMatch(/^no_tile: /);
  });

  test("of version 2 gives no bytes from elsewhere", async () => {
    const { path, name } = await level(COMPACT_V2);
    const cache = await cacheAt(path);
    expect(readdirSync(dirname(name)).filter((file) => file.endsWith(".bundle"))).toEqual(["R0000C0000.bundle"]);
    const set = (position: number, size: number) =>
      changed(`${name}.bundle`, (bytes) => {
        bytes.writeUIntLE(position, 64, 5);
        bytes.writeUIntLE(size, 69, 3);
      });
    for (const [position, size] of [
      [2 ** 40 - 1, 1],
      [2 ** 17, 2 ** 24 - 1],
    ] as const) {
      set(position, size);
      expect(await cache.at(0, 0, 0)).toMatch(/^wrong_type: the cache is damaged/);
    }
    set(2 ** 17, 0);
    expect(await cache.at(0, 0, 0)).toMatch(/^no_tile: /);
    truncateSync(`${name}.bundle`, 66);
    expect(await cache.at(0, 0, 0)).toMatch(/^wrong_type: /);
  });

  test("that is a directory cannot be read, and the message has no path", async () => {
    const { path, name } = await level(COMPACT_V2);
    rmSync(`${name}.bundle`);
    writeAt(join(`${name}.bundle`, "x"), "");
    // The size of a directory differs between file systems.
    expect(await (await cacheAt(path)).at(0, 0, 0)).toMatch(
      /^(refused: the cache cannot be read: EISDIR|wrong_type: the cache is damaged: a bundle ends before one of its tiles)$/,
    );
  });
});
