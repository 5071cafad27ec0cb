import fc from "fast-check";
import { expect, test } from "vitest";
import { Block } from "../blocks/block.ts";
import { CellAges, decodeAges } from "./cell-ages.ts";

const at = { tileSetId: 1, z: 9, bx: 0, by: 0 };
const exactly = (ms: number) => ({ sinceMs: ms, untilMs: ms });

test("the earlier time of a cell rises once every tile was written again, and only then", () => {
  const block = new Block(at, true);
  const write = (x: number, ms: number): void => {
    const isNew = !block.has(x, 0);
    if (isNew) block.set(x, 0);
    block.aged(x, 0, isNew, exactly(ms));
  };
  for (const x of [0, 1, 2]) write(x, 1000 + x);
  expect(block.ages.of(0)).toEqual({ sinceMs: 1000, untilMs: 1002 });
  write(1, 2000);
  write(0, 2001);
  write(0, 2002);
  expect(block.ages.of(0)).toEqual({ sinceMs: 1000, untilMs: 2002 });
  write(2, 2003);
  expect(block.ages.of(0)).toEqual({ sinceMs: 2000, untilMs: 2003 });
  for (const x of [2, 1, 0]) write(x, 3000);
  expect(block.ages.of(0)).toEqual(exactly(3000));
});

test("the times of a block hold every write that is still stored, also when the block was saved and read again", () => {
  const step = fc.record({
    x: fc.nat(3),
    y: fc.constantFrom(15, 16),
    kind: fc.constantFrom("write", "remove", "save"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let block = new Block(at, true);
      const written = new Map<string, { readonly y: number; readonly ms: number }>();
      for (const [i, { x, y, kind }] of steps.entries()) {
        const isNew = !block.has(x, y);
        if (kind === "write") {
          const ms = 1_700_000_000_000 + i * 700;
          if (isNew) block.set(x, y);
          block.aged(x, y, isNew, { sinceMs: ms - 300, untilMs: ms });
          written.set(`${x}/${y}`, { y, ms });
        } else if (kind === "remove" && !isNew) {
          block.clear(x, y);
          written.delete(`${x}/${y}`);
        } else if (kind === "save") {
          block = Block.decode(at, { ...block.encode(), tiles: block.tiles });
        }
        for (const one of written.values()) {
          const { sinceMs, untilMs } = block.ages.of(one.y < 16 ? 0 : 8);
          expect(sinceMs).toBeLessThanOrEqual(one.ms);
          expect(untilMs).toBeGreaterThanOrEqual(one.ms);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("times are saved in whole seconds that hold them, and an unknown time stays unknown", () => {
  const ages = new CellAges();
  const tiles = new Uint16Array(64).fill(256).fill(7, 3, 4);
  ages.set(3, { sinceMs: 1_700_000_000_400, untilMs: 1_700_000_000_600 });
  expect(decodeAges(ages.encode([3, 4], tiles))).toEqual([
    { cell: 3, sinceMs: 1_700_000_000_000, untilMs: 1_700_000_001_000, tiles: 7 },
    { cell: 4, sinceMs: 0, untilMs: Number.POSITIVE_INFINITY, tiles: 256 },
  ]);
});
