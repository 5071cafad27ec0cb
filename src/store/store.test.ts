import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { diskError, FaultyDisk } from "../../test/support/stores/faulty-disk.ts";
import { inDirectory } from "../../test/support/stores/in-directory.ts";
import { createMemoryStore, unconditionally } from "../../test/support/stores/memory-store.ts";
import { builtInGridSet } from "../grid/built-in.ts";
import { createCompactStore } from "./compact/compact-store.ts";
import { createFileStore } from "./file/file-store.ts";
import type { Listing } from "./inventory-store.ts";
import { type StoreTrouble, storeConformance } from "./store.conformance.ts";
import { StoreError } from "./tile-store.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-store-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;
const root = (): string => join(directory, String(made++));
const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };

describe("memory store", () => storeConformance(createMemoryStore, undefined));

/** The disk of the stores that conform, and their options. */
const faulty = new FaultyDisk();
const onFaultyDisk = (at: string) => ({ ...inDirectory(at), machine: faulty.machine });
/** Returns the layer's directory in the store that was created last. */
const layerOfLast = (): string => join(directory, String(made - 1), "ws_a");
const trouble: StoreTrouble = {
  failNth: (n, code) => faulty.failNth(n, code),
  fail: (what, code) => faulty.fail([what === "read" ? "readSync" : "writeSync"], code),
  away() {
    const [there, elsewhere] = [layerOfLast(), join(directory, `volume-${made}`)];
    renameSync(there, `${elsewhere}-unmounted`);
    symlinkSync(elsewhere, there);
    return { end: () => renameSync(`${elsewhere}-unmounted`, elsewhere) };
  },
};

const gridSets = (id: string) => builtInGridSet(id) ?? builtInGridSet("EPSG:4326");
describe("compact store", () => {
  storeConformance(() => createCompactStore({ ...onFaultyDisk(root()), gridSets }), trouble);
});

describe.each(["tms", "slippy"] as const)("file store, layout %s", (layout) => {
  storeConformance(() => createFileStore({ ...onFaultyDisk(root()), layout, gridSets }), trouble);
});

describe.each([
  ["file", (at: string) => createFileStore(inDirectory(at))],
  ["compact", (at: string) => createCompactStore({ ...inDirectory(at), gridSets })],
] as const)("%s store", (_, make) => {
  test("whose directory is away is not empty: nothing is truncated, and its directory is not made", async () => {
    const at = root();
    const store = make(at);
    const place = { tileSet, x: 0, y: 0, z: 0 };
    await store.put(place, new Uint8Array(1), ...unconditionally);
    const names = store.plan({ kind: "layer", layer: "a" });
    renameSync(at, `${at}-unmounted`);
    const away = expect.objectContaining({ name: "StoreError", code: "unavailable" });
    expect(() => store.plan({ kind: "layer", layer: "a" })).toThrow(away);
    expect(() => store.plan({ kind: "pyramid", ...tileSet })).toThrow(away);
    expect(() => store.truncate("1", names, "reclaim")).toThrow(away);
    expect(() => store.restore("1", names)).toThrow(away);
    expect(() => store.pyramids("a", [])).toThrow(away);
    expect(() => store.layersThere(["a"])).toThrow(away);
    await expect(Promise.resolve().then(() => store.check("a"))).rejects.toEqual(away);
    expect(existsSync(at)).toBe(false);
    renameSync(`${at}-unmounted`, at);
    store.truncate("1", names, "reclaim");
    expect(await store.get(place)).toBeUndefined();
  });
});

describe("file store", () => {
  storeConformance(() => createFileStore(onFaultyDisk(root())), trouble);

  test.each([
    ["layer", "a", "unavailable"],
    ["level", "a/g_00", "unavailable"],
    ["bucket", "a/g_00/0_0", "corrupt"],
  ])("a file in the place of a %s's directory is no truncation: a put throws", async (_, path, code) => {
    const at = root();
    const store = createFileStore(inDirectory(at));
    const place = join(at, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, "x");
    const put = store.put({ tileSet, x: 0, y: 0, z: 0 }, new Uint8Array(1), ...unconditionally);
    await expect(put).rejects.toMatchObject({ name: "StoreError", code });
  });

  test("an error of opening a file is a StoreError too, and one of looking at it", async () => {
    const store = createFileStore(onFaultyDisk(root()));
    const place = { tileSet, x: 0, y: 0, z: 0 };
    await store.put(place, new Uint8Array(1), ...unconditionally);
    for (const name of ["openSync", "fstatSync"] as const) {
      const fault = faulty.fail([name], "EIO");
      try {
        expect(() => store.get(place)).toThrow(StoreError);
      } finally {
        fault.end();
      }
    }
  });

  test("a directory in a tile's place is no tile: it is not read, counted or deleted, and nothing is stored there", async () => {
    const at = root();
    const store = createFileStore(inDirectory(at));
    const place = { tileSet, x: 0, y: 0, z: 0 };
    const inTheWay = join(at, store.keyOf(place));
    mkdirSync(join(inTheWay, "inside"), { recursive: true });
    const cell = { z: 0, minX: 0, minY: 0, maxX: 15, maxY: 15 };
    expect(store.get(place)).toBeUndefined();
    expect(store.stat(place)).toBeUndefined();
    expect(store.delete(place)).toBeUndefined();
    expect(store.recount(tileSet, cell, true)).toEqual([]);
    const listener = { willDelete: async () => {}, onDeleted: () => {} };
    await store.deleteRange(
      { layer: "a", gridSet: "g", parametersId: "" },
      cell,
      listener,
      new AbortController().signal,
    );
    const put = store.put(place, new Uint8Array(1), ...unconditionally);
    await expect(put).rejects.toMatchObject({ name: "StoreError", code: "corrupt" });
    expect(readdirSync(dirname(inTheWay))).toEqual(["00_00.png"]);
    expect((await store.put({ ...place, z: 1 }, new Uint8Array(1), ...unconditionally)).stored).toBe(true);
  });

  test("a named pipe and a link out of the layer's directory are no tiles, a link inside of it is one", async () => {
    const at = root();
    const store = createFileStore(inDirectory(at));
    const placeOf = (x: number) => ({ tileSet, x, y: 0, z: 5 });
    const pathOf = (x: number) => join(at, store.keyOf(placeOf(x)));
    await store.put(placeOf(0), Buffer.from("tile"), ...unconditionally);
    await store.put(
      { tileSet: { ...tileSet, layer: "secured" }, x: 0, y: 0, z: 5 },
      Buffer.from("hidden"),
      ...unconditionally,
    );
    writeFileSync(join(directory, "outside"), "outside");
    execFileSync("mkfifo", [pathOf(1)]);
    symlinkSync(join(directory, "outside"), pathOf(2));
    symlinkSync(join(at, store.keyOf({ tileSet: { ...tileSet, layer: "secured" }, x: 0, y: 0, z: 5 })), pathOf(3));
    symlinkSync(pathOf(0), pathOf(4));
    symlinkSync(pathOf(5), pathOf(5));
    for (const x of [1, 2, 3, 5]) {
      expect(await store.get(placeOf(x)), `${x} is not read`).toBeUndefined();
      expect(store.stat(placeOf(x)), `${x} has no status`).toBeUndefined();
    }
    expect((await store.get(placeOf(4)))?.bytes).toEqual(Buffer.from("tile"));
    const rect = { z: 5, minX: 0, minY: 0, maxX: 5, maxY: 0 };
    expect(
      store
        .recount(tileSet, rect, false)
        .map(({ x }) => x)
        .sort(),
    ).toEqual([0, 4]);
    // A put replaces whatever has the name of a tile, and a removal removes a link, never its target.
    for (const x of [1, 2])
      expect(await store.put(placeOf(x), Buffer.from("new"), ...unconditionally)).toMatchObject({ stored: true });
    expect((await store.get(placeOf(1)))?.bytes).toEqual(Buffer.from("new"));
    store.delete(placeOf(3));
    expect(existsSync(pathOf(3))).toBe(false);
    expect(readFileSync(join(directory, "outside"), "utf8")).toBe("outside");
  });

  test.each(["gwc", "tms", "slippy"] as const)(
    "a listing spares looks until its directories change, layout %s",
    async (layout) => {
      const at = root();
      const store = createFileStore({ ...inDirectory(at), layout, gridSets });
      const web = { ...tileSet, gridSet: "EPSG:900913" };
      const z = 14;
      const placeOf = (x: number) => ({ tileSet: web, x, y: 3, z });
      for (const x of [0, 5, 9]) await store.put(placeOf(x), Buffer.from("tile"), ...unconditionally);
      const rect = { z, minX: 0, minY: 0, maxX: 15, maxY: 15 };
      const listingOf = async () => {
        for await (const region of store.regions({ layer: "a", gridSet: web.gridSet, parametersId: "" }, z, undefined))
          return { tiles: region.tiles.get("image/png") ?? [], directories: region.directories ?? new Map() };
        throw new Error("nothing was listed");
      };
      const counted = (listing?: Listing) =>
        store
          .recount(web, rect, false, listing)
          .map(({ x }) => x)
          .sort((a, b) => a - b);
      const fresh = await listingOf();
      expect(
        [...fresh.directories.values()].every((ms) => ms === undefined),
        "changed just now",
      ).toBe(true);
      const names = [...fresh.directories.keys()];
      const level = dirname(dirname(join(at, store.keyOf(placeOf(0)))));
      const directories = new Map(names.map((name) => [name, statSync(join(level, name)).ctimeMs]));
      const part = { tiles: [{ x: 0, y: 3 }], directories };
      expect(counted(part), "of an unchanged directory only listed tiles are looked for").toEqual([0]);
      expect(counted(fresh)).toEqual([0, 5, 9]);
      await store.put(placeOf(1), Buffer.from("tile"), ...unconditionally);
      await store.put(placeOf(9), Buffer.from("longer"), ...unconditionally);
      expect(counted({ ...part, directories: new Map(names.map((name) => [name, 1])) })).toEqual([0, 1, 5, 9]);
      expect(counted({ tiles: [], directories: new Map() }), "a directory that was not listed").toEqual([0, 1, 5, 9]);
    },
  );

  test("a put whose directory is truncated under it stores nothing", async () => {
    const store = createFileStore(inDirectory(root()));
    await store.put({ tileSet, x: 0, y: 0, z: 0 }, new Uint8Array(1), ...unconditionally);
    let requested = 0;
    const guard = (): boolean => {
      // Between the writing of the file and its rename.
      if (++requested === 2) store.truncate("1", store.plan({ kind: "layer", layer: "a" }), "reclaim");
      return true;
    };
    const put = await store.put(
      { tileSet, x: 1, y: 0, z: 0 },
      new Uint8Array(1),
      { guard },
      new AbortController().signal,
    );
    expect(put).toEqual({ stored: false });
    expect(store.get({ tileSet, x: 1, y: 0, z: 0 })).toBeUndefined();
  });

  test("a put makes its directories again, whenever they are removed as empty under it", async () => {
    const disk = new FaultyDisk();
    const store = createFileStore({ ...inDirectory(root()), machine: disk.machine });
    const cell = { z: 0, minX: 0, minY: 0, maxX: 15, maxY: 15 };
    for (const removals of [1, 2, 3, 5]) {
      let left = removals;
      disk.before = (operation, args) => {
        if (operation === "openSync" && args[1] === "wx" && left-- > 0) store.removeEmptied(tileSet, cell);
        // The system reports a parent as missing that it has just created.
        if (operation !== "mkdirSync" || left !== 1) return;
        left = 0;
        throw diskError("ENOENT");
      };
      const put = await store.put({ tileSet, x: 0, y: 0, z: 0 }, new Uint8Array(removals), ...unconditionally);
      expect(put).toEqual({ stored: true, replaced: undefined });
      disk.before = () => {};
      expect(store.stat({ tileSet, x: 0, y: 0, z: 0 })?.bytes).toBe(removals);
      store.delete({ tileSet, x: 0, y: 0, z: 0 });
      store.removeEmptied(tileSet, cell);
      expect(store.levels(tileSet)).toEqual([]);
    }
  });

  test("emptied tile sets leave the layer's directory empty, foreign files and links stay", async () => {
    const at = root();
    const store = createFileStore(inDirectory(at));
    const id = "a".repeat(40);
    const described = { ...tileSet, parametersId: id };
    const pyramids = [{ gridSet: "g", parametersId: id }];
    for (const z of [0, 4, 9]) {
      await store.put({ tileSet: described, x: 0, y: 0, z }, new Uint8Array(1), ...unconditionally);
      store.delete({ tileSet: described, x: 0, y: 0, z });
    }
    await store.describeParameters("a", id, { ELEV: "1.5" });
    const foreign = join(at, "a", `g_04_${id}`, "notes.txt");
    writeFileSync(foreign, "x");
    expect(store.removeEmptyPyramids("a", pyramids)).toEqual(["tiles"]);
    expect(store.parametersOf("a", id)).toEqual({ ELEV: "1.5" });
    rmSync(foreign);
    expect(store.removeEmptyPyramids("a", pyramids)).toEqual(["gone"]);
    expect(readdirSync(join(at, "a"))).toEqual([]);
    const elsewhere = join(at, "elsewhere");
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(at, "a", `g_04_${id}`));
    expect(store.removeEmptyPyramids("a", pyramids)).toEqual(["tiles"]);
    expect(readdirSync(join(at, "a"))).toEqual([`g_04_${id}`]);
  });

  test("a large remainder of empty directories goes in several calls", () => {
    const at = root();
    const store = createFileStore(inDirectory(at));
    for (let n = 0; n < 150; n++) mkdirSync(join(at, "a", "g_16", `${n}_0`), { recursive: true });
    const pyramids = [{ gridSet: "g", parametersId: "" }];
    expect(store.removeEmptyPyramids("a", pyramids)).toEqual(["unfinished"]);
    expect(store.removeEmptyPyramids("a", pyramids)).toEqual(["gone"]);
    expect(readdirSync(join(at, "a"))).toEqual([]);
  });

  test("a sweep reclaims truncated tiles; a recount removes empty files and temporary files of other processes", async () => {
    const at = root();
    const store = createFileStore(inDirectory(at));
    await store.put({ tileSet, x: 0, y: 0, z: 0 }, new Uint8Array(1), ...unconditionally);
    store.truncate("1", store.plan({ kind: "layer", layer: "a" }), "reclaim");
    await store.sweep(new AbortController().signal);
    expect(readdirSync(join(at, "_gwc_in_progress_deletes_"))).toEqual([]);
    const bucket = join(at, "a", "g_00", "0_0");
    mkdirSync(bucket, { recursive: true });
    writeFileSync(join(bucket, "00_00.png"), "");
    writeFileSync(join(bucket, ".nuthatch-other-1"), "half");
    expect(store.get({ tileSet, x: 0, y: 0, z: 0 })).toBeUndefined();
    const cell = { z: 0, minX: 0, minY: 0, maxX: 15, maxY: 15 };
    expect(store.recount(tileSet, cell, false)).toEqual([]);
    expect(readdirSync(bucket)).toEqual([]);
  });

  test("leftovers in a large bucket go without looking at its tiles, this process's own stay", async () => {
    const at = root();
    const store = createFileStore(inDirectory(at));
    await store.put({ tileSet, x: 600, y: 1, z: 16 }, new Uint8Array(1), ...unconditionally);
    const bucket = join(at, "a", "g_16", "001_000");
    for (const name of [".nuthatch-other-1", ".nuthatch-test-1"]) writeFileSync(join(bucket, name), "half");
    const cell = { z: 16, minX: 592, minY: 0, maxX: 607, maxY: 15 };
    await store.removeLeftovers([{ tileSet, rect: cell }], new AbortController().signal);
    expect(readdirSync(bucket).sort()).toEqual([".nuthatch-test-1", "000600_000001.png"]);
  });

  test("after a reboot a recount removes files that do not end as their format does", async () => {
    const raster = { create: { width: 8, height: 8, channels: 3 as const, background: "red" } };
    for (const [format, picture] of [
      ["image/png", await sharp(raster).png().toBuffer()],
      ["image/png8", await sharp(raster).png({ palette: true }).toBuffer()],
      ["image/jpeg", await sharp(raster).jpeg().toBuffer()],
      ["image/gif", await sharp(raster).gif().toBuffer()],
      ["image/webp", await sharp(raster).webp().toBuffer()],
      ["image/avif", await sharp(raster).avif({ effort: 0 }).toBuffer()],
      ["image/vnd.jpeg-png", await sharp(raster).jpeg().toBuffer()],
      ["image/vnd.jpeg-png", await sharp(raster).png().toBuffer()],
      ["image/vnd.jpeg-png8", await sharp(raster).png({ palette: true }).toBuffer()],
    ] as const) {
      const store = createFileStore(inDirectory(root()));
      const set = { ...tileSet, format };
      const put = (x: number, bytes: Uint8Array) =>
        store.put({ tileSet: set, x, y: 0, z: 4 }, bytes, ...unconditionally);
      await put(0, picture);
      await put(1, picture.subarray(0, picture.length - 3));
      await put(2, Buffer.concat([picture.subarray(0, 10), Buffer.alloc(picture.length - 10)]));
      await put(3, picture.subarray(0, 1));
      const cell = { z: 4, minX: 0, minY: 0, maxX: 15, maxY: 15 };
      expect(store.recount(set, cell, false), format).toHaveLength(4);
      expect(
        store.recount(set, cell, true).map(({ x }) => x),
        format,
        // A WebP file has its length at the beginning and no mark at the end.
      ).toEqual(format === "image/webp" ? [0, 2] : [0]);
      expect(store.stat({ tileSet: set, x: 1, y: 0, z: 4 })).toBeUndefined();
    }
  });
});
