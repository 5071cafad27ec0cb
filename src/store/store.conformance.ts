import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unconditionally } from "../../test/support/stores/memory-store.ts";
import type { TileRect } from "../grid/grid-set.ts";
import type { TileAddress, TileSet } from "../layer/tile-set.ts";
import type { Store } from "./store.ts";
import { StoreError } from "./tile-store.ts";
import type { Deleted } from "./truncation-store.ts";

const ID = "6b25e88136a7ba06f5ed4dcb753540ea86259e64";
const base: TileSet = { layer: "ws:a", gridSet: "EPSG:4326", format: "image/png", parametersId: "" };
const at = (x: number, y: number, z: number, tileSet: Partial<TileSet> = {}): TileAddress => ({
  tileSet: { ...base, ...tileSet },
  x,
  y,
  z,
});
const of = (size: number): Uint8Array => new Uint8Array(size).fill(size);
const rect = (z: number, minX: number, minY: number, maxX: number, maxY: number): TileRect => ({
  z,
  minX,
  minY,
  maxX,
  maxY,
});
const yes = (): boolean => true;
const never = new AbortController().signal;

/** The faults that a test can cause in a store. */
export interface StoreTrouble {
  /** Makes every read, or write, of a tile fail with this system error code until `end`. */
  fail(what: "read" | "write", code: string): { end(): void };
  /** Makes one operation of the disk fail with this system error code until `end`: the one after `n` others. */
  failNth(n: number, code: string): { end(): void };
  /** Makes the directory of layer `ws:a` unavailable until `end`, like a link to a volume that is not mounted. */
  away(store: Store): { end(): void };
}

const TROUBLES: readonly (readonly [string, StoreError["code"]])[] = [
  ["EIO", "unavailable"],
  ["ENOTDIR", "corrupt"],
  ["ELOOP", "unavailable"],
  ["EACCES", "read_only"],
  ["EISDIR", "corrupt"],
];

/**
 * Tests the behaviour of every store. An implementation calls this and adds only tests of its special behaviour.
 * `trouble` is undefined for a store that depends on nothing that could fail.
 */
export function storeConformance(make: () => Store, trouble: StoreTrouble | undefined): void {
  if (trouble !== undefined) {
    troubledStoreConformance(make, trouble);
    interruptedStoreConformance(make, trouble);
  }
  test("a tile that was put is read back, and another is absent", async () => {
    const store = make();
    await store.put(at(3, 2, 5), of(10), ...unconditionally);
    expect(Buffer.from((await store.get(at(3, 2, 5)))?.bytes ?? []).equals(Buffer.from(of(10)))).toBe(true);
    expect((await store.stat(at(3, 2, 5)))?.bytes).toBe(10);
    expect(await store.get(at(2, 3, 5))).toBeUndefined();
  });
  test("every tile has a name of its own, relative to the root, whether it is there or not", () => {
    const store = make();
    const places = [at(3, 2, 5), at(2, 3, 5), at(3, 2, 6), at(3, 2, 5, { format: "image/jpeg" })];
    const keys = [...places, at(3, 2, 5, { parametersId: ID })].map((place) => store.keyOf(place));
    expect(new Set(keys).size).toBe(5);
    expect(keys.filter((key) => key.startsWith("/"))).toEqual([]);
  });
  test("a put answers the bytes that it replaced", async () => {
    const store = make();
    expect(await store.put(at(0, 0, 0), of(7), ...unconditionally)).toEqual({ stored: true, replaced: undefined });
    expect(await store.put(at(0, 0, 0), of(9), ...unconditionally)).toEqual({ stored: true, replaced: 7 });
    expect((await store.stat(at(0, 0, 0)))?.bytes).toBe(9);
  });
  test("the very same bytes are confirmed, with their time or a new one; other bytes, none, or a guard's no are not", async () => {
    const store = make();
    const place = at(0, 0, 0);
    expect(await store.confirm(place, of(7), { time: "keep", guard: yes }, never)).toBe(false);
    await store.put(place, of(7), ...unconditionally);
    const before = (await store.stat(place))?.modifiedMs ?? 0;
    expect(await store.confirm(place, new Uint8Array(7), { time: "renew", guard: yes }, never)).toBe(false);
    expect(await store.confirm(place, of(8), { time: "renew", guard: yes }, never)).toBe(false);
    expect(await store.confirm(place, of(7), { time: "renew", guard: () => false }, never)).toBe(false);
    expect(await store.confirm(place, of(7), { time: "keep", guard: yes }, never)).toBe(true);
    const confirmed = await store.stat(place);
    expect(confirmed).toMatchObject({ bytes: 7, modifiedMs: before });
    expect(confirmed?.confirmedMs).toBeGreaterThanOrEqual(Math.floor(before));
    expect(await store.confirm(place, of(7), { time: "renew", guard: yes }, never)).toBe(true);
    expect((await store.stat(place))?.bytes).toBe(7);
    // A time in whole milliseconds that is set as fractions of a second may be read back slightly earlier.
    expect((await store.stat(place))?.modifiedMs).toBeGreaterThan(Math.floor(before) - 1);
  });
  test("a copy keeps the time of its tile", async () => {
    const store = make();
    const writtenMs = 1_600_000_000_000;
    await store.put(at(0, 0, 0), of(7), { guard: yes, modifiedMs: writtenMs }, never);
    expect((await store.get(at(0, 0, 0)))?.modifiedMs).toBe(writtenMs);
    await store.put(at(0, 0, 0), of(8), ...unconditionally);
    expect((await store.get(at(0, 0, 0)))?.modifiedMs).toBeGreaterThan(writtenMs);
  });
  test("nothing is stored when the guard says no", async () => {
    const store = make();
    expect(await store.put(at(0, 0, 0), of(7), { guard: () => false }, never)).toEqual({ stored: false });
    expect(await store.get(at(0, 0, 0))).toBeUndefined();
  });
  test("a put whose signal has fired stores nothing, and such a confirmation is none", async () => {
    const store = make();
    await store.put(at(0, 0, 0), of(7), ...unconditionally);
    const fired = AbortSignal.abort(new Error("killed"));
    await expect(store.put(at(0, 0, 0), of(9), { guard: yes }, fired)).rejects.toBe(fired.reason);
    await expect(store.put(at(1, 1, 3), of(9), { guard: yes }, fired)).rejects.toBe(fired.reason);
    expect(await store.confirm(at(0, 0, 0), of(7), { time: "renew", guard: yes }, fired)).toBe(false);
    expect((await store.stat(at(0, 0, 0)))?.bytes).toBe(7);
    expect(await store.get(at(1, 1, 3))).toBeUndefined();
  });
  test.each(["after the call", "in the first guard", "in the last guard"] as const)(
    "a put whose signal fires %s leaves the whole tile if it says so, and otherwise nothing or the whole tile",
    async (moment) => {
      const store = make();
      const ending = new AbortController();
      const killed = new Error("killed");
      let guards = 0;
      const guard = (): boolean => {
        guards++;
        if (moment === (guards === 1 ? "in the first guard" : "in the last guard")) ending.abort(killed);
        return true;
      };
      const put = store.put(at(1, 1, 3), of(200), { guard }, ending.signal);
      if (moment === "after the call") ending.abort(killed);
      const outcome = await put.catch((error: unknown) => error);
      const counted = store.recount(base, rect(3, 0, 0, 7, 7), false).map(({ x, y, bytes }) => [x, y, bytes]);
      const found = await store.get(at(1, 1, 3));
      expect(counted).toEqual(found === undefined ? [] : [[1, 1, 200]]);
      if (found !== undefined) expect(Buffer.compare(found.bytes, of(200))).toBe(0);
      if (outcome === killed) expect(found).toBeUndefined();
      else if (outcome instanceof StoreError) expect(outcome.code).toBe("unavailable");
      else {
        expect(outcome).toEqual({ stored: true, replaced: undefined });
        expect(found).toBeDefined();
      }
    },
  );
  test("layers, grid sets, formats and parameters do not touch one another", async () => {
    const store = make();
    const others: Partial<TileSet>[] = [
      {},
      { layer: "ws:b" },
      { gridSet: "EPSG:4326x2" },
      { format: "image/jpeg" },
      { parametersId: ID },
    ];
    for (const [i, other] of others.entries()) await store.put(at(1, 1, 3, other), of(i + 1), ...unconditionally);
    for (const [i, other] of others.entries()) expect((await store.stat(at(1, 1, 3, other)))?.bytes).toBe(i + 1);
  });
  test("the layers that may have tiles include each that has one, and at most those that were asked for", async () => {
    const store = make();
    for (const layer of ["ws:a", "ws:b", "group/c"]) await store.put(at(1, 1, 3, { layer }), of(1), ...unconditionally);
    const names = ["ws:a", "group/c", "none"];
    const there = store.layersThere(names);
    expect(there).toEqual(expect.arrayContaining(["ws:a", "group/c"]));
    expect(names).toEqual(expect.arrayContaining([...there]));
  });
  test("a truncated layer is gone, in every grid set and format, and others stay", async () => {
    const store = make();
    await store.put(at(1, 1, 3), of(1), ...unconditionally);
    await store.put(
      at(1, 1, 3, { gridSet: "EPSG:4326x2", parametersId: ID, format: "image/jpeg" }),
      of(1),
      ...unconditionally,
    );
    await store.put(at(1, 1, 3, { layer: "ws:b" }), of(1), ...unconditionally);
    const names = store.plan({ kind: "layer", layer: "ws:a" });
    store.truncate("1", names, "reclaim");
    store.truncate("1", names, "reclaim");
    expect(await store.get(at(1, 1, 3))).toBeUndefined();
    expect(store.pyramids("ws:a", [])).toEqual([]);
    expect((await store.stat(at(1, 1, 3, { layer: "ws:b" })))?.bytes).toBe(1);
    await store.put(at(1, 1, 3), of(2), ...unconditionally);
    expect((await store.stat(at(1, 1, 3)))?.bytes).toBe(2);
  });
  test("truncating zooms of a pyramid removes exactly those, and not a grid set whose name goes on", async () => {
    const store = make();
    for (const z of [2, 3, 4])
      for (const gridSet of ["EPSG:4326", "EPSG:4326x2"])
        await store.put(at(1, 1, z, { gridSet }), of(1), ...unconditionally);
    await store.put(at(1, 1, 3, { parametersId: ID }), of(1), ...unconditionally);
    store.truncate(
      "2",
      store.plan({
        kind: "pyramid",
        layer: "ws:a",
        gridSet: "EPSG:4326",
        parametersId: "",
        zooms: { first: 3, last: 3 },
      }),
      "reclaim",
    );
    expect(store.levels({ layer: "ws:a", gridSet: "EPSG:4326", parametersId: "" })).toEqual([2, 4]);
    expect(store.levels({ layer: "ws:a", gridSet: "EPSG:4326x2", parametersId: "" })).toEqual([2, 3, 4]);
    expect((await store.stat(at(1, 1, 3, { parametersId: ID })))?.bytes).toBe(1);
  });
  describe("what was set aside", () => {
    const everything = { kind: "layer", layer: "ws:a" } as const;
    test("comes back whole where nothing was stored since", async () => {
      const store = make();
      await store.put(at(1, 1, 3), of(1), ...unconditionally);
      await store.put(at(1, 1, 3, { parametersId: ID }), of(2), ...unconditionally);
      await store.describeParameters("ws:a", ID, { STYLES: "a" });
      const names = store.plan(everything);
      store.truncate("1", names, "keep");
      store.truncate("1", names, "keep");
      expect(await store.get(at(1, 1, 3))).toBeUndefined();
      expect(store.asideIds()).toEqual(["1"]);
      store.restore("1", names);
      expect((await store.stat(at(1, 1, 3)))?.bytes).toBe(1);
      expect((await store.stat(at(1, 1, 3, { parametersId: ID })))?.bytes).toBe(2);
      expect(store.parametersOf("ws:a", ID)).toEqual({ STYLES: "a" });
      expect(store.asideIds()).toEqual([]);
    });
    test("comes back instead of the tiles stored since, and only once", async () => {
      const store = make();
      for (const x of [1, 2, 40]) await store.put(at(x, 1, 6), of(x), ...unconditionally);
      const names = store.plan(everything);
      store.truncate("1", names, "keep");
      for (const x of [2, 3, 60]) await store.put(at(x, 1, 6), of(100 + x), ...unconditionally);
      await store.put(at(1, 1, 6, { layer: "ws:b" }), of(9), ...unconditionally);
      store.restore("1", names);
      const sizes = await Promise.all([1, 2, 3, 40, 60].map(async (x) => (await store.stat(at(x, 1, 6)))?.bytes));
      expect(sizes).toEqual([1, 2, undefined, 40, undefined]);
      expect((await store.stat(at(1, 1, 6, { layer: "ws:b" })))?.bytes).toBe(9);
      await store.put(at(3, 1, 6), of(3), ...unconditionally);
      store.restore("1", names);
      expect((await store.stat(at(3, 1, 6)))?.bytes).toBe(3);
    });
    test("comes back pyramid by pyramid", async () => {
      const store = make();
      await store.put(at(1, 1, 3), of(1), ...unconditionally);
      await store.put(at(1, 1, 3, { parametersId: ID }), of(2), ...unconditionally);
      const names = store.plan({ kind: "pyramid", layer: "ws:a", gridSet: "EPSG:4326", parametersId: "" });
      store.truncate("1", names, "keep");
      expect((await store.stat(at(1, 1, 3, { parametersId: ID })))?.bytes).toBe(2);
      await store.put(at(1, 1, 3), of(3), ...unconditionally);
      await store.put(at(1, 1, 3, { parametersId: ID }), of(4), ...unconditionally);
      store.restore("1", names);
      expect((await store.stat(at(1, 1, 3)))?.bytes).toBe(1);
      expect((await store.stat(at(1, 1, 3, { parametersId: ID })))?.bytes).toBe(4);
    });
    test("is gone when it is discarded", async () => {
      const store = make();
      await store.put(at(1, 1, 3), of(1), ...unconditionally);
      const names = store.plan(everything);
      store.truncate("1", names, "keep");
      store.discard("1");
      store.discard("1");
      expect(store.asideIds()).toEqual([]);
      store.restore("1", names);
      expect(await store.get(at(1, 1, 3))).toBeUndefined();
    });
  });
  test("a range is deleted exactly, and every tile is reported with its format and bytes", async () => {
    const store = make();
    for (let x = 0; x < 20; x++)
      for (const format of ["image/png", "image/jpeg"])
        await store.put(at(x, 5, 6, { format }), of(x + 1), ...unconditionally);
    const reported: Deleted[] = [];
    const warned = new Set<string>();
    const listener = {
      async willDelete(tiles: readonly Deleted[]) {
        for (const tile of tiles) {
          expect((await store.stat(at(tile.x, tile.y, tile.z, { format: tile.format })))?.bytes).toBe(tile.bytes);
          warned.add(`${tile.format} ${tile.x}`);
        }
      },
      onDeleted(tile: Deleted) {
        expect(warned).toContain(`${tile.format} ${tile.x}`);
        reported.push(tile);
      },
    };
    await store.deleteRange(
      { layer: "ws:a", gridSet: "EPSG:4326", parametersId: "", format: "image/png" },
      rect(6, 3, 0, 11, 40),
      listener,
      new AbortController().signal,
    );
    expect(reported.map((d) => [d.format, d.x, d.bytes]).sort((a, b) => Number(a[1]) - Number(b[1]))).toEqual(
      Array.from({ length: 9 }, (_, i) => ["image/png", i + 3, i + 4]),
    );
    expect((await store.stat(at(2, 5, 6)))?.bytes).toBe(3);
    expect(await store.get(at(3, 5, 6))).toBeUndefined();
    expect((await store.stat(at(3, 5, 6, { format: "image/jpeg" })))?.bytes).toBe(4);
    await store.deleteRange(
      { layer: "ws:a", gridSet: "EPSG:4326", parametersId: "" },
      rect(6, 0, 0, 2 ** 30, 2 ** 30),
      listener,
      new AbortController().signal,
    );
    expect(reported).toHaveLength(40);
  });
  test("a deletion of chosen tiles leaves the others of the rectangle", async () => {
    const store = make();
    for (let x = 0; x < 6; x++) await store.put(at(x, 1, 6), of(x + 1), ...unconditionally);
    const reported: number[] = [];
    const listener = {
      willDelete: async () => {},
      onDeleted: ({ x }: { readonly x: number }) => void reported.push(x),
    };
    const scope = { layer: "ws:a", gridSet: "EPSG:4326", parametersId: "", chosen: (x: number) => x % 2 === 0 };
    const { signal } = new AbortController();
    await store.deleteRange({ ...scope, format: "image/png" }, rect(6, 0, 0, 3, 3), listener, signal);
    expect(reported.sort()).toEqual([0, 2]);
    await store.deleteRange(scope, rect(6, 0, 0, 2 ** 30, 2 ** 30), listener, signal);
    expect(reported.sort()).toEqual([0, 2, 4]);
    for (const x of [1, 3, 5]) expect(await store.get(at(x, 1, 6))).toBeDefined();
  });
  test("an aborted deletion stops", async () => {
    const store = make();
    await store.put(at(0, 0, 1), of(1), ...unconditionally);
    const deletion = store.deleteRange(
      { layer: "ws:a", gridSet: "EPSG:4326", parametersId: "" },
      rect(1, 0, 0, 1, 1),
      { willDelete: async () => {}, onDeleted: () => {} },
      AbortSignal.abort(new Error("stop")),
    );
    await expect(deletion).rejects.toThrow("stop");
  });
  test("many tiles are removed at once, those that are not there too, and no others", async () => {
    const store = make();
    const there = [at(1, 1, 6), at(2, 1, 6), at(3, 1, 5), at(1, 1, 6, { format: "image/jpeg" })];
    for (const place of [...there, at(4, 1, 6)]) await store.put(place, of(3), ...unconditionally);
    expect(store.deleteAll([...there, at(9, 9, 6)])).toEqual([true, true, true, true, true]);
    for (const place of there) expect(await store.get(place)).toBeUndefined();
    expect((await store.stat(at(4, 1, 6)))?.bytes).toBe(3);
    expect(store.deleteAll([])).toEqual([]);
  });
  test("a recount finds the tiles in a rectangle of one tile set", async () => {
    const store = make();
    for (let x = 0; x < 40; x += 10) await store.put(at(x, 1, 7), of(x + 1), ...unconditionally);
    await store.put(at(10, 1, 7, { format: "image/jpeg" }), of(99), ...unconditionally);
    expect(
      store
        .recount(base, rect(7, 10, 0, 20, 9), false)
        .map((t) => [t.x, t.y, t.bytes])
        .sort((a, b) => Number(a[0]) - Number(b[0])),
    ).toEqual([
      [10, 1, 11],
      [20, 1, 21],
    ]);
  });
  test("pyramids are listed with the known grid sets", async () => {
    const store = make();
    await store.put(at(0, 0, 0, { parametersId: ID }), of(1), ...unconditionally);
    expect(store.pyramids("ws:a", ["EPSG:4326"])).toEqual([{ layer: "ws:a", gridSet: "EPSG:4326", parametersId: ID }]);
  });
  test("what a parameters id means is written down and read back", async () => {
    const store = make();
    await store.put(at(0, 0, 0, { parametersId: ID }), of(1), ...unconditionally);
    const values = { STYLES: "pop=hatch", CQL_FILTER: " TOTPOP > 10000 # ä\\" };
    await store.describeParameters("ws:a", ID, values);
    expect(store.parametersOf("ws:a", ID)).toEqual(values);
    expect(store.parametersOf("ws:a", "0".repeat(40))).toBeUndefined();
  });
  describe("pyramids whose last tile is gone", () => {
    const pyramids = [
      { gridSet: "EPSG:4326", parametersId: ID },
      { gridSet: "EPSG:4326", parametersId: "" },
    ];
    test("leave nothing, and their values are read back as long as another pyramid has them", async () => {
      const store = make();
      await store.put(at(0, 0, 0, { parametersId: ID }), of(1), ...unconditionally);
      await store.put(at(300, 1, 9), of(1), ...unconditionally);
      await store.put(at(0, 0, 0, { parametersId: ID, gridSet: "other" }), of(1), ...unconditionally);
      await store.describeParameters("ws:a", ID, { STYLES: "a" });
      expect(store.removeEmptyPyramids("ws:a", pyramids)).toEqual(["tiles", "tiles"]);
      expect((await store.get(at(300, 1, 9)))?.bytes.byteLength).toBe(1);
      store.delete(at(0, 0, 0, { parametersId: ID }));
      store.delete(at(300, 1, 9));
      expect(store.removeEmptyPyramids("ws:a", pyramids)).toEqual(["gone", "gone"]);
      expect(store.pyramids("ws:a", ["EPSG:4326", "other"])).toEqual([
        { layer: "ws:a", gridSet: "other", parametersId: ID },
      ]);
      expect(store.parametersOf("ws:a", ID)).toEqual({ STYLES: "a" });
      store.delete(at(0, 0, 0, { parametersId: ID, gridSet: "other" }));
      expect(store.removeEmptyPyramids("ws:a", [{ gridSet: "other", parametersId: ID }])).toEqual(["gone"]);
      expect(store.parametersOf("ws:a", ID)).toBeUndefined();
      expect(store.removeEmptyPyramids("ws:a", pyramids)).toEqual(["gone", "gone"]);
      expect(store.removeEmptyPyramids("ws:never", pyramids)).toEqual(["gone", "gone"]);
    });
    test("are described anew by a writer that comes back", async () => {
      const store = make();
      for (let n = 0; n < 2; n++) {
        await store.put(at(0, 0, 0, { parametersId: ID }), of(1), ...unconditionally);
        await store.describeParameters("ws:a", ID, { STYLES: "a" });
        expect(store.parametersOf("ws:a", ID)).toEqual({ STYLES: "a" });
        store.delete(at(0, 0, 0, { parametersId: ID }));
        store.removeEmptied({ ...base, parametersId: ID }, rect(0, 0, 0, 15, 15));
        expect(store.levels({ ...base, parametersId: ID })).toEqual([]);
        expect(store.removeEmptyPyramids("ws:a", pyramids)).toEqual(["gone", "gone"]);
      }
    });
  });
  test("emptied places go, and those with a tile stay", async () => {
    const store = make();
    for (const x of [0, 20]) await store.put(at(x, 0, 6), of(7), ...unconditionally);
    store.delete(at(0, 0, 6));
    store.removeEmptied(base, rect(6, 0, 0, 31, 15));
    store.removeEmptied(base, rect(5, 0, 0, 31, 15));
    expect((await store.get(at(20, 0, 6)))?.bytes.byteLength).toBe(7);
    expect(store.levels(base)).toEqual([6]);
  });
}

function troubledStoreConformance(make: () => Store, trouble: StoreTrouble): void {
  const codeOf = async (work: () => unknown): Promise<unknown> => {
    try {
      return await work();
    } catch (error) {
      return error instanceof StoreError ? error.code : error;
    }
  };
  test.each(TROUBLES)("%s of a read or a write is a StoreError, and is over with its cause", async (code, expected) => {
    const store = make();
    await store.put(at(0, 0, 0), of(7), ...unconditionally);
    const reading = trouble.fail("read", code);
    try {
      expect(await codeOf(() => store.get(at(0, 0, 0)))).toBe(expected);
    } finally {
      reading.end();
    }
    const writing = trouble.fail("write", code);
    try {
      expect(await codeOf(() => store.put(at(0, 0, 0), of(9), ...unconditionally))).toBe(expected);
      expect(await codeOf(() => store.put(at(5, 5, 5), of(9), ...unconditionally))).toBe(expected);
    } finally {
      writing.end();
    }
    expect((await store.stat(at(0, 0, 0)))?.bytes).toBe(7);
    expect(await store.stat(at(5, 5, 5))).toBeUndefined();
    expect(await store.put(at(0, 0, 0), of(9), ...unconditionally)).toEqual({ stored: true, replaced: 7 });
  });
  test("a layer whose part of the store is away is not empty: it cannot be written, counted, listed or evicted", async () => {
    const store = make();
    await store.put(at(1, 1, 3), of(7), ...unconditionally);
    await store.check("ws:a");
    const away = trouble.away(store);
    const cell = rect(3, 0, 0, 7, 7);
    try {
      expect(await codeOf(() => store.put(at(1, 1, 3), of(9), ...unconditionally))).toBe("unavailable");
      expect(await codeOf(() => store.check("ws:a"))).toBe("unavailable");
      expect(await codeOf(() => store.recount(base, cell, false))).toBe("unavailable");
      expect(await codeOf(() => store.levels(base))).toBe("unavailable");
      expect(await codeOf(() => store.pyramids("ws:a", []))).toBe("unavailable");
      expect(await codeOf(() => store.delete(at(1, 1, 3)))).toBe("unavailable");
      expect(store.deleteAll([at(1, 1, 3)])).toEqual([false]);
      expect(await store.get(at(1, 1, 3))).toBeUndefined();
      await store.put(at(1, 1, 3, { layer: "ws:b" }), of(1), ...unconditionally);
    } finally {
      away.end();
    }
    await store.check("ws:a");
    expect((await store.get(at(1, 1, 3)))?.bytes.byteLength).toBe(7);
    expect(store.recount(base, cell, false)).toHaveLength(1);
  });
}

/** An operation of a store during which an operation of its disk fails: the one after `nth` others. */
const interruption = fc.record({
  what: fc.constantFrom("put", "put", "put", "confirm", "delete", "truncate", "delete a range", "read", "recount"),
  x: fc.nat(3),
  size: fc.integer({ min: 1, max: 200 }),
  nth: fc.nat(14),
  code: fc.constantFrom("ENOSPC", "EIO"),
});

function interruptedStoreConformance(make: () => Store, trouble: StoreTrouble): void {
  const cell = rect(5, 0, 0, 15, 15);
  const places = [0, 1, 2, 3];
  const sizeOf = async (store: Store, x: number) => (await store.get(at(x, 1, 5)))?.bytes.byteLength;
  const outcomeOf = async (work: () => unknown): Promise<unknown> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return error;
    }
  };
  test("wherever its disk fails, a store says so, keeps whole tiles, and counts what is readable", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(interruption, { minLength: 1, maxLength: 12 }), async (steps) => {
        await using store = make();
        const sizes = new Map<number, number | undefined>();
        for (const { what, x, size, nth, code } of steps) {
          const place = at(x, 1, 5);
          const before = sizes.get(x);
          const names = what === "truncate" ? store.plan({ kind: "layer", layer: "ws:a" }) : [];
          const gone: number[] = [];
          const listener = {
            willDelete: async () => {},
            onDeleted: (tile: Deleted) => void gone.push(tile.x),
          };
          const scope = { layer: "ws:a", gridSet: "EPSG:4326", parametersId: "", format: "image/png" };
          const work: Readonly<Record<typeof what, () => unknown>> = {
            put: () => store.put(place, of(size), ...unconditionally),
            confirm: () => store.confirm(place, of(before ?? size), { time: "renew", guard: yes }, never),
            delete: () => store.delete(place),
            truncate: () => store.truncate("1", names, "reclaim"),
            "delete a range": () => store.deleteRange(scope, rect(5, x, 0, x + 1, 15), listener, never),
            read: () => sizeOf(store, x),
            recount: () => store.recount(base, cell, false).map((tile) => [tile.x, tile.bytes]),
          };
          const fault = trouble.failNth(nth, code);
          const outcome = await outcomeOf(async () => {
            try {
              return await work[what]();
            } finally {
              // The fault may also meet what a store does at the end of its turn.
              await new Promise(setImmediate);
              fault.end();
            }
          });
          const isDone = !(outcome instanceof StoreError);
          // A truncation that was interrupted is repeated with the same names.
          if (what === "truncate" && !isDone) store.truncate("1", names, "reclaim");
          const found = await Promise.all(places.map((one) => sizeOf(store, one)));
          const counted = store.recount(base, cell, false).map((tile) => [tile.x, tile.bytes]);
          const readable = found.flatMap((bytes, one) => (bytes === undefined ? [] : [[one, bytes]]));
          expect(counted.sort()).toEqual(readable);
          for (const [one, bytes] of found.entries()) {
            const known = sizes.get(one);
            const isMeant = what === "truncate" || (what === "delete a range" ? one === x || one === x + 1 : one === x);
            const after =
              !isMeant || ["confirm", "read", "recount"].includes(what) ? known : what === "put" ? size : undefined;
            const mayBe = isDone || what === "truncate" || gone.includes(one) ? [after] : [known, after];
            expect(mayBe, `${what} of ${x} leaves ${one} at ${known}, or makes it ${after}`).toContain(bytes);
            if (bytes !== undefined)
              expect(Buffer.compare((await store.get(at(one, 1, 5)))?.bytes ?? of(0), of(bytes))).toBe(0);
            sizes.set(one, bytes);
          }
          if (!isDone) continue;
          if (what === "put") expect(outcome).toEqual({ stored: true, replaced: before });
          if (what === "delete" || what === "read") expect(outcome).toBe(before);
          if (what === "recount") expect(outcome).toEqual(readable);
        }
      }),
      { numRuns: 100 },
    );
  });
}
