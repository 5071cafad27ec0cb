import { expect, test } from "vitest";
import { gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import { machineDisk } from "../lib/file/machine-disk.ts";
import { openDatabase } from "../state/embedded-database.ts";
import { GridSetPlaces, gridSetPlaceTables } from "./grid-set-places.ts";

const mercator = gridSetNamed("EPSG:900913");
const geodetic = gridSetNamed("EPSG:4326");
const moved = { ...mercator, tileWidth: 512 };
const layer = (name: string, ...gridSets: readonly (typeof mercator)[]) =>
  layerNamed(name, { gridSubsets: gridSets.map((gridSet) => gridSubset(gridSet, {})) });

const tileSet = (name: string, gridSet: string) => ({
  tileSet: { layer: name, gridSet, format: "image/png", parametersId: "" },
});

/**
 * Makes GridSetPlaces over a database that outlives them.
 * @param stored the tile sets of the ledger
 */
function start(stored: readonly ReturnType<typeof tileSet>[] = []) {
  const db = openDatabase(":memory:", machineDisk);
  db.createTables([gridSetPlaceTables]);
  return { db, make: () => new GridSetPlaces(db, { tileSets: () => stored }) };
}

test("a grid set that is new is recorded, and has moved when the next process has it with other tiles", () => {
  const { make } = start();
  const before = [layer("a", mercator, geodetic), layer("b", geodetic)];
  expect(make().moved(before, before)).toEqual([]);
  make().record(before);
  expect(make().moved(before, before)).toEqual([]);
  const after = [layer("a", moved, geodetic), layer("b", geodetic)];
  expect(make().moved(after, after)).toEqual([{ layer: "a", gridSet: mercator.id }]);
  make().record(after);
  expect(make().moved(after, after)).toEqual([]);
});

test("a layer has moved tiles also in a grid set that it no longer offers", () => {
  const { make } = start([tileSet("b", mercator.id), tileSet("a", mercator.id), tileSet("b", geodetic.id)]);
  make().record([layer("a", mercator), layer("b", mercator)]);
  const now = [layer("a", moved), layer("b", geodetic)];
  expect(make().moved(now, now)).toEqual([
    { layer: "a", gridSet: mercator.id },
    { layer: "b", gridSet: mercator.id },
  ]);
});

test("the change of one layer finds all layers that offer a grid set which has moved", () => {
  const { make } = start();
  make().record([layer("a", mercator), layer("b", mercator)]);
  const all = [layer("a", moved), layer("b", moved)];
  expect(make().moved(all.slice(0, 1), all)).toEqual([
    { layer: "a", gridSet: mercator.id },
    { layer: "b", gridSet: mercator.id },
  ]);
});

test("the last digit of a resolution moves no tiles", () => {
  const { make } = start();
  make().record([layer("a", mercator)]);
  const matrices = mercator.matrices.map((matrix) => ({ ...matrix, resolution: matrix.resolution * (1 + 2e-16) }));
  const now = [layer("a", { ...mercator, matrices })];
  expect(make().moved(now, now)).toEqual([]);
});
