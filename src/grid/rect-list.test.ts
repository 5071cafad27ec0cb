import fc from "fast-check";
import { expect, test } from "vitest";
import { asTileRect, asTileX, asTileY, asZoom, type TileRect } from "./grid-set.ts";
import { rectList } from "./rect-list.ts";
import { indexOf } from "./selection.ts";
import { countSelectedAtOnce, isSelected } from "./tile-selection.ts";

const SIDE = 12;
const rects = fc.array(
  fc
    .tuple(fc.nat(1), fc.nat(SIDE - 1), fc.nat(SIDE - 1), fc.nat(4), fc.nat(4))
    .map(([z, minX, minY, width, height]) => asTileRect({ z, minX, minY, maxX: minX + width, maxY: minY + height })),
  { maxLength: 20 },
);
const holds = (all: readonly TileRect[], z: number, column: number, row: number): boolean =>
  all.some((r) => r.z === z && r.minX <= column && column <= r.maxX && r.minY <= row && row <= r.maxY);

test("a list of rectangles selects exactly the tiles of its rectangles, each once", () => {
  fc.assert(
    fc.property(rects, (list) => {
      const index = indexOf(rectList(list));
      for (const z of [0, 1]) {
        let count = 0n;
        const rows: number[] = [];
        for (let y = 0; y < 2 * SIDE; y++) {
          let inRow = 0;
          for (let x = 0; x < 2 * SIDE; x++) {
            const wanted = holds(list, z, x, y);
            if (isSelected(index, asZoom(z), asTileX(x), asTileY(y)) !== wanted) throw new Error(`${z}/${x}/${y}`);
            if (wanted) inRow++;
          }
          count += BigInt(inRow);
          if (inRow > 0) rows.push(y);
        }
        const whole = asTileRect({ z, minX: 0, minY: 0, maxX: 2 * SIDE, maxY: 2 * SIDE });
        expect(countSelectedAtOnce(index, whole)).toBe(count);
        const visited: number[] = [];
        for (
          let y = index.nextRow(asZoom(z), asTileY(0));
          y !== undefined;
          y = index.nextRow(asZoom(z), asTileY(y + 1))
        )
          if (index.spans(asZoom(z), y).length > 0) visited.push(y);
        expect(visited).toEqual(rows);
      }
    }),
  );
});
