import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { inDirectory } from "../../test/support/stores/in-directory.ts";
import { createMemoryStore, unconditionally } from "../../test/support/stores/memory-store.ts";
import { createFileStore } from "./file/file-store.ts";
import { storeConformance } from "./store.conformance.ts";
import { StoreRouter } from "./store-router.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-router-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;
const files = () => createFileStore(inDirectory(join(directory, String(made++))));
const at = (layer: string, x = 0) => ({
  tileSet: { layer, gridSet: "g", format: "image/png", parametersId: "" },
  x,
  y: 0,
  z: 4,
});

function router() {
  const [one, two] = [files(), files()];
  const routed = new StoreRouter([
    { id: "one", store: one },
    { id: "two", store: two },
  ]);
  routed.configure([{ name: "ws:a" }, { name: "ws:b", store: "two" }]);
  return { one, two, routed };
}

describe("several stores", () => {
  storeConformance(() => router().routed, undefined);

  test("have the tiles of each layer in its own store; a layer without one has the first, a removed one that with tiles", async () => {
    const { one, two, routed } = router();
    await routed.put(at("ws:a"), new Uint8Array(1), ...unconditionally);
    await routed.put(at("ws:b"), new Uint8Array(2), ...unconditionally);
    expect([one.stat(at("ws:a"))?.bytes, two.stat(at("ws:a"))?.bytes]).toEqual([1, undefined]);
    expect([one.stat(at("ws:b"))?.bytes, two.stat(at("ws:b"))?.bytes]).toEqual([undefined, 2]);
    routed.configure([{ name: "ws:a" }]);
    expect((await routed.stat(at("ws:b")))?.bytes).toBe(2);
    expect(routed.pyramids("ws:b", ["g"])).toHaveLength(1);
  });

  test("a layer with another store is not read in the old one, and what is truncated meanwhile never comes back", async () => {
    const { one, routed } = router();
    await routed.put(at("ws:a"), new Uint8Array(1), ...unconditionally);
    await routed.put(at("ws:a", 1), new Uint8Array(1), ...unconditionally);
    routed.configure([{ name: "ws:a", store: "two" }]);
    expect(routed.get(at("ws:a"))).toBeUndefined();
    await routed.put(at("ws:a"), new Uint8Array(2), ...unconditionally);
    const deleted: number[] = [];
    await routed.deleteRange(
      { layer: "ws:a", gridSet: "g", parametersId: "" },
      { z: 4, minX: 0, minY: 0, maxX: 0, maxY: 0 },
      { willDelete: async () => {}, onDeleted: ({ bytes }) => deleted.push(bytes) },
      new AbortController().signal,
    );
    expect(deleted, "the ledger hears of the tile in the present store only").toEqual([2]);
    expect([one.stat(at("ws:a")), one.stat(at("ws:a", 1))?.bytes]).toEqual([undefined, 1]);
    const names = routed.plan({ kind: "layer", layer: "ws:a" });
    routed.truncate("1", names, "keep");
    routed.configure([{ name: "ws:a" }]);
    expect(routed.get(at("ws:a", 1))).toBeUndefined();
    expect(routed.asideIds()).toEqual(["1"]);
    routed.restore("1", names);
    expect((await routed.stat(at("ws:a", 1)))?.bytes).toBe(1);
    routed.truncate("2", ["ws_a"], "reclaim");
    expect(routed.get(at("ws:a", 1)), "a name of a server with one store").toBeUndefined();
    expect(routed.needsSweep()).toBe(true);
    await routed.sweep(new AbortController().signal);
    expect(routed.needsSweep()).toBe(false);
  });

  test("each store is checked for changes since it was in use itself, and a store that is new from its beginning", async () => {
    const [old, fresh] = [files(), files()];
    await old.noteAlive();
    const since: number[] = [];
    const recording = (store: ReturnType<typeof files>) => ({
      ...store,
      changes: (...call: Parameters<typeof store.changes>) => {
        since.push(call[2]);
        return store.changes(...call);
      },
    });
    const routed = new StoreRouter([
      { id: "old", store: recording(old) },
      { id: "fresh", store: recording(fresh) },
    ]);
    routed.configure([{ name: "a" }, { name: "b", store: "fresh" }]);
    const sinceMs = routed.lastAliveMs() ?? 0;
    expect(sinceMs).toBe(old.lastAliveMs());
    await routed.noteAlive();
    for (const layer of ["a", "b"]) routed.changes({ layer, gridSet: "g", parametersId: "" }, 0, sinceMs);
    expect(since).toEqual([sinceMs, 0]);
  });

  test("the disk with the least space counts, and the least bytes where no layer is named", async () => {
    const [blocks, bytes] = [createMemoryStore(4096), createMemoryStore(1)];
    const small = {
      ...bytes,
      diskSpace: async () => ({ freeBytes: 5, totalBytes: 9, freeInodes: 70, totalInodes: 90 }),
    };
    const few = {
      ...blocks,
      diskSpace: async () => ({ freeBytes: 50, totalBytes: 90, freeInodes: 7, totalInodes: 9 }),
    };
    const routed = new StoreRouter([
      { id: "few", store: few },
      { id: "small", store: small },
    ]);
    routed.configure([{ name: "a" }, { name: "b", store: "small" }]);
    expect(await routed.diskSpace()).toEqual({ freeBytes: 5, totalBytes: 9, freeInodes: 7, totalInodes: 9 });
    expect([routed.allocated(10, "a"), routed.allocated(10, "b"), routed.allocated(10)]).toEqual([4096, 10, 10]);
  });
});
