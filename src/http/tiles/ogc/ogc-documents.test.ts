import { expect, test } from "vitest";
import { geodetic, mercator, quad } from "../../../../test/support/tile-protocols.ts";
import { tileExtent } from "../../../grid/grid-set.ts";
import { gridSetOfTileMatrixSet } from "../../../grid/tile-matrix-set.ts";
import { gridSubset } from "../../../layer/grid-subset.ts";
import { bothTileMatrixSets, tileMatrixSet } from "./ogc-documents.ts";

test("a tile matrix set that is published here can be imported as a grid set with the same tiles", () => {
  for (const grid of [geodetic, mercator, quad]) {
    const named = { id: grid.id, subset: gridSubset(grid, {}), uri: undefined };
    const document: unknown = JSON.parse(JSON.stringify(bothTileMatrixSets(named)));
    const read = gridSetOfTileMatrixSet(document);
    if (!read.ok) throw new Error(read.error);
    const own: unknown = JSON.parse(JSON.stringify(tileMatrixSet(named)));
    expect(own).not.toHaveProperty("supportedCRS");
    expect(document).toMatchObject(Object(own));
    // The members of version 1.0 describe the same levels.
    const { tileMatrices, tileMatrix } = Object(document);
    const asVersion2 = ({ identifier, topLeftCorner, type: _, ...level }: Record<string, unknown>) => ({
      id: identifier,
      pointOfOrigin: topLeftCorner,
      ...level,
    });
    expect(tileMatrices).toMatchObject(tileMatrix.map(asVersion2));
    expect(read.value.matrices.map((m) => m.name)).toEqual(grid.matrices.map((m) => m.name));
    for (const z of [0, 3, 9]) {
      const at = { x: 1 % (z + 1), y: z, z };
      const [ours, theirs] = [tileExtent(grid, at), tileExtent(read.value, at)];
      for (const side of ["minX", "minY", "maxX", "maxY"] as const) expect(theirs[side]).toBeCloseTo(ours[side], 5);
    }
  }
});
