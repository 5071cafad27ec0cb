import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalMessage } from "../../lib/refusal.ts";
import {
  listedValues,
  type ParameterFilter,
  parametersId,
  parseParameters,
  parseTruncatedParameters,
} from "./parameter-filter.ts";

/** Returns the values of a combination, `defaults` for the combination without an id, or the message of the refusal. */
function requested(filters: readonly ParameterFilter[], given: Readonly<Record<string, string>>): unknown {
  const parsed = parseParameters(filters, new Map(Object.entries(given)), "ignore");
  if (!parsed.ok) return refusalMessage(parsed.error);
  const { id, values } = parsed.value;
  expect(id).toBe(parametersId(values));
  return id === "" ? "defaults" : values;
}

const height: ParameterFilter = { type: "float", key: "HEIGHT", default: "0", values: [0, 0.3, 10], threshold: 1e-6 };
const anyHeight: ParameterFilter = { ...height, default: "", values: [] };
const year: ParameterFilter = {
  type: "integer",
  key: "YEAR",
  default: "2020",
  values: [2000, 2010, 2020],
  threshold: 3,
};
const style: ParameterFilter = { type: "string", key: "STYLES", default: "", values: ["Red", "green"] };
const query: ParameterFilter = { type: "regex", key: "Q", default: "", regex: "name = (a|é)+" };

describe("a float filter", () => {
  test.each([
    ["0.3", { HEIGHT: "0.3" }],
    ["0.30000001", { HEIGHT: "0.3" }],
    [" +3.0E-1 ", { HEIGHT: "0.3" }],
    ["10", { HEIGHT: "10.0" }],
    ["0", "defaults"],
    ["-0.0", "defaults"],
    ["0.0000009", "defaults"],
    ["", "defaults"],
    ["_null", "defaults"],
    ["_empty", "defaults"],
  ])("takes %j as %j", (text, expected) => {
    expect(requested([height], { height: text })).toEqual(expected);
  });

  test.each(["0.31", "0.0000011", "x", "0x1", "NaN", "Infinity", "1e39", "1,5", "."])(
    "refuses what is no number or near no legal one, naming these: %j",
    (text) => {
      expect(requested([height], { HEIGHT: text })).toBe(
        `HEIGHT: expected a number nearer than 0.000001 to one of 0.0, 0.3, 10.0, got ${JSON.stringify(text)}`,
      );
    },
  );

  test("the threshold itself is not near enough", () => {
    const half: ParameterFilter = { ...height, threshold: 0.5 };
    expect(requested([half], { HEIGHT: "9.75" })).toEqual({ HEIGHT: "10.0" });
    expect(requested([half], { HEIGHT: "9.5" })).toMatch(/^HEIGHT: expected/);
  });

  test("of two legal values that are equally near the first is meant", () => {
    const wide: ParameterFilter = { ...height, default: "", values: [4, 2], threshold: 5 };
    expect(requested([wide], { HEIGHT: "3" })).toEqual({ HEIGHT: "4.0" });
  });

  test("without a list every number is legal, and one tile set however it is written", () => {
    for (const text of ["1500", "1500.0", "1.5e3", "+1500.00"])
      expect(requested([anyHeight], { HEIGHT: text })).toEqual({ HEIGHT: "1500.0" });
    expect(requested([anyHeight], { HEIGHT: "high" })).toBe('HEIGHT: expected a number, got "high"');
    expect(requested([anyHeight], {})).toBe("defaults");
  });

  test("the text of a long number that is none is refused at once", () => {
    const started = performance.now();
    expect(requested([anyHeight], { HEIGHT: `${"1".repeat(50_000)}x` })).toMatch(/^HEIGHT: expected a number, got/);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test("every number near a legal value has that value's identity, and a value's own text keeps it", () => {
    const legal = fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 });
    fc.assert(
      fc.property(fc.array(legal, { minLength: 1, maxLength: 8 }), legal, legal, (values, given, wide) => {
        const filter: ParameterFilter = { ...height, default: "", values, threshold: Math.abs(wide) + 1e-6 };
        const found = requested([filter], { HEIGHT: String(given) });
        if (typeof found === "string") {
          for (const value of values)
            expect(Math.fround(Math.abs(value - given))).toBeGreaterThanOrEqual(Math.fround(filter.threshold));
        } else {
          const { HEIGHT: text } = Object(found);
          expect(listedValues(filter)).toContain(text);
          expect(requested([filter], { HEIGHT: text })).toEqual(found);
        }
      }),
    );
  });
});

describe("an integer filter", () => {
  test.each([
    ["2010", { YEAR: "2010" }],
    ["2012", { YEAR: "2010" }],
    [" +02008", { YEAR: "2010" }],
    ["2022", "defaults"],
    ["2013", 'YEAR: expected a whole number nearer than 3 to one of 2000, 2010, 2020, got "2013"'],
    ["2010.0", 'YEAR: expected a whole number nearer than 3 to one of 2000, 2010, 2020, got "2010.0"'],
    ["4294969306", 'YEAR: expected a whole number nearer than 3 to one of 2000, 2010, 2020, got "4294969306"'],
  ])("answers %j with %j", (text, expected) => {
    expect(requested([year], { YEAR: text })).toEqual(expected);
  });

  test("without a list every number is legal, and one tile set however it is written", () => {
    const any: ParameterFilter = { ...year, values: [] };
    for (const text of ["-7", "-007"]) expect(requested([any], { YEAR: text })).toEqual({ YEAR: "-7" });
    for (const text of ["0", "-0"]) expect(requested([any], { YEAR: text })).toEqual({ YEAR: "0" });
    expect(requested([any], { YEAR: "02020" })).toBe("defaults");
  });
});

describe("a case rule", () => {
  test("of a string filter makes one tile set of all ways to write a value", () => {
    for (const text of ["red", "RED", "Red"]) {
      expect(requested([{ ...style, normalize: "UPPER" }], { STYLES: text })).toEqual({ STYLES: "RED" });
      expect(requested([{ ...style, normalize: "LOWER" }], { STYLES: text })).toEqual({ STYLES: "red" });
    }
    expect(requested([{ ...style, normalize: "NONE" }], { STYLES: "Red" })).toEqual({ STYLES: "Red" });
    for (const filter of [style, { ...style, normalize: "NONE" as const }])
      expect(requested([filter], { STYLES: "red" })).toBe('STYLES: expected one of "", "Red", "green", got "red"');
    expect(requested([{ ...style, normalize: "UPPER" }], { STYLES: "blue" })).toBe(
      'STYLES: expected one of "", "RED", "GREEN", got "blue"',
    );
  });

  test("of a regex filter matches whatever the case, beyond ASCII too, and always the whole value", () => {
    const upper: ParameterFilter = { ...query, normalize: "UPPER" };
    expect(requested([upper], { Q: "Name = aÉ" })).toEqual({ Q: "NAME = AÉ" });
    expect(requested([upper], { Q: "name = ab" })).toMatch(/^Q: expected a value that matches/);
    expect(requested([query], { Q: "name = É" })).toMatch(/^Q: expected a value that matches/);
    expect(requested([query], { Q: "name = é" })).toEqual({ Q: "name = é" });
  });

  test("applies to the default, whose letters do not change", () => {
    const filter: ParameterFilter = { ...style, default: "Blue", normalize: "LOWER" };
    expect(requested([filter], { STYLES: "BLUE" })).toBe("defaults");
    expect(requested([filter, year], { STYLES: "BLUE", YEAR: "2000" })).toEqual({ STYLES: "Blue", YEAR: "2000" });
  });
});

test("a default is stored letter by letter beside another filter's value, so that GWC's tiles are found", () => {
  expect(requested([height, year], { HEIGHT: "0.0", YEAR: "2000" })).toEqual({ HEIGHT: "0", YEAR: "2000" });
  expect(parametersId({ STYLES: "", TIME: "2020" })).toBe("9a6b9a86fc07f28bebd4d5cd12b9efd25014cd2a");
});

test("_null and _empty are the default for every kind of filter", () => {
  for (const text of ["_null", "_empty"])
    expect(requested([style, query, year, height], { STYLES: text, Q: text, YEAR: text, HEIGHT: text })).toBe(
      "defaults",
    );
});

test("values are listed as tile sets are named by them, the default first and once", () => {
  expect(listedValues(height)).toEqual(["0", "0.3", "10.0"]);
  expect(listedValues(year)).toEqual(["2020", "2000", "2010"]);
  expect(listedValues(anyHeight)).toBeUndefined();
  expect(listedValues(query)).toBeUndefined();
  expect(listedValues({ ...style, default: "RED", normalize: "LOWER" })).toEqual(["RED", "green"]);
});

describe("the parameters of a truncation", () => {
  const parsed = (filters: readonly ParameterFilter[], given: Readonly<Record<string, string>>): unknown => {
    const result = parseTruncatedParameters(filters, new Map(Object.entries(given)));
    return result.ok ? result.value : result.error.code;
  };

  test.each([[{ STYLES: "" }], [{ styles: "_null" }], [{}]])(
    "%j name the default set of a layer without filters",
    (given) => {
      expect(parsed([], given)).toEqual({ id: "", values: {} });
    },
  );

  test("an empty value of a key without a filter does not change the set", () => {
    expect(parsed([year], { YEAR: "2010", STYLES: "" })).toEqual(parsed([year], { YEAR: "2010" }));
  });

  test("a value of a key without a filter is refused", () => {
    expect(parsed([year], { STYLES: "red" })).toBe("bad_field");
  });
});
