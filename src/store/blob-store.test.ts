import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { blobStoreConformance } from "./blob-store.conformance.ts";
import { createFileBlobStore } from "./file-blob-store.ts";
import { createMemoryBlobStore } from "./memory-blob-store.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-store-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;
const root = (): string => join(directory, String(made++));
const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };

describe("memory store", () => blobStoreConformance(createMemoryBlobStore));

describe("file store", () => {
  blobStoreConformance(() => createFileBlobStore({ root: root(), fsync: false, instance: "test" }));

  test("a put whose directory is dropped under it stores nothing", async () => {
    const store = createFileBlobStore({ root: root(), fsync: false, instance: "test" });
    await store.put({ tileSet, x: 0, y: 0, z: 0 }, new Uint8Array(1), () => true);
    let asked = 0;
    const put = await store.put({ tileSet, x: 1, y: 0, z: 0 }, new Uint8Array(1), () => {
      // Between the writing and the rename.
      if (++asked === 2) store.drop("1", store.planDrop({ kind: "layer", layer: "a" }));
      return true;
    });
    expect(put).toEqual({ stored: false });
    expect(store.get({ tileSet, x: 1, y: 0, z: 0 })).toBeUndefined();
  });

  test("a sweep reclaims what was dropped; a recount removes empty files and leftovers of other processes", async () => {
    const at = root();
    const store = createFileBlobStore({ root: at, fsync: false, instance: "test" });
    await store.put({ tileSet, x: 0, y: 0, z: 0 }, new Uint8Array(1), () => true);
    store.drop("1", store.planDrop({ kind: "layer", layer: "a" }));
    await store.sweep(new AbortController().signal);
    expect(readdirSync(join(at, "_gwc_in_progress_deletes_"))).toEqual([]);
    const bucket = join(at, "a", "g_00", "0_0");
    mkdirSync(bucket, { recursive: true });
    writeFileSync(join(bucket, "00_00.png"), "");
    writeFileSync(join(bucket, ".nuthatch-other-1"), "half");
    expect(store.get({ tileSet, x: 0, y: 0, z: 0 })).toBeUndefined();
    expect(store.recount(tileSet, { z: 0, minX: 0, minY: 0, maxX: 15, maxY: 15 })).toEqual([]);
    expect(readdirSync(bucket)).toEqual([]);
  });
});
