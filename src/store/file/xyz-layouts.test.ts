import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { inDirectory } from "../../../test/support/stores/in-directory.ts";
import { unconditionally } from "../../../test/support/stores/memory-store.ts";
import { builtInGridSet } from "../../grid/built-in.ts";
import type { TileRect } from "../../grid/grid-set.ts";
import type { TileSet } from "../../layer/tile-set.ts";
import type { LevelChanges, Region } from "../inventory-store.ts";
import type { LocalStore } from "../store.ts";
import { createFileStore } from "./file-store.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-xyz-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;
const root = (): string => join(directory, String(made++));
const LAYOUTS = ["tms", "slippy"] as const;
type Layout = (typeof LAYOUTS)[number];
const open = (at: string, layout: Layout, gridSets = builtInGridSet): LocalStore =>
  createFileStore({ ...inDirectory(at), layout, gridSets });
const tileSet: TileSet = { layer: "topp:states", gridSet: "EPSG:4326", format: "image/png8", parametersId: "" };
const pyramid = { layer: "topp:states", gridSet: "EPSG:4326", parametersId: "" };
const ID = "6b25e88136a7ba06f5ed4dcb753540ea86259e64";
const rect = (z: number, minX: number, minY: number, maxX: number, maxY: number): TileRect => ({
  z,
  minX,
  minY,
  maxX,
  maxY,
});

/** The paths of GWC's `XYZFilePathGenerator` (`docs/explanation/geowebcache.md`, Files). */
test.each([
  ["tms", 7, 99, 100, "", "topp_states/EPSG_4326/7/99/100.png8"],
  ["slippy", 7, 99, 100, "", "topp_states/EPSG_4326/7/99/27.png8"],
  ["tms", 0, 1, 0, ID, `topp_states/EPSG_4326_${ID}/0/1/0.png8`],
  ["slippy", 12, 8191, 0, ID, `topp_states/EPSG_4326_${ID}/12/8191/4095.png8`],
] as const)("a tile of the layout %s at %i/%i/%i has GWC's path", (layout, z, x, y, parametersId, path) => {
  expect(open(root(), layout).keyOf({ tileSet: { ...tileSet, parametersId }, x, y, z })).toBe(path);
});

describe.each(LAYOUTS)("the layout %s", (layout) => {
  async function regionsOf(store: LocalStore, z: number, after?: string): Promise<Region[]> {
    const regions: Region[] = [];
    for await (const region of store.regions(pyramid, z, after)) regions.push(region);
    return regions;
  }

  test("lists the tiles of a directory that GWC made, by blocks, and goes on behind any of them", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ x: fc.nat(300), y: fc.nat(255), format: fc.constantFrom("image/png", "image/jpeg") }), {
          minLength: 1,
          maxLength: 40,
        }),
        async (places) => {
          const [z, at] = [8, root()];
          const store = open(at, layout);
          for (const { x, y, format } of places) {
            // GWC's files, not made by a put.
            const path = join(at, store.keyOf({ tileSet: { ...tileSet, format }, x, y, z }));
            mkdirSync(dirname(path), { recursive: true });
            writeFileSync(path, "tile");
          }
          const expected = new Set(places.map(({ x, y, format }) => `${format} ${x} ${y}`));
          const regions = await regionsOf(store, z);
          const listed = regions.flatMap(({ tiles, rect: block }) =>
            [...tiles].flatMap(([format, found]) =>
              found.map(({ x, y }) => {
                expect(Math.floor(x / 128)).toBe(block.minX / 128);
                expect(Math.floor(y / 128)).toBe(block.minY / 128);
                return `${format} ${x} ${y}`;
              }),
            ),
          );
          expect(listed).toHaveLength(expected.size);
          expect(new Set(listed)).toEqual(expected);
          for (const [n, { key }] of regions.entries())
            expect((await regionsOf(store, z, key)).map((region) => region.key)).toEqual(
              regions.slice(n + 1).map((region) => region.key),
            );
          expect(store.pyramids("topp:states", ["EPSG:4326"])).toEqual([pyramid]);
          expect(store.levels(pyramid)).toEqual([z]);
        },
      ),
      { numRuns: 20 },
    );
  });

  test("skips files that no reader looks for", async () => {
    const at = root();
    const store = open(at, layout);
    await store.put({ tileSet, x: 1, y: 1, z: 3 }, new Uint8Array(1), ...unconditionally);
    const column = join(at, "topp_states/EPSG_4326/3/1");
    for (const name of ["01.png8", "x.png8", "99999999.png8", "2.tiff8", "3"]) writeFileSync(join(column, name), "x");
    mkdirSync(join(column, "../007"));
    writeFileSync(join(column, "../007/1.png8"), "x");
    const regions = await regionsOf(store, 3);
    const listed = regions.flatMap(({ tiles }) => [...tiles.values()].flat());
    expect(listed.filter(({ y }) => y < 8)).toEqual([{ x: 1, y: 1 }]);
    expect(store.recount(tileSet, rect(3, 0, 0, 15, 15), false)).toMatchObject([{ x: 1, y: 1 }]);
  });

  async function changed(changes: LevelChanges): Promise<string[]> {
    const found: string[] = [];
    for await (const { tiles } of changes.regions())
      for (const { x, y } of [...tiles.values()].flat()) found.push(`${x}/${y}`);
    return found.sort();
  }

  test("finds changes of other programs: tiles that were added, blocks that were emptied, columns that are gone", async () => {
    const at = root();
    const store = open(at, layout);
    for (const [x, y] of [
      [0, 0],
      [0, 200],
      [130, 0],
    ] as const)
      await store.put({ tileSet, x, y, z: 8 }, new Uint8Array(1), ...unconditionally);
    const before = Date.now() + 60_000;
    const unchanged = store.changes(pyramid, 8, before);
    expect(await changed(unchanged)).toEqual([]);
    expect(unchanged.hasLost).toBe(false);
    rmSync(join(at, store.keyOf({ tileSet, x: 0, y: 200, z: 8 })));
    rmSync(dirname(join(at, store.keyOf({ tileSet, x: 130, y: 0, z: 8 }))), { recursive: true });
    const changes = store.changes(pyramid, 8, 1);
    expect(await changed(changes)).toEqual(["0/0"]);
    expect(changes.hasLost).toBe(true);
    expect(await changes.holds(rect(8, 0, 192, 15, 207))).toBe(false);
    expect(await changes.holds(rect(8, 128, 0, 143, 15))).toBe(false);
  });

  test("truncates tiles with parameters too, and a level in one rename", async () => {
    const at = root();
    const store = open(at, layout);
    const described = { ...tileSet, parametersId: ID };
    for (const z of [3, 4]) {
      await store.put({ tileSet, x: 1, y: 1, z }, new Uint8Array(1), ...unconditionally);
      await store.put({ tileSet: described, x: 1, y: 1, z }, new Uint8Array(1), ...unconditionally);
    }
    const scope = { kind: "pyramid", layer: "topp:states", gridSet: "EPSG:4326", parametersId: ID } as const;
    const names = store.plan({ ...scope, zooms: { first: 4, last: 9 } });
    expect(names).toEqual([`topp_states/EPSG_4326_${ID}/4`]);
    store.truncate("1", names, "keep");
    expect(store.get({ tileSet: described, x: 1, y: 1, z: 4 })).toBeUndefined();
    expect(store.get({ tileSet: described, x: 1, y: 1, z: 3 })).toBeDefined();
    expect(store.get({ tileSet, x: 1, y: 1, z: 4 })).toBeDefined();
    store.restore("1", names);
    expect(store.get({ tileSet: described, x: 1, y: 1, z: 4 })).toBeDefined();
  });

  test("leaves no directory of a pyramid behind its last tile, but foreign files stay", async () => {
    const at = root();
    const store = open(at, layout);
    await store.put({ tileSet, x: 1, y: 1, z: 9 }, new Uint8Array(1), ...unconditionally);
    store.delete({ tileSet, x: 1, y: 1, z: 9 });
    writeFileSync(join(at, "topp_states/EPSG_4326/notes.txt"), "x");
    expect(store.removeEmptyPyramids("topp:states", [pyramid])).toEqual(["tiles"]);
    rmSync(join(at, "topp_states/EPSG_4326/notes.txt"));
    expect(store.removeEmptyPyramids("topp:states", [pyramid])).toEqual(["gone"]);
    expect(readdirSync(join(at, "topp_states"))).toEqual([]);
  });
});

test("tiles whose grid set has left the configuration are found by the rows that their first writer has noted", async () => {
  const at = root();
  await open(at, "slippy").put({ tileSet, x: 1, y: 2, z: 4 }, new Uint8Array(3), ...unconditionally);
  const later = open(at, "slippy", () => undefined);
  expect(later.recount(tileSet, rect(4, 0, 0, 15, 15), false)).toMatchObject([{ x: 1, y: 2, bytes: 3 }]);
  expect(later.delete({ tileSet, x: 1, y: 2, z: 4 })).toBe(3);
});

test("no tile is stored where the rows of its level are not known", async () => {
  const store = open(root(), "slippy", () => undefined);
  const put = store.put({ tileSet, x: 1, y: 2, z: 4 }, new Uint8Array(3), ...unconditionally);
  await expect(put).rejects.toMatchObject({ name: "StoreError", code: "corrupt" });
  expect(store.get({ tileSet, x: 1, y: 2, z: 4 })).toBeUndefined();
});
