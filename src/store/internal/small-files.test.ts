import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FaultyDisk } from "../../../test/support/stores/faulty-disk.ts";
import { inDirectory } from "../../../test/support/stores/in-directory.ts";
import { unconditionally } from "../../../test/support/stores/memory-store.ts";
import { builtInGridSet } from "../../grid/built-in.ts";
import { createCompactStore } from "../compact/compact-store.ts";
import { createFileStore } from "../file/file-store.ts";
import type { LocalStore } from "../store.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-small-files-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;

const ID = "6b25e88136a7ba06f5ed4dcb753540ea86259e64";
const tileSet = { layer: "a", gridSet: "EPSG:4326", format: "image/png", parametersId: ID };
const place = { tileSet, x: 0, y: 0, z: 0 };
const rect = { z: 0, minX: 0, minY: 0, maxX: 15, maxY: 15 };
const { signal } = new AbortController();
const gridSets = builtInGridSet;

type Options = ReturnType<typeof inDirectory>;

describe.each<[string, (options: Options) => LocalStore]>([
  ["gwc", (options) => createFileStore({ ...options, gridSets })],
  ["slippy", (options) => createFileStore({ ...options, layout: "slippy", gridSets })],
  ["compact", (options) => createCompactStore({ ...options, gridSets })],
])("the files beside tiles in the layout %s", (_, open) => {
  const opened = () => {
    const root = join(directory, String(made++));
    const faulty = new FaultyDisk();
    return { root, faulty, store: open({ ...inDirectory(root), machine: faulty.machine }) };
  };
  /** Returns the temporary files in a store. */
  const temporaryIn = (root: string): readonly string[] =>
    readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.nuthatch-.*\d$/.test(name));

  test.each(["writeFileSync", "renameSync"] as const)("a description that fails in %s leaves no file", async (name) => {
    const { root, faulty, store } = opened();
    await store.put(place, new Uint8Array(9), ...unconditionally);
    const fault = faulty.fail([name], "EIO");
    await expect(store.describeParameters("a", ID, { STYLES: "x" })).rejects.toThrow("EIO");
    fault.end();
    expect(temporaryIn(root)).toEqual([]);
    await store.describeParameters("a", ID, { STYLES: "x" });
    expect(store.parametersOf("a", ID)).toEqual({ STYLES: "x" });
  });

  test("what a killed process has left beside the tiles is removed, and nothing else", async () => {
    const { root, store } = opened();
    await store.put(place, new Uint8Array(9), ...unconditionally);
    await store.describeParameters("a", ID, { STYLES: "x" });
    const names = (): readonly string[] =>
      readdirSync(root, { recursive: true, encoding: "utf8" })
        .filter((name) => !name.endsWith("-journal"))
        .sort();
    const before = names();
    writeFileSync(join(root, "a", ".nuthatch-other-1-0-0"), "half");
    await store.removeLeftovers([{ tileSet, rect }], signal);
    expect(names()).toEqual(before);
  });
});

/** Lets a disk write half of the first file that `isMeant` names, and then be full. */
function cutOff(faulty: FaultyDisk, isMeant: (path: string) => boolean): void {
  faulty.before = (name, [path, content]) => {
    if (name !== "writeFileSync" && name !== "renameSync") return;
    const isHere = name === "writeFileSync" && isMeant(String(content));
    if (!isHere) return;
    writeFileSync(String(path), String(content).slice(0, Math.ceil(String(content).length / 2)));
    faulty.before = () => {};
    throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  };
}

/** Returns the content of the one file of a name below a directory. */
function contentOf(root: string, name: string): string {
  const found = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(`/${name}`));
  expect(found).toHaveLength(1);
  return readFileSync(join(root, found[0] ?? ""), "utf8");
}

test("the rows of the levels of files are whole, or not there, when the disk was full", async () => {
  const root = join(directory, String(made++));
  const faulty = new FaultyDisk();
  const store = createFileStore({ ...inDirectory(root), machine: faulty.machine, layout: "slippy", gridSets });
  cutOff(faulty, (content) => content.startsWith("["));
  await expect(store.put(place, new Uint8Array(9), ...unconditionally)).rejects.toThrow("ENOSPC");
  expect((await store.put(place, new Uint8Array(9), ...unconditionally)).stored).toBe(true);
  expect(JSON.parse(contentOf(root, ".nuthatch-rows")).slice(0, 5)).toEqual([1, 2, 4, 8, 16]);
});

test("the rows and the description of bundles are whole, or not there, when the disk was full", async () => {
  const root = join(directory, String(made++));
  const faulty = new FaultyDisk();
  await using store = createCompactStore({ ...inDirectory(root), machine: faulty.machine, gridSets });
  const high = { ...place, z: 10 };
  for (const beginning of ["1024", "<?xml"]) {
    cutOff(faulty, (content) => content.startsWith(beginning));
    await expect(store.put(high, new Uint8Array(9), ...unconditionally)).rejects.toThrow("ENOSPC");
  }
  expect((await store.put(high, new Uint8Array(9), ...unconditionally)).stored).toBe(true);
  expect(contentOf(root, ".nuthatch-rows")).toBe("1024");
  expect(contentOf(root, "conf.xml")).toMatch(/<\/CacheInfo>\s*$/);
});
