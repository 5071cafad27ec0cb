import fc from "fast-check";
import { expect, test } from "vitest";
import { parametersId } from "../../layer/filter/parameter-filter.ts";
import {
  bucketDirectory,
  directoryName,
  pad,
  parsePair,
  parseZoomDirectory,
  tileFile,
  zoomDirectory,
} from "./file-layout.ts";

/** Computed with GWC's arithmetic (`docs/explanation/geowebcache.md`, Files). */
const GOLDEN: readonly (readonly [x: number, y: number, z: number, path: string])[] = [
  [0, 0, 0, "00/0_0/00_00"],
  [3, 2, 2, "02/0_0/03_02"],
  [9, 10, 4, "04/1_1/09_10"],
  [10, 11, 5, "05/1_1/10_11"],
  [99, 100, 7, "07/06_06/0099_00100"],
  [100, 101, 7, "07/06_06/00100_0101"],
  [1000, 1001, 10, "10/15_15/01000_01001"],
  [1002, 1003, 10, "10/15_15/01002_1003"],
  [4095, 2047, 12, "12/031_015/004095_002047"],
  [10000, 10023, 14, "14/039_039/0010000_0010023"],
  [10024, 9999, 14, "14/039_039/010024_009999"],
  [100231, 99999, 17, "17/195_195/100231_099999"],
  [1000000, 1002305, 20, "20/0488_0489/001000000_001002305"],
  [1002306, 999999, 20, "20/0489_0488/01002306_00999999"],
  [8388607, 4194303, 23, "23/2047_1023/08388607_04194303"],
];

test("tile paths equal GWC's golden vectors, padding quirk included", () => {
  for (const [x, y, z, path] of GOLDEN) {
    expect(`${pad(z, 2)}/${bucketDirectory(x, y, z)}/${tileFile(x, y, z, "png").replace(".png", "")}`).toBe(path);
  }
  expect(`${directoryName("topp:states")}/${zoomDirectory("EPSG:900913", 7, "")}`).toBe("topp_states/EPSG_900913_07");
});

test("parameters ids equal GWC's", () => {
  expect(parametersId({ A: "B" })).toBe("6b25e88136a7ba06f5ed4dcb753540ea86259e64");
  expect(parametersId({ STYLES: "foo" })).toBe("f7ea4d6e8048a8ce582b5e7dcb32615ce00bc2ff");
  expect(parametersId({ TIME: "2020", STYLES: "" })).toBe("9a6b9a86fc07f28bebd4d5cd12b9efd25014cd2a");
  expect(parametersId({ CQL_FILTER: "a=1", STYLES: "polygon" })).toBe("85e4dccd121acd21e3575a9b57182f8f78d1be1d");
  expect(parametersId({})).toBe("");
});

test("names are read back as they were written, and a grid set is not confused with one whose name begins alike", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 30), fc.nat(2 ** 30), fc.nat(30), (x, y, z) => {
      expect(parsePair(tileFile(x, y, z, "png8"))).toEqual({ x, y, extension: "png8" });
      const id = z % 2 === 0 ? "" : "6b25e88136a7ba06f5ed4dcb753540ea86259e64";
      expect(parseZoomDirectory(zoomDirectory("EPSG:4326x2", z, id))).toEqual({
        gridSetDirectory: "EPSG_4326x2",
        z,
        parametersId: id,
      });
    }),
  );
});

test("no name of a layer leaves the store", () => {
  for (const name of ["..", ".", "../x", "a/../b"]) expect(directoryName(name)).not.toMatch(/[/]|^\.\.?$/);
  // GeoWebCache does not escape these characters.
  expect(directoryName("100%_Map")).toBe("100%_Map");
  expect(directoryName("a\\b")).toBe("a\\b");
});
