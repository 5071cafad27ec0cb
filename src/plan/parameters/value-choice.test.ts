import { describe, expect, test } from "vitest";
import type { ParameterFilter } from "../../layer/filter/parameter-filter.ts";
import { parseAge } from "../tile-age.ts";
import { type ChosenSet, chooser, isRange, type RequestedSet, resolveSets, selectedValues } from "./value-choice.ts";

const times = ["2025", "2026-10", "2026-11-14", "2026-11-15T00:00:00+01:00", "2026-11-15T00:00:00Z", "current"];
const heights = ["-10", "0.5", "9", "10.0", "1e2", "high"];

describe("a range", () => {
  test.each([
    [{ from: "2026-10", to: "2026-11-14" }, times, times.slice(1, 4)],
    [{ to: "2026-11-14" }, ["2026-11-14T23:59:59.999Z", "2026-11-15"], ["2026-11-14T23:59:59.999Z"]],
    [{ to: "2026-11-15T00:00" }, times, ["2025", "2026-10", "2026-11-14", times[3], times[4]]],
    [{ from: "2026-11-14T23:00:00Z" }, times, ["2026-11-15T00:00:00+01:00", "2026-11-15T00:00:00Z"]],
    [{ to: "2026-10-01" }, times, ["2025", "2026-10"]],
    [{ from: "2026-11-15T00:00:00+01:00", to: "2026-11-14T23:00Z" }, times, [times[3]]],
    [{ from: "0", to: "10" }, heights, ["0.5", "9", "10.0"]],
    [{ from: "10" }, heights, ["10.0", "1e2"]],
    [{ to: "-10" }, heights, ["-10"]],
    // A year is both a number and a time.
    [{ from: "2026", to: "2026" }, times, times.slice(1, 5)],
    [{ from: "2000", to: "2025" }, ["2012.5", "2025-12-31T23:00Z", "2026"], ["2012.5", "2025-12-31T23:00Z"]],
  ])("%j means what lies between, its ends included", (ends, known, selected) => {
    expect(selectedValues({ kind: "range", ...ends }, known, undefined)).toEqual(selected);
  });

  test.each([
    {},
    { from: "high" },
    { from: "1", to: "2026-11" },
    { from: "2", to: "1" },
    { to: "2026-13" },
    { from: "2026-02-30" },
  ])("%j is none", (ends) => {
    expect(isRange(ends)).toBe(false);
  });
});

test("an age means the times before it, counted from the day of the request", () => {
  const than = parseAge("P7D");
  if (than === undefined) throw new Error("not an age");
  const requested: RequestedSet = new Map([["TIME", { kind: "older", than }]]);
  const now = resolveSets([requested], Date.UTC(2026, 10, 22));
  const [choice] = now.ok ? [...(now.value[0]?.values() ?? [])] : [];
  if (choice === undefined) throw new Error("no choice");
  expect(selectedValues(choice, times, undefined)).toEqual([
    "2025",
    "2026-10",
    "2026-11-14",
    "2026-11-15T00:00:00+01:00",
  ]);
});

test("names mean themselves, known or not; a pattern means known ones", () => {
  expect(selectedValues("a", [], undefined)).toEqual(["a"]);
  expect(selectedValues({ kind: "any of", values: ["b", "c"] }, ["c"], undefined)).toEqual(["b", "c"]);
  expect(selectedValues({ kind: "like", pattern: "2026-*" }, times, undefined)).toEqual(times.slice(1, 5));
  const upper: ParameterFilter = { type: "regex", key: "A", default: "", regex: ".*", normalize: "UPPER" };
  expect(selectedValues({ kind: "like", pattern: "w*" }, ["WIDE", "BROAD"], upper)).toEqual(["WIDE"]);
});

describe("stored combinations", () => {
  const filters: readonly ParameterFilter[] = [
    { type: "string", key: "STYLES", default: "day", values: ["day", "night"], normalize: "LOWER" },
    { type: "regex", key: "TIME", default: "", regex: ".*" },
  ];
  const before = { kind: "before", ms: Date.UTC(2026, 10, 15) } as const;
  const any = { kind: "like", pattern: "*" } as const;
  test.each<[Readonly<Record<string, string>>, ChosenSet, boolean]>([
    [{ STYLES: "day", TIME: "2026-11-14" }, new Map([["TIME", before]]), true],
    [{ STYLES: "day", TIME: "2026-11-16" }, new Map([["TIME", before]]), false],
    // A key that is not in a set has its default.
    [{ STYLES: "night", TIME: "2026-11-14" }, new Map([["TIME", before]]), false],
    [
      { STYLES: "night", TIME: "2026-11-14" },
      new Map<string, typeof any | typeof before>([
        ["time", before],
        ["styles", any],
      ]),
      true,
    ],
    [{}, new Map([["STYLES", "day"]]), true],
    [{}, new Map([["STYLES", ""]]), true],
    [{}, new Map([["STYLES", any]]), true],
    [{}, new Map([["TIME", before]]), false],
    [{ STYLES: "night", TIME: "" }, new Map([["STYLES", { kind: "any of", values: ["NIGHT"] } as const]]), true],
    // A combination with a key that the layer no longer has is selected only if the set names the key.
    [{ STYLES: "day", TIME: "", ELEVATION: "3" }, new Map([["STYLES", any]]), false],
    [{ STYLES: "day", TIME: "", ELEVATION: "3" }, new Map([["elevation", any]]), true],
    [{ STYLES: "day", TIME: "" }, new Map([["ELEVATION", any]]), false],
  ])("%j by %o: %s", (stored, set, isSelected) => {
    expect(chooser([new Map([["STYLES", "gone"]]), set], filters)(stored)).toBe(isSelected);
  });
});
