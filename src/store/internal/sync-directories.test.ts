import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { gridSetNamed } from "../../../test/support/layer.ts";
import { diskError, FaultyDisk } from "../../../test/support/stores/faulty-disk.ts";
import { unconditionally } from "../../../test/support/stores/memory-store.ts";
import { asTileX, asTileY, asZoom } from "../../grid/grid-set.ts";
import { createCompactStore } from "../compact/compact-store.ts";
import { createFileStore } from "../file/file-store.ts";
import type { LocalStore } from "../store.ts";

const root = mkdtempSync(join(tmpdir(), "nuthatch-sync-"));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
const z = asZoom(3);
const [x, y] = [asTileX(1), asTileY(2)];

/** The operations that change directories, or write them to the disk, in their order. */
function watched(disk: FaultyDisk): string[] {
  const seen: string[] = [];
  const opened = new Map<unknown, string>();
  disk.after = (operation, [path]) => {
    if (operation === "renameSync" || operation === "unlink") seen.push(`changed ${String(path)}`);
    if (operation === "openSync" || operation === "open") opened.set("last", String(path));
    if (operation === "fsyncSync") seen.push(`synced ${opened.get("last")}`);
  };
  return seen;
}

const stores: readonly (readonly [string, (disk: FaultyDisk) => LocalStore])[] = [
  ["file", ({ machine }) => createFileStore({ machine, root, fsync: false, instance: "test" })],
  [
    "compact",
    ({ machine }) =>
      createCompactStore({
        machine,
        root,
        fsync: false,
        instance: "test",
        gridSets: () => gridSetNamed("EPSG:900913"),
      }),
  ],
];

test.each(stores)(
  "a truncation of a %s store, and its undo, end with the directories on the disk",
  async (_, create) => {
    const disk = new FaultyDisk();
    const store = create(disk);
    await store.put({ tileSet, x, y, z }, new Uint8Array(9), ...unconditionally);
    const names = store.plan({ kind: "layer", layer: "a" });
    const seen = watched(disk);
    store.truncate("1", names, "keep");
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.slice(-2)).toEqual([`synced ${join(root, "_gwc_set_aside_")}`, `synced ${root}`]);
    seen.length = 0;
    store.restore("1", names);
    const restored = seen.findLastIndex((one) => one.startsWith("synced"));
    expect(seen.slice(restored - 1, restored + 1)).toEqual([
      `synced ${join(root, "_gwc_set_aside_")}`,
      `synced ${root}`,
    ]);
    await store[Symbol.asyncDispose]();
  },
);

test.each(stores)("a pyramid of a %s store that is gone is gone from the disk", async (_, create) => {
  const disk = new FaultyDisk();
  const store = create(disk);
  await store.put({ tileSet, x, y, z }, new Uint8Array(9), ...unconditionally);
  store.delete({ tileSet, x, y, z });
  const seen = watched(disk);
  expect(store.removeEmptyPyramids("a", [tileSet])).toEqual(["gone"]);
  expect(seen).toContain(`synced ${root}`);
  await store[Symbol.asyncDispose]();
});

test("the removal of tiles of a range ends with the directories on the disk", async () => {
  const disk = new FaultyDisk();
  const store = createFileStore({ machine: disk.machine, root, fsync: false, instance: "test" });
  for (const column of [1, 2])
    await store.put({ tileSet, x: asTileX(column), y, z }, new Uint8Array(9), ...unconditionally);
  const seen: string[] = [];
  disk.before = (operation, [path]) => {
    if (operation === "unlink" || operation === "open") seen.push(`${operation} ${dirname(String(path))}`);
    if (operation === "open") seen.push(`open ${String(path)}`);
  };
  const rect = { z, minX: x, minY: y, maxX: x, maxY: y };
  const listener = { willDelete: async () => undefined, onDeleted: () => undefined };
  await store.deleteRange({ ...tileSet, format: tileSet.format }, rect, listener, new AbortController().signal);
  const bucket = seen.find((one) => one.startsWith("unlink"))?.slice("unlink ".length);
  expect(bucket).toContain(join(root, "a"));
  expect(seen).toContain(`open ${bucket}`);
  expect(seen.indexOf(`open ${bucket}`)).toBeGreaterThan(seen.indexOf(`unlink ${bucket}`));
  await store[Symbol.asyncDispose]();
});

test("a file system that cannot sync a directory truncates all the same, and one with a fault does not", async () => {
  for (const [code, isTolerated] of [
    ["EINVAL", true],
    ["EIO", false],
  ] as const) {
    const disk = new FaultyDisk();
    const store = createFileStore({ machine: disk.machine, root, fsync: false, instance: "test" });
    await store.put({ tileSet, x, y, z }, new Uint8Array(9), ...unconditionally);
    disk.before = (operation) => {
      if (operation === "fsyncSync") throw diskError(code);
    };
    const truncate = () => store.truncate(code, store.plan({ kind: "layer", layer: "a" }), "keep");
    if (isTolerated) expect(truncate).not.toThrow();
    else expect(truncate).toThrow("a directory cannot be synced: EIO");
    await store[Symbol.asyncDispose]();
  }
});
