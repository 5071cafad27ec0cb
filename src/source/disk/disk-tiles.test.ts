import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { gridSetNamed } from "../../../test/support/layer.ts";
import type { DiskLayout } from "../../layer/tiles-on-disk.ts";
import { diskTilePath, readDiskTile } from "./disk-tiles.ts";

const tile = { z: 9, x: 1_234_567, fromTop: 3, fromBottom: 87_654_321 };

test("the names of files are those of MapProxy and MapCache", () => {
  const at = (layout: DiskLayout) => diskTilePath({ path: "/c", layout, rows: "bottom" }, tile, "png");
  // The examples in MapProxy's tests of its layouts.
  expect(at("arcgis")).toBe("/c/L09/R05397fb1/C0012d687.png");
  expect(
    diskTilePath(
      { path: "/c", layout: "mp", rows: "bottom" },
      { z: 22, x: 12_345_678, fromTop: 0, fromBottom: 98_765_432 },
      "png",
    ),
  ).toBe("/c/22/1234/5678/9876/5432.png");
  const small = { z: 2, x: 3, fromTop: 4, fromBottom: 4 };
  const of = (layout: DiskLayout) => diskTilePath({ path: "/c", layout, rows: "top" }, small, "png");
  expect(of("tc")).toBe("/c/02/000/000/003/000/000/004.png");
  expect(of("tms")).toBe("/c/2/3/4.png");
  expect(of("reverse_tms")).toBe("/c/4/3/2.png");
  expect(of("worldwind")).toBe("/c/2/0004/0004_0003.png");
  expect(
    diskTilePath({ path: "/c", layout: "quadkey", rows: "top" }, { z: 2, x: 3, fromTop: 0, fromBottom: 3 }, "png"),
  ).toBe("/c/11.png");
});

test("a template has rows from the top or from the bottom", () => {
  const at = (path: string) => diskTilePath({ path, rows: "bottom" }, tile, "png");
  expect(at("/t/{z}/{x}/{y}.jpg")).toBe("/t/9/1234567/3.jpg");
  expect(at("/t/{z}/{x}/{-y}.jpg")).toBe("/t/9/1234567/87654321.jpg");
});

test("a file is read unless it is missing, empty, a directory, or older than allowed", async () => {
  const path = mkdtempSync(join(tmpdir(), "nuthatch-disk-tiles-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const tiles = { gridSet: "EPSG:900913", path, layout: "tms", rows: "top" } as const;
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };
  write("1/0/0.png", "tile");
  write("1/0/1.png", "");
  mkdirSync(join(path, "1/1/0.png"), { recursive: true });
  const read = (x: number, y: number, sinceMs = 0) =>
    readDiskTile(tiles, gridSetNamed("EPSG:900913"), { x, y, z: 1 }, "png", sinceMs);
  // y counts from the bottom.
  expect(Buffer.from((await read(0, 1)) ?? []).toString()).toBe("tile");
  expect(await read(0, 0)).toBeUndefined();
  expect(await read(1, 1)).toBeUndefined();
  expect(await read(1, 0)).toBeUndefined();
  expect(await read(0, 1, Date.now() + 60_000)).toBeUndefined();
});
