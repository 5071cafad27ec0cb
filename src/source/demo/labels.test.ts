import { expect, test } from "vitest";
import { loadSharp } from "../../image/load-sharp.ts";
import { Canvas } from "./canvas.ts";
import { type Area, areasOf, type Position } from "./geography.ts";
import { missingLetters, nameElement, textElement, textOf } from "./labels.ts";
import { SEA_NAMES } from "./sea-names.ts";
import { CLASSES } from "./style.ts";

test("the font has a glyph for each letter of each name", () => {
  const names = (["states", "countries-110m", "countries-50m"] as const).flatMap((collection) =>
    areasOf(collection, 4326).map(({ name }) => name),
  );
  const texts = [...names, ...SEA_NAMES.flatMap(({ lines }) => lines), ...CLASSES.map(({ label }) => label)];
  expect(texts.flatMap(missingLetters)).toEqual([]);
});

test("every text is valid path data, and tracking stands between letters only", () => {
  const names = areasOf("countries-50m", 4326).map(({ name }) => name);
  for (const name of names)
    expect([name, textOf([name], 0.03).path]).toEqual([name, expect.not.stringMatching(/NaN|e/)]);
  expect(textOf(["Iowa"], 0.1).width).toBeCloseTo(textOf(["Iowa"], 0).width + 0.3, 8);
});

const type = { least: 10, most: 16, tracking: 0 };
const canvas = new Canvas({ extent: { minX: 0, minY: -100, maxX: 100, maxY: 0 }, width: 400, height: 400 });

function area(...lines: Position[][]): Area {
  const [outer = []] = lines;
  const [xs, ys] = [outer.map(([x]) => x), outer.map(([, y]) => y)];
  const extent = { minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) };
  return { name: "", pieces: [{ type: "Polygon", lines, extent }] };
}

const positionOf = (element: string): number[] =>
  (/translate\(([\d.]+) ([\d.]+)\)/.exec(element) ?? []).slice(1).map(Number);

test("a name stands in the middle of a rectangle, and the short form where the long one has no room", () => {
  const wide = area([
    [10, 40],
    [90, 40],
    [90, 60],
    [10, 60],
    [10, 40],
  ]);
  const [left = 0, top = 0] = positionOf(nameElement(wide, ["Nebraska"], type, { fill: "#000" }, canvas));
  expect(left).toBeGreaterThan(100);
  expect(left).toBeLessThan(300);
  expect(top).toBeCloseTo(200, -1);
  const narrow = area([
    [40, 10],
    [50, 10],
    [50, 90],
    [40, 90],
    [40, 10],
  ]);
  const named = nameElement(narrow, ["Massachusetts", "MA"], type, { fill: "#000" }, canvas);
  expect(named).toContain(textOf(["MA"], 0).path);
});

test("a name never stands over a hole, and an area without height has none", () => {
  const holed = area(
    [
      [0, 0],
      [100, 0],
      [100, 100],
      [0, 100],
      [0, 0],
    ],
    [
      [10, 24],
      [10, 76],
      [90, 76],
      [90, 24],
      [10, 24],
    ],
  );
  const [, top = 200] = positionOf(nameElement(holed, ["Lesotho"], type, { fill: "#000" }, canvas));
  expect(Math.abs(top - 200)).toBeGreaterThan(110);
  expect(
    nameElement(
      area([
        [0, 5],
        [100, 5],
        [0, 5],
      ]),
      ["Line"],
      type,
      { fill: "#000" },
      canvas,
    ),
  ).toBe("");
});

test("the letters of a name are painted over its halo", async () => {
  const sharp = await loadSharp();
  const name = textElement(textOf(["Iowa"], 0), [200, 200], 16, { fill: "#000000", halo: "#ffffff" });
  const data = await sharp(Buffer.from(canvas.svg([name])))
    .flatten({ background: "#808080" })
    .greyscale()
    .raw()
    .toBuffer();
  expect(data.filter((grey) => grey < 0x20).length).toBeGreaterThan(20);
});
