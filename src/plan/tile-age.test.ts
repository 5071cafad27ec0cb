import { expect, test } from "vitest";
import { refusalMessage } from "../lib/refusal.ts";
import { momentOf, parseAge } from "./tile-age.ts";

const NOW = Date.parse("2026-03-31T12:00:00Z");
const moment = (text: string): string => {
  const age = parseAge(text);
  if (age === undefined) return "not understood";
  const found = momentOf(age, NOW);
  return found.ok ? new Date(found.value).toISOString() : refusalMessage(found.error);
};

test.each([
  ["2026-03-01T00:00:00Z", "2026-03-01T00:00:00.000Z"],
  ["2026-03-01t02:00:00.5+02:00", "2026-03-01T00:00:00.500Z"],
  ["P7D", "2026-03-24T12:00:00.000Z"],
  ["p2w", "2026-03-17T12:00:00.000Z"],
  ["PT36H", "2026-03-30T00:00:00.000Z"],
  ["P1DT30M5S", "2026-03-30T11:29:55.000Z"],
  ["P1M", "2026-02-28T12:00:00.000Z"],
  ["P1Y1M", "2025-02-28T12:00:00.000Z"],
  ["PT0S", "2026-03-31T12:00:00.000Z"],
])("%s is a moment", (text, expected) => expect(moment(text)).toBe(expected));

test.each(["", "7", "P", "PT", "P1DT", "P1.5D", "-P1D", "P7d ago", "yesterday", "2026-03-01", "2026-02-30T00:00:00Z"])(
  "%j is none",
  (text) => expect(moment(text)).toBe("not understood"),
);

test.each([
  ["2026-03-31T12:00:01Z", 'olderThan: expected a time that has passed, got "2026-03-31T12:00:01Z"'],
  ["P300Y", 'olderThan: expected a time in 1970 or later, got "P300Y"'],
  ["P999999Y", 'olderThan: expected a time in 1970 or later, got "P999999Y"'],
])("%s is refused", (text, expected) => expect(moment(text)).toBe(expected));
