import { expect, test } from "vitest";
import { cpuMs } from "../../../../test/support/cpu-time.ts";
import { atOnce } from "../../../lib/process/slices.ts";
import { refusalMessage } from "../../../lib/refusal.ts";
import { decodeWkt as decodeInSteps } from "./wkt-area.ts";

const decodeWkt = (text: string) => atOnce(decodeInSteps(text));

const SQUARE = "((0 0, 10 0, 10 10, 0 10, 0 0))";

test.each([
  ["  srid = 4326 ; polygonz((0 0 1,1 0 1,1 1 1))", 1, 4326],
  ["SRID=0;MULTIPOLYGON ZM (((0 0 1 2,1 0 1 2,1 1 1 2)),EMPTY)", 2, undefined],
  [`GEOMETRYCOLLECTION M (MULTIPOLYGON(${SQUARE},${SQUARE}),\n\tPOLYGON${SQUARE})`, 3, undefined],
  [`POLYGON${SQUARE}, POLYGON${SQUARE}`, 2, undefined],
  ["POLYGON((-1.5e-3 +2 , .5 3. , 1E2 4))", 1, undefined],
])("%s is read", (text, polygons, srs) => {
  expect(decodeWkt(text)).toMatchObject({ ok: true, value: { polygons: { length: polygons }, srs } });
});

test("Z and M are left out of positions", () => {
  expect(decodeWkt("POLYGON ZM((-1.5e-3 +2 7 8,.5 3. 7 8,1E2 4 7 8))")).toMatchObject({
    value: {
      polygons: [
        [
          [
            [-0.0015, 2],
            [0.5, 3],
            [100, 4],
          ],
        ],
      ],
    },
  });
});

test.each([
  [`POLYGON${SQUARE}x`, 39],
  [`POLYGON(${SQUARE}`, 10],
  ["POLYGON((0 0,1 1)", 18],
  ["POLYGON((0 0,1 1,2 2 2 2 2))", 26],
  ["POLYGON((0 0,1 -,2 2))", 17],
  ["SRID=4326POLYGON EMPTY", 10],
  ["", 1],
])("%s is refused with the place of the fault", (text, at) => {
  const decoded = decodeWkt(text);
  expect(decoded.ok ? "read" : refusalMessage(decoded.error)).toContain(`, at character ${at}, got "`);
});

const MIB = 1024 * 1024;
const filled = (text: string): string => text.repeat(Math.ceil(MIB / text.length));
test.each([
  ["blanks after the type", `POLYGON${filled(" ")}x`],
  ["blanks after the collection", `GEOMETRYCOLLECTION${filled(" ")}x`],
  ["blanks before all", `${filled("\n")}x`],
  ["blanks between numbers", `POLYGON((1${filled(" ")}x`],
  ["one number", `POLYGON((${filled("1")}))`],
  ["signs", `POLYGON((${filled("-")}))`],
  ["numbers without commas", `POLYGON((${filled("1 ")}))`],
  ["commas", `POLYGON((${filled(",")}))`],
  ["opened brackets", `MULTIPOLYGON${filled("(")}`],
  ["types", filled("POLYGON,")],
  ["digits of an SRID", `SRID=${filled("1")};POLYGON EMPTY`],
])("1 MiB of %s is refused in time that grows with its length", (_, text) => {
  let decoded: ReturnType<typeof decodeWkt> | undefined;
  expect(
    cpuMs(() => {
      decoded = decodeWkt(text);
    }),
  ).toBeLessThan(500);
  expect(decoded).toMatchObject({ ok: false, error: { code: "bad_field" } });
});

test("a multipolygon and a collection of 200,000 polygons are read", () => {
  const many = Array.from({ length: 200_000 }, () => SQUARE);
  expect(decodeWkt(`MULTIPOLYGON(${many})`)).toMatchObject({ value: { polygons: { length: 200_000 } } });
  expect(decodeWkt(`GEOMETRYCOLLECTION(MULTIPOLYGON(${many}))`)).toMatchObject({
    value: { polygons: { length: 200_000 } },
  });
});
