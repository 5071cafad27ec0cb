import { describe, expect, test } from "vitest";
import { SourceError } from "../source.ts";
import { parseFilter } from "./filter.ts";

const OHIO = { STATE_NAME: "Ohio", STATE_ABBR: "OH", PERSONS: 11_799_000, NOTE: "it's AND or OR" };

describe("a CQL filter is true or false of a state:", () => {
  test.each([
    ["", true],
    ["   ", true],
    ["PERSONS > 10000", true],
    ["PERSONS>10000000", true],
    ["PERSONS < 10000", false],
    ["PERSONS >= 11799000", true],
    ["PERSONS <= 11798999.5", false],
    ["PERSONS = 1.1799e7", true],
    ["PERSONS <> 11799000", false],
    ["persons != 1", true],
    ["PERSONS > -1", true],
    ["STATE_NAME = 'Ohio'", true],
    ["\"STATE_NAME\" = 'ohio'", false],
    ["STATE_NAME > 'Iowa'", true],
    ["NOTE = 'it''s AND or OR'", true],
    ["PERSONS > 1 AND STATE_ABBR = 'OH'", true],
    ["PERSONS > 1 and STATE_ABBR = 'IA'", false],
    ["STATE_ABBR = 'IA' or STATE_ABBR = 'OH'", true],
    ["STATE_ABBR = 'OH' OR STATE_ABBR = 'IA' AND PERSONS < 1", true],
    ["STATE_ABBR = 'IA' AND PERSONS < 1 OR PERSONS < 1", false],
  ])("%s", (cql, expected) => {
    expect(parseFilter(cql)(OHIO)).toBe(expected);
  });
});

test.each([
  "PERSONS",
  "PERSONS >",
  "PERSONS > ten",
  "PERSONS LIKE 'x'",
  "PERSONS > 1 AND",
  "OR PERSONS > 1",
  "(PERSONS > 1)",
  "PERSONS > 1; DROP",
  "STATE_NAME = 'Ohio",
  "PERSONS BETWEEN 1 AND 2",
])("what cannot be read is an error that says so, never everything: %s", (cql) => {
  expect(() => parseFilter(cql)).toThrow(SourceError);
  expect(() => parseFilter(cql)).toThrow(/^CQL_FILTER: expected comparisons such as TOTPOP > 10000/);
});

test("an attribute that there is not is an error that names those there are", () => {
  expect(() => parseFilter("POPULATION > 1")(OHIO)).toThrow(
    "CQL_FILTER: there is no attribute POPULATION; there are STATE_NAME, STATE_ABBR, PERSONS, NOTE",
  );
});
