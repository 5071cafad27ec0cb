import fc from "fast-check";
import { expect, test } from "vitest";
import { CoverageSquares, MOST_SQUARES, type SquareState } from "./coverage-squares.ts";

const STATES: readonly SquareState[] = ["evicted", "kept", "stale", "failed", "drawing"];
const rect = (minX: number, minY: number, maxX: number, maxY: number) => ({ z: 5, minX, minY, maxX, maxY });

/** Returns the numbers of the squares that runs contain. */
function squaresOf(runs: readonly number[]): readonly number[] {
  const squares: number[] = [];
  for (let i = 0, at = 0; i < runs.length; i += 2) {
    at += runs[i] ?? 0;
    for (let n = runs[i + 1] ?? 0; n > 0; n--) squares.push(at++);
  }
  return squares;
}

test("runs are gaps and lengths over the squares, row by row from the lowest", () => {
  const squares = new CoverageSquares(rect(10, 20, 13, 21));
  squares.markAll(rect(11, 20, 12, 21), "kept");
  squares.mark(10, 21, "failed");
  expect([squares.x0, squares.y0, squares.width, squares.height, squares.step]).toEqual([10, 20, 4, 2, 1]);
  expect(squares.runs()).toEqual({ evicted: [], kept: [1, 2, 2, 2], stale: [], failed: [4, 1], drawing: [] });
});

test("a run goes on from the end of one row to the start of the next", () => {
  const squares = new CoverageSquares(rect(0, 0, 3, 3));
  squares.markAll(rect(0, 0, 3, 3), "kept");
  expect(squares.runs().kept).toEqual([0, 16]);
});

test("more than 65,536 tiles are cells of 16 x 16 tiles, which begin at multiples of 16", () => {
  expect(new CoverageSquares(rect(3, 0, 258, 255)).step).toBe(1);
  const squares = new CoverageSquares(rect(17, 5, 17 + MOST_SQUARES - 1, 6));
  expect([squares.x0, squares.y0, squares.width, squares.height, squares.step]).toEqual([16, 0, 4097, 1, 16]);
  squares.mark(31, 6, "kept");
  squares.mark(32, 6, "stale");
  expect(squares.runs()).toMatchObject({ kept: [0, 1], stale: [1, 1] });
});

test("a rectangle marks every cell that it touches", () => {
  const squares = new CoverageSquares(rect(0, 0, 511, 511));
  squares.markAll(rect(15, 14, 17, 16), "drawing");
  expect(squares.runs().drawing).toEqual([0, 2, 30, 2]);
});

test("each square is in at most one list, with the strongest state that it was given", () => {
  const tile = fc.tuple(fc.integer({ min: -2, max: 12 }), fc.integer({ min: -2, max: 12 }), fc.constantFrom(...STATES));
  fc.assert(
    fc.property(fc.array(tile, { maxLength: 80 }), (marks) => {
      const squares = new CoverageSquares(rect(0, 0, 9, 7));
      const strongest = new Map<number, number>();
      for (const [x, y, state] of marks) {
        squares.mark(x, y, state);
        if (x < 0 || y < 0 || x > 9 || y > 7) continue;
        strongest.set(y * 10 + x, Math.max(strongest.get(y * 10 + x) ?? 0, STATES.indexOf(state)));
      }
      const runs = squares.runs();
      for (const [n, state] of STATES.entries()) {
        const expected = [...strongest].filter(([, found]) => found === n).map(([at]) => at);
        expect(squaresOf(runs[state])).toEqual(expected.sort((a, b) => a - b));
      }
    }),
  );
});
