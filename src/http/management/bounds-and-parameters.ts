import { childrenOf, expanded, type Field, isEmpty, MOST_OF_OBJECT, scalarOf } from "../../body/field.ts";
import { checkCase, Fields, type Problems, parseDecimal } from "../../body/fields.ts";
import type { Extent } from "../../grid/grid-set.ts";

/** Reads `bounds`: `coords` with four `double`, or with an array of four numbers. Does not check their order. */
export const readBounds = (parent: Fields): Extent | undefined => parent.problems.ofBounds(() => readCoords(parent));

function readCoords(parent: Fields): Extent | undefined {
  const { problems } = parent;
  const bounds = parent.one("bounds");
  if (bounds === undefined) return undefined;
  const path = `${parent.path("bounds")}.coords`;
  const doubles = doublesOf(bounds, path, new Fields(bounds, `${parent.path("bounds")}.`, ["coords"], problems));
  const [minX, minY, maxX, maxY] = doubles.map(
    (double) => parseDecimal(scalarOf(double) ?? "") ?? problems.expected(path, "finite decimal numbers", double),
  );
  if (doubles.length !== 4) {
    const given = doubles.map((double) => scalarOf(double) ?? "?").join(", ");
    const got = `${doubles.length}${doubles.length === 0 ? "" : `: ${given.slice(0, 200)}`}`;
    return problems.at(bounds, `${path}: expected four numbers (minx, miny, maxx, maxy), got ${got}`);
  }
  if (minX === undefined || minY === undefined || maxX === undefined || maxY === undefined) return undefined;
  return { minX, minY, maxX, maxY };
}

function doublesOf(bounds: Field, path: string, fields: Fields): readonly Field[] {
  const [only, ...others] = bounds.children.filter(({ name }) => name === "coords");
  const isList = only?.kind === "list" && only.children.every((item) => scalarOf(item) !== undefined);
  if (isList && others.length === 0) return only.children;
  const coords = fields.one("coords");
  if (coords === undefined) return [];
  new Fields(coords, `${path}.`, ["double"], fields.problems);
  return childrenOf(coords, "double");
}

/**
 * Reads `parameters` in all forms of `docs/reference/wire-format.md`, Seed request: one or several `entry` with two
 * `string`, a list of pairs, or a plain map. An empty field counts as absent. Keys are trimmed; values are not.
 */
export function readParameters(parent: Fields): ReadonlyMap<string, string> {
  const { problems } = parent;
  const path = parent.path("parameters");
  const [only, ...others] = parent.field.children.filter(({ name }) => name === "parameters");
  const lists = only?.kind === "list" && others.length === 0 ? only.children : undefined;
  // `parent.one` would refuse a list of several pairs as a repeated field.
  const field = lists === undefined ? parent.one("parameters") : only;
  if (field === undefined || (field.kind === "element" && isEmpty(field))) return new Map();
  const entries = lists ?? entriesOf(field, path, problems);
  const pairs =
    entries === undefined
      ? field.children.map((child) => mapped(path, child, problems))
      : entries.map((entry) => pairOf(path, entry, problems));
  return uniqueParameters(
    pairs.filter((pair) => pair !== undefined),
    `${path}.`,
    problems,
  );
}

/** Returns the `entry` elements of `parameters`. Undefined for a plain map, which has no `entry`. */
function entriesOf(field: Field, path: string, problems: Problems): readonly Field[] | undefined {
  if (field.text.trim() !== "") problems.expected(path, "entries of two strings", { ...field, children: [] });
  checkCase(field, `${path}.`, ["entry"], problems);
  const entries = field.children.filter(({ name }) => name === "entry");
  if (entries.length === 0) return undefined;
  const stray = field.children.find(({ name }) => name !== "entry");
  if (stray !== undefined) problems.expected(`${path}.${stray.name}`, "only entries beside entries", stray);
  return expanded(entries);
}

/** A key and a value, with the field for messages. */
export interface Pair {
  readonly key: string;
  readonly value: string;
  readonly field: Field;
}

/** Reads a key and a value: a list of two strings, or an element with two `string`. */
function pairOf(path: string, entry: Field, problems: Problems): Pair | undefined {
  checkCase(entry, `${path}.entry.`, ["string"], problems);
  const texts = (entry.kind === "list" ? entry.children : childrenOf(entry, "string")).map(scalarOf);
  const [key, value] = texts;
  return texts.length === 2 && key !== undefined && value !== undefined && key.trim() !== ""
    ? { key: key.trim(), value, field: entry }
    : problems.at(entry, `${path}.entry: expected two strings, a key and a value, got ${texts.length}`);
}

function mapped(path: string, field: Field, problems: Problems): Pair | undefined {
  const value = scalarOf(field);
  if (value !== undefined && field.name.trim() !== "") return { key: field.name.trim(), value, field };
  return problems.expected(`${path}.${field.name}`, "a string", field);
}

/**
 * Returns parameters as a map. Keys are not case-sensitive: reports a repeated key with another value.
 * @param prefix the text before a key in messages
 */
export function uniqueParameters(
  pairs: readonly Pair[],
  prefix: string,
  problems: Problems,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const seen = new Map<string, string>();
  const excess = pairs[MOST_OF_OBJECT];
  if (excess !== undefined) {
    problems.at(excess.field, `${prefix}KEY: expected at most ${MOST_OF_OBJECT} parameters, got ${pairs.length}`);
    return values;
  }
  for (const { key, value, field } of pairs) {
    const before = seen.get(key.toUpperCase());
    if (before === undefined) {
      seen.set(key.toUpperCase(), value);
      values.set(key, value);
    } else if (before !== value)
      problems.at(field, `${prefix}${key.slice(0, 200)}: given more than once, with different values`);
  }
  return values;
}
