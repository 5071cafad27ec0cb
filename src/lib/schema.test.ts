import { expect, test } from "vitest";
import * as z from "zod";
import { badField, refusalMessage } from "./refusal.ts";
import { refuse } from "./result.ts";
import { checkBy, decodeBy, fieldName, parsedBy, refusalOf } from "./schema.ts";

const schema = z.strictObject({
  name: z.string({ error: "the name of a layer" }).min(1),
  zoomStop: z.int().min(0).optional(),
  order: z.enum(["by-zoom", "hot"]).optional(),
  rate: z.number().gt(0).lte(100).optional(),
  list: z
    .array(z.strictObject({ code: z.string().regex(/^[a-z]+$/) }))
    .max(1)
    .optional(),
  either: z.union([z.string(), z.strictObject({ like: z.string() })]).optional(),
  own: z.union([z.string(), z.number()], { error: "a word or a number" }).optional(),
  isGiven: z.boolean().optional(),
  window: z
    .string()
    .transform(parsedBy((text) => refuse(badField("window", "two times", text))))
    .optional(),
});

const refusal = (document: object): string => {
  const decoded = decodeBy(schema, { name: "a", ...document });
  return decoded.ok ? "accepted" : refusalMessage(decoded.error);
};

test.each([
  [{}, "accepted"],
  [{ name: undefined }, "name: expected the name of a layer, got null"],
  [{ name: "" }, 'name: expected the name of a layer, got ""'],
  [{ zoomstop: 3 }, "zoomstop: unknown field, expected zoomStop, got 3"],
  [{ zoomStop: "3" }, 'zoomStop: expected a whole number, got "3"'],
  [{ zoomStop: 1.5 }, "zoomStop: expected a whole number, got 1.5"],
  [{ zoomStop: -1 }, "zoomStop: expected at least 0, got -1"],
  [{ order: "hottest" }, 'order: expected one of by-zoom, hot, got "hottest"'],
  [{ rate: 0 }, "rate: expected more than 0, got 0"],
  [{ rate: 101 }, "rate: expected at most 100, got 101"],
  [{ list: "a" }, 'list: expected a list, got "a"'],
  [{ list: [{ code: "A" }] }, 'list[0].code: expected text of the form /^[a-z]+$/, got "A"'],
  [{ list: [{ code: "a" }, { code: "b" }] }, 'list: expected at most 1 entries, got [{"code":"a"},{"code":"b"}]'],
  [{ either: 1 }, "either: expected text or an object, got 1"],
  [{ either: { like: 1 } }, "either.like: expected text, got 1"],
  [{ own: true }, "own: expected a word or a number, got true"],
  [{ isGiven: "yes" }, 'isGiven: expected true or false, got "yes"'],
  [{ window: "22-6" }, 'window: expected two times, got "22-6"'],
])("%j: %s", (document, expected) => expect(refusal(document)).toBe(expected));

test("all problems are reported, unknown fields first, and values are shortened", () => {
  const checked = checkBy(schema, { rate: "x".repeat(500), Name: 1, extra: 2 });
  expect(checked.ok ? [] : checked.error.map((problem) => refusalMessage(refusalOf(problem)))).toEqual([
    "Name: unknown field, expected name, got 1",
    "extra: unknown field, expected one of name, zoomStop, order, rate, list, either, own, isGiven, window, got 2",
    "name: expected the name of a layer, got null",
    `rate: expected a number, got "${"x".repeat(199)}…`,
  ]);
});

test("a field is named by its path", () => {
  expect(fieldName(["layers", 2, "name"])).toBe("layers[2].name");
  expect(fieldName([])).toBe("");
});

test.each([
  [{ password: 12345678 }, 'password: expected text, got "***"'],
  [{ password: "short" }, 'password: expected at least 8 characters, got "***"'],
  [{}, "password: expected text, got null"],
  [{ password: "long enough", Passwort: "hunter2" }, 'Passwort: unknown field, expected one of password, got "***"'],
])("the value of a secret is in no message: %j", (document, message) => {
  const decoded = decodeBy(z.strictObject({ password: z.string().min(8) }), document);
  expect(decoded.ok ? "accepted" : refusalMessage(decoded.error)).toBe(message);
});
