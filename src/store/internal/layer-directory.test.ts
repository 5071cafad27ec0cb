import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { inDirectory } from "../../../test/support/stores/in-directory.ts";
import { unconditionally } from "../../../test/support/stores/memory-store.ts";
import { builtInGridSet } from "../../grid/built-in.ts";
import { createCompactStore } from "../compact/compact-store.ts";
import { createFileStore } from "../file/file-store.ts";
import type { LocalStore } from "../store.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-layer-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;
const root = (): string => join(directory, String(made++));

const ID = "6b25e88136a7ba06f5ed4dcb753540ea86259e64";
const LAYER = { kind: "layer", layer: "photos" } as const;
const file = (layout: "gwc" | "tms" | "slippy") => (at: string) =>
  createFileStore({ ...inDirectory(at), layout, gridSets: builtInGridSet });

describe.each<[string, (at: string) => LocalStore]>([
  ["gwc", file("gwc")],
  ["tms", file("tms")],
  ["slippy", file("slippy")],
  ["compact", (at) => createCompactStore({ ...inDirectory(at), gridSets: builtInGridSet })],
])("a layer's directory in the layout %s", (_, open) => {
  /** Returns a store with tiles of the layer, beside files that were there before. */
  async function filled(foreign: readonly string[]): Promise<{ readonly at: string; readonly store: LocalStore }> {
    const at = root();
    for (const path of foreign) {
      mkdirSync(dirname(join(at, path)), { recursive: true });
      writeFileSync(join(at, path), "foreign");
    }
    const store = open(at);
    for (const parametersId of ["", ID])
      for (const z of [0, 3]) {
        const tileSet = { layer: "photos", gridSet: "EPSG:4326", format: "image/png", parametersId };
        await store.put({ tileSet, x: 0, y: 0, z }, new Uint8Array(9), ...unconditionally);
      }
    await store.describeParameters("photos", ID, { STYLES: "a" });
    return { at, store };
  }

  test("that holds nothing else goes by one rename", async () => {
    const { at, store } = await filled([]);
    const names = store.plan(LAYER);
    expect(names).toEqual(["photos"]);
    store.truncate("1", names, "reclaim");
    expect(existsSync(join(at, "photos"))).toBe(false);
  });

  test("loses its tiles and keeps the files that are not the store's", async () => {
    const foreign = ["photos/cat.png", "photos/summer_2020/1.png", "photos/albums/list.txt"];
    const { at, store } = await filled(foreign);
    const names = store.plan(LAYER);
    store.truncate("1", names, "keep");
    expect(readdirSync(join(at, "photos")).sort()).toEqual(["albums", "cat.png", "summer_2020"]);
    store.restore("1", names);
    const tileSet = { layer: "photos", gridSet: "EPSG:4326", format: "image/png", parametersId: ID };
    expect((await store.stat({ tileSet, x: 0, y: 0, z: 3 }))?.bytes).toBe(9);
    expect(store.parametersOf("photos", ID)).toEqual({ STYLES: "a" });
    store.truncate("2", store.plan(LAYER), "reclaim");
    await store.sweep(new AbortController().signal);
    for (const path of foreign) expect([path, existsSync(join(at, path))]).toEqual([path, true]);
    expect(store.plan(LAYER)).toEqual([]);
  });

  test("stays if it is a foreign file, or a link to one", () => {
    const at = root();
    const store = open(at);
    writeFileSync(join(at, "photos"), "foreign");
    expect(store.plan(LAYER)).toEqual([]);
    rmSync(join(at, "photos"));
    writeFileSync(join(at, "file"), "foreign");
    symlinkSync(join(at, "file"), join(at, "photos"));
    expect(store.plan(LAYER)).toEqual([]);
  });

  test("goes with its link if the volume behind it is not mounted", () => {
    const at = root();
    const store = open(at);
    symlinkSync(join(at, "away"), join(at, "photos"));
    expect(store.plan(LAYER)).toEqual(["photos"]);
  });
});
