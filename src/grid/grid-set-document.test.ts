import { expect, test } from "vitest";
import { builtInGridSet, builtInGridSetIds } from "./built-in.ts";
import { createGridSet } from "./create-grid-set.ts";
import type { GridSet } from "./grid-set.ts";
import { gridSetDocument, gridSetOfDocument } from "./grid-set-document.ts";

const throughJson = (gridSet: GridSet) => gridSetOfDocument(JSON.parse(JSON.stringify(gridSetDocument(gridSet))));

/**
 * Scale denominators are computed from resolutions, which the document has, so the last digit may differ. Tiles are not
 * affected.
 */
const withoutScales = ({ matrices, definingScales: _, ...gridSet }: GridSet) => ({
  ...gridSet,
  matrices: matrices.map(({ scaleDenominator: _, ...matrix }) => matrix),
});

test.each([...builtInGridSetIds])("%s comes back from its document with the same tiles", (id) => {
  const gridSet = builtInGridSet(id);
  if (gridSet === undefined) throw new Error(id);
  const read = throughJson(gridSet);
  expect(read.ok && withoutScales(read.value)).toEqual(withoutScales(gridSet));
});

test("so does one of scale denominators that is aligned to the top, whose last row sticks out", () => {
  const created = createGridSet({
    id: "a",
    srs: 2163,
    extent: { minX: -2495667.98, minY: -2223677.2, maxX: 3291070.61, maxY: 959189.33 },
    scale: { scaleDenominators: [25e6, 1e6, 1e5, 25e3] },
    tileWidth: 200,
    tileHeight: 100,
    alignTopLeft: true,
    scaleNames: ["coarse"],
  });
  if (!created.ok) throw new Error(created.error);
  const read = throughJson(created.value);
  expect(read.ok && withoutScales(read.value)).toEqual(withoutScales(created.value));
});
