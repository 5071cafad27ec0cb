import { expect, test } from "vitest";
import { atlasOf } from "./atlas.ts";
import { GLYPHS } from "./glyphs.ts";
import { inTwoLines, textOf } from "./lettering.ts";
import { CLASSES } from "./palette.ts";
import { SEA_NAMES } from "./sea-names.ts";

test("there is a glyph for each letter of each name", () => {
  const names = (["states", "countries-110m", "countries-50m"] as const).flatMap((collection) =>
    atlasOf(collection).areas.map(({ name }) => name),
  );
  const texts = [...names, ...SEA_NAMES.flatMap(({ lines }) => lines), ...CLASSES.map(({ text }) => text)];
  const missing = texts.flatMap((text) => [...text].filter((letter) => letter !== " " && !GLYPHS.has(letter)));
  expect(new Set(missing)).toEqual(new Set());
});

test("a long name is split where its lines are of about one length", () => {
  expect(inTwoLines("United States of America")).toEqual(["United States", "of America"]);
  expect(inTwoLines("Chad")).toBeUndefined();
});

test("tracking stands between letters only, and a letter that there is not takes no room", () => {
  const plain = textOf(["Iowa"], 0);
  expect(textOf(["Iowa"], 0.1).width).toBeCloseTo(plain.width + 0.3, 8);
  expect(textOf(["Io\u4e2dwa"], 0.1).width).toBeCloseTo(plain.width + 0.3, 8);
});
