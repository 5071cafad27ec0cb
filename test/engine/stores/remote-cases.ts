import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TileAddress } from "../../../src/layer/tile-set.ts";
import { thisMachine } from "../../../src/lib/this-machine.ts";
import type { Bucket } from "../../../src/store/remote/bucket.ts";
import { createRemoteStore, type RemoteStore } from "../../../src/store/remote/remote-store.ts";
import { bucketOf, loadRemoteCode, type RemoteOptions } from "../../../src/store/remote-kinds.ts";
import { storeConformance } from "../../../src/store/store.conformance.ts";
import type { Store } from "../../../src/store/store.ts";
import { unconditionally } from "../../support/stores/memory-store.ts";

const THREAD = new URL("../../../dist/bridge-thread.cjs", import.meta.url);
const tileSet = { layer: "ws:a", gridSet: "EPSG:4326", format: "image/png8", parametersId: "" };
const at = (x: number, y: number, z: number): TileAddress => ({ tileSet, x, y, z });
const of = (size: number): Uint8Array => new Uint8Array(size).fill(size);
const everything = { kind: "layer", layer: "ws:a" } as const;

/** A service with one bucket, for the cases of every kind of remote store. */
export interface RemoteService {
  /** Returns the options of a store under a separate prefix, with the file of its names. */
  options(prefix: string, namesFile: string): RemoteOptions;
  /** Returns the options with an address where no service listens. */
  away(options: RemoteOptions): RemoteOptions;
  /** Returns the options with a bucket that does not exist. */
  nowhere(options: RemoteOptions): RemoteOptions;
  /** The code of the service for such a bucket. */
  readonly unknownBucket: string;
}

type OwnedOptions = RemoteOptions & { readonly isOwner: boolean };

/** The cases that the store of every service passes, beside the conformance suite. */
export function remoteCases(started: () => RemoteService): void {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-s3-names-"));
  const opened: Store[] = [];
  let made = 0;
  afterEach(async () => {
    for (const store of opened.splice(0)) await store[Symbol.asyncDispose]();
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
  });

  let code: Awaited<ReturnType<typeof loadRemoteCode>> = {};
  beforeAll(async () => {
    code = await loadRemoteCode([started().options("any", "any")]);
  });
  const optionsOf = (name: string): OwnedOptions => ({
    ...started().options(name, join(directory, `${name}.json`)),
    isOwner: true,
  });
  const bucketFor = (options: RemoteOptions): Bucket => bucketOf(options, thisMachine, code)("wait");
  const create = (options: OwnedOptions): RemoteStore => {
    const store = createRemoteStore(options, bucketOf(options, thisMachine, code), thisMachine, THREAD);
    opened.push(store);
    return store;
  };
  const open = (options: OwnedOptions): Store => {
    const store = create(options);
    // The coordinator reads the names at its start.
    if (options.isOwner) store.asideIds();
    return store;
  };
  const keysOf = async (options: RemoteOptions): Promise<string[]> => {
    await using client = bucketFor(options);
    const keys: string[] = [];
    for await (const page of client.list({ prefix: "" })) keys.push(...page.objects.map(({ key }) => key));
    return keys.filter((key) => !key.startsWith("_nuthatch/")).sort();
  };

  describe("conforms", () => storeConformance(() => open(optionsOf(`c${made++}`)), undefined));

  test("keys are GeoWebCache's until a truncation, and a bucket of GeoWebCache is taken over", async () => {
    const options = optionsOf("gwc");
    await using client = bucketFor(options);
    const key = "ws:a/EPSG:4326/png8/default/3/5/2.png";
    await client.put(key, of(9), { contentType: "image/png" });
    const store = open(options);
    expect(store.keyOf(at(5, 2, 3))).toBe(key);
    expect((await store.get(at(5, 2, 3)))?.bytes).toHaveLength(9);
    expect((await store.stat(at(5, 2, 3)))?.modifiedMs).toBeGreaterThan(1_700_000_000_000);
    expect(store.pyramids("ws:a", [])).toEqual([{ layer: "ws:a", gridSet: "EPSG:4326", parametersId: "" }]);
    expect(store.recount(tileSet, { z: 3, minX: 0, minY: 0, maxX: 15, maxY: 15 }, false)).toMatchObject([
      { x: 5, y: 2, bytes: 9 },
    ]);
    store.truncate("1", store.plan(everything), "reclaim");
    expect(store.keyOf(at(5, 2, 3))).toMatch(/^ws:a\/EPSG:4326\/png8\/default~[0-9a-z]{12}\/3\/5\/2\.png$/);
    expect(await store.get(at(5, 2, 3))).toBeUndefined();
  });

  test("a process that only reads and writes sees a truncation at once, and a late put of the old name is not stored", async () => {
    const options = optionsOf("processes");
    const owner = open(options);
    const other = open({ ...options, isOwner: false });
    expect(await other.put(at(1, 1, 3), of(1), ...unconditionally)).toEqual({ stored: true, replaced: undefined });
    owner.truncate("1", owner.plan(everything), "reclaim");
    expect(await other.get(at(1, 1, 3))).toBeUndefined();
    let asked = 0;
    const { signal } = new AbortController();
    const truncating = (id: string) => () => {
      // Right before the put is sent.
      if (++asked === 2) owner.truncate(id, owner.plan(everything), "reclaim");
      return true;
    };
    const late = await other.put(at(2, 1, 3), of(2), { guard: truncating("2") }, signal);
    // Nothing was stored under the new name, so the second truncation had nothing to do.
    expect(late).toEqual({ stored: true, replaced: undefined });
    asked = 0;
    const later = await other.put(at(3, 1, 3), of(2), { guard: truncating("3") }, signal);
    expect(later).toEqual({ stored: false });
    expect(await other.get(at(3, 1, 3))).toBeUndefined();
    expect(() => other.truncate("4", ['["ws:a"]'], "reclaim")).toThrow("only the coordinator changes it");
  });

  test("a sweep deletes what was truncated, nothing else, and again after an hour what came late", async () => {
    const options = optionsOf("sweep");
    const store = open(options);
    for (let x = 0; x < 30; x++) await store.put(at(x, 1, 6), of(3), ...unconditionally);
    await store.put(at(1, 1, 5), of(3), ...unconditionally);
    await store.put({ ...at(1, 1, 3), tileSet: { ...tileSet, layer: "ws:b" } }, of(3), ...unconditionally);
    const old = store.keyOf(at(0, 1, 6));
    store.truncate("1", store.plan({ kind: "pyramid", ...tileSet, zooms: { first: 6, last: 6 } }), "reclaim");
    await store.put(at(7, 1, 6), of(7), ...unconditionally);
    expect(store.needsSweep()).toBe(true);
    await store.sweepRemote(new AbortController().signal);
    expect(store.needsSweep()).toBe(false);
    const readable = [
      store.keyOf(at(1, 1, 5)),
      store.keyOf(at(7, 1, 6)),
      "ws:b/EPSG:4326/png8/default/3/1/1.png",
    ].sort();
    expect(await keysOf(options)).toEqual(readable);
    await using client = bucketFor(options);
    await client.put(old, of(1), { contentType: "image/png" });
    expect(await store.get(at(0, 1, 6))).toBeUndefined();
    const real = Date.now;
    const later = real() + 3_700_000;
    // Only the sweep's clock matters; the bridge thread uses the times that it is given.
    Date.now = () => later;
    try {
      await store.sweepRemote(new AbortController().signal);
    } finally {
      Date.now = real;
    }
    expect(await keysOf(options)).toEqual(readable);
  });

  test("what a truncation keeps for its undo is never swept", async () => {
    const options = optionsOf("aside");
    const store = open(options);
    await store.put(at(1, 1, 3), of(1), ...unconditionally);
    const names = store.plan(everything);
    store.truncate("1", names, "keep");
    await store.put(at(1, 1, 3), of(2), ...unconditionally);
    store.truncate("2", store.plan(everything), "reclaim");
    await store.put(at(1, 1, 3), of(4), ...unconditionally);
    await store.sweepRemote(new AbortController().signal);
    store.restore("1", names);
    await store.sweepRemote(new AbortController().signal);
    expect((await store.stat(at(1, 1, 3)))?.bytes).toBe(1);
    expect(await keysOf(options)).toEqual([store.keyOf(at(1, 1, 3))]);
  });

  test("a server that has lost its data directory takes the names of the bucket", async () => {
    const options = optionsOf("lost");
    const store = open(options);
    await store.put(at(1, 1, 3), of(1), ...unconditionally);
    store.truncate("1", store.plan(everything), "reclaim");
    await store.put(at(1, 1, 3), of(2), ...unconditionally);
    const next = open({ ...options, namesFile: join(directory, "lost-2.json") });
    expect((await next.stat(at(1, 1, 3)))?.bytes).toBe(2);
    // Both change the names, and no change is lost.
    next.truncate("2", next.plan(everything), "keep");
    store.truncate("3", store.plan(everything), "reclaim");
    expect(store.asideIds()).toEqual(["2"]);
  });

  test("a cell is counted wherever its numbers get another digit, and regions list every tile once", async () => {
    const store = open(optionsOf("digits"));
    const rows = [0, 9, 10, 15, 16, 95, 96, 99, 100, 111, 112, 992, 999, 1000, 1007, 1008];
    await Promise.all(rows.flatMap((y) => [5, 1003].map((x) => store.put(at(x, y, 12), of(4), ...unconditionally))));
    for (const minY of [0, 96, 992, 1008]) {
      const found = store.recount(tileSet, { z: 12, minX: 992, minY, maxX: 1007, maxY: minY + 15 }, false);
      const expected = rows.filter((y) => y >= minY && y <= minY + 15);
      expect(found.map(({ y }) => y).sort((a, b) => a - b)).toEqual(expected);
      expect(store.timesOf(at(1003, expected[0] ?? 0, 12))?.bytes).toBe(4);
    }
    const listed: string[] = [];
    const keys: string[] = [];
    for await (const { key, rect, tiles } of store.regions(tileSet, 12, undefined)) {
      keys.push(key);
      for (const { x, y } of tiles.get("image/png8") ?? []) {
        listed.push(`${x}/${y}`);
        expect(x >= rect.minX && x <= rect.maxX && y >= rect.minY && y <= rect.maxY).toBe(true);
      }
    }
    expect(listed.sort()).toEqual(rows.flatMap((y) => [`5/${y}`, `1003/${y}`]).sort());
    expect(keys).toEqual([...keys].sort());
    const rest: string[] = [];
    for await (const { key } of store.regions(tileSet, 12, keys[1])) rest.push(key);
    expect(rest).toEqual(keys.slice(2));
  });

  test("a bucket that is away is no empty store, and the store's id is named", async () => {
    const store = create({ ...started().away(optionsOf("away")), isOwner: true });
    expect(() => store.pyramids("ws:a", [])).toThrow(/store main: .*ECONNREFUSED/);
    const beganMs = performance.now();
    expect(() => store.asideIds()).toThrow("store main");
    expect(performance.now() - beganMs, "the second call fails at once").toBeLessThan(5_000);
    await expect(store.check("ws:a")).rejects.toMatchObject({ name: "StoreError", code: "unavailable" });
    expect(await store.trouble()).toMatchObject({ isConfiguration: false });
    const nowhere = create({ ...started().nowhere(optionsOf("nowhere")), isOwner: true });
    expect(await nowhere.trouble()).toEqual({
      message: expect.stringContaining(`store main: the bucket cannot be listed: ${started().unknownBucket}`),
      isConfiguration: true,
    });
  });
}
