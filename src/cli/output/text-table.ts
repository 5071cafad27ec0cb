import type { Count } from "../client/answer.ts";
import { coloured, stateColour } from "./colours.ts";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Formats bytes for people: `1.5 GiB`. */
export function bytesText(count: Count): string {
  const bytes = Number(count);
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${UNITS[power]}`;
}

/** The head of a column whose cells are states. */
const STATE = "state";

/**
 * Formats a table. Aligns a column to the right if each of its cells is empty or begins like a number. On a terminal the
 * head is bold, and the states have colours.
 */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const right = head.map((_, column) => rows.length > 0 && rows.every((row) => /^(-|\d|$)/.test(row[column] ?? "")));
  return all
    .map((row, n) => {
      const cells = row.map((text, column) => {
        const width = widths[column] ?? 0;
        const cell = right[column] ? text.padStart(width) : text.padEnd(column === row.length - 1 ? 0 : width);
        const colour = n === 0 ? "bold" : head[column] === STATE ? stateColour(text) : undefined;
        return colour === undefined ? cell : coloured(colour, cell);
      });
      return `${cells.join("  ").trimEnd()}\n`;
    })
    .join("");
}

/** Formats named facts, one per line. Omits undefined facts. */
export const factList = (facts: readonly (readonly [string, string | undefined])[]): string =>
  facts.flatMap(([name, value]) => (value === undefined ? [] : [`${`${name}:`.padEnd(17)}${value}\n`])).join("");

/** Formats the values of parameter filters as in a query string. Empty without values. */
export const parametersText = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${value}`)
    .join("&");

const YEAR_SECONDS = 365 * 86_400;

/** Formats seconds for people with the two largest units, such as `2 h 5 min`. From two years on only with years. */
export function durationText(seconds: number): string {
  if (seconds >= 2 * YEAR_SECONDS) return `${Math.round(seconds / YEAR_SECONDS)} years`;
  let left = Math.round(seconds);
  const parts: string[] = [];
  for (const [unit, length] of [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ] as const) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0 || (unit === "s" && parts.length === 0)) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** Formats a time of the server in UTC, without fractions of a second. Undefined if the time is. */
export function timeText(iso: string): string;
export function timeText(iso: string | null): string | undefined;
export function timeText(iso: string | null): string | undefined {
  return iso?.replace("T", " ").replace(/\.\d+Z$/, "Z");
}
