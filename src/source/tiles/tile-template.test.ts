import fc from "fast-check";
import { expect, test } from "vitest";
import { matrixOf } from "../../grid/grid-set.ts";
import { tileRequest } from "../source.conformance.ts";
import { fillTemplate, placeholdersOf, tileOf } from "./tile-template.ts";

test("placeholders are listed in their order", () => {
  expect(placeholdersOf("http://{s}.u/{z}/{-y}?a={TileMatrix}&{}")).toEqual(["s", "z", "-y", "TileMatrix", ""]);
  expect(placeholdersOf("http://u/")).toEqual([]);
});

test("what has no value stays, what has one cannot add a placeholder", () => {
  expect(fillTemplate("{a}/{b}/{c}", (name) => (name === "a" ? "{b}" : name === "b" ? "$& $1" : undefined))).toBe(
    "%7Bb%7D/%24%26%20%241/{c}",
  );
});

test("a value comes back from the address as it was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (value) => {
      const url = new URL(fillTemplate("http://u/first/{v}x/last", () => value));
      expect(url.pathname.split("/").map(decodeURIComponent)).toEqual(["", "first", `${value}x`, "last"]);
    }),
  );
});

test.each(["EPSG:900913", "EPSG:4326", "WorldCRS84Quad"])("rows of %s from the top and from the bottom meet", (id) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 17 }), fc.nat(), fc.nat(), (z, a, b) => {
      const { gridSet } = tileRequest(id, [0, 0, z]);
      const { matrixWidth, matrixHeight } = matrixOf(gridSet, z);
      const [x, y] = [a % matrixWidth, b % matrixHeight];
      const { fromTop, fromBottom, ...rest } = tileOf(tileRequest(id, [x, y, z]));
      expect(rest).toEqual({ z, x });
      expect(fromBottom).toBe(y);
      expect(fromTop + fromBottom).toBe(matrixHeight - 1);
      expect(fromTop).toBeGreaterThanOrEqual(0);
    }),
  );
});
