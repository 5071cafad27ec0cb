import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { inFull } from "../../../test/support/full.ts";
import { describeCrs } from "./crs-description.ts";
import { epsgDefinition } from "./epsg-definitions.ts";

test.each([
  [4326, "WGS 84", "degrees", 111_319.490_793_273_58, true],
  [3857, "WGS 84 / Pseudo-Mercator", "m", 1, false],
  [900913, "WGS 84 / Pseudo-Mercator", "m", 1, false],
  [2163, "US National Atlas Equal Area", "m", 1, false],
  [31467, "DHDN / 3-degree Gauss-Kruger zone 3", "m", 1, true],
  [2277, "NAD83 / Texas Central (ftUS)", "us-ft", 1200 / 3937, false],
  [2136, "Accra / Ghana National Grid", undefined, 0.304_799_710_181_508_8, false],
] as const)("EPSG:%i is %s", (code, name, units, metersPerUnit, isNorthFirst) => {
  expect(describeCrs(code)).toMatchObject({ name, units, metersPerUnit, isNorthFirst });
});

test("a code without a definition is not described", () => {
  expect(describeCrs(1)).toBeUndefined();
  expect(describeCrs(32_768)).toBeUndefined();
});

test("every definition has a name and a length of its unit", () => {
  const file = join(dirname(createRequire(import.meta.url).resolve("mproj")), "../nad/epsg");
  const codes = [...readFileSync(file, "utf8").matchAll(/^<(\d+)>/gm)].map(([, code]) => Number(code));
  const without = codes
    .filter((code, i) => i % inFull("systems between two", 1, 8) === 0 && epsgDefinition(code) !== undefined)
    .filter((code) => {
      const { name, metersPerUnit } = describeCrs(code) ?? {};
      return name === undefined || !(metersPerUnit !== undefined && metersPerUnit > 0);
    });
  expect(without).toEqual([]);
});
