import type { Extent } from "../../../grid/grid-set.ts";
import { placeOf } from "./body-text.ts";
import { childrenOf, expanded, type Field, isEmpty, scalarOf } from "./field.ts";
import { badFieldAt, checkCase, type Fields, fieldsOf, note, type Problems, parseDecimal } from "./fields.ts";

/** Reads `bounds`: `coords` with four `double`, or with an array of four numbers. Does not check their order. */
export function readBounds(parent: Fields, problems: Problems): Extent | undefined {
  const before = problems.first;
  const bounds = readCoords(parent, problems);
  if (before === undefined && problems.first !== undefined) problems.first = { ...problems.first, isOfBounds: true };
  return bounds;
}

function readCoords(parent: Fields, problems: Problems): Extent | undefined {
  const bounds = parent.one("bounds");
  if (bounds === undefined) return undefined;
  const path = parent.path("bounds");
  const inner = fieldsOf(bounds, `${path}.`, ["coords"], problems);
  const raw = bounds.children.filter((c) => c.name === "coords");
  const only = raw.length === 1 ? raw[0] : undefined;
  let doubles: readonly Field[];
  if (only?.kind === "list" && only.children.every((c) => scalarOf(c) !== undefined)) {
    doubles = only.children;
  } else {
    const coords = inner.one("coords");
    if (coords === undefined) doubles = [];
    else {
      fieldsOf(coords, `${path}.coords.`, ["double"], problems);
      doubles = childrenOf(coords, "double");
    }
  }
  const numbers = doubles.map((d) => {
    const value = parseDecimal(scalarOf(d) ?? "");
    return value ?? note(problems, badFieldAt(`${path}.coords`, "finite decimal numbers", d));
  });
  const [minX, minY, maxX, maxY] = numbers;
  if (numbers.length !== 4) {
    const given = doubles.map((d) => scalarOf(d) ?? "?").join(", ");
    const message = `${path}.coords: expected four numbers (minx, miny, maxx, maxy), got ${numbers.length}${numbers.length === 0 ? "" : `: ${given.slice(0, 200)}`} ${placeOf(bounds)}`;
    return note(problems, { code: "bad_field", message });
  }
  if (minX === undefined || minY === undefined || maxX === undefined || maxY === undefined) return undefined;
  return { minX, minY, maxX, maxY };
}

/**
 * Reads `parameters` in all forms of `docs/reference/wire-format.md`, Seed request: one or several `entry` with two
 * `string`, a list of pairs, or a plain map. An empty field counts as absent. Keys are trimmed; values are not.
 */
export function readParameters(parent: Fields, problems: Problems): ReadonlyMap<string, string> {
  const path = parent.path("parameters");
  const raw = parent.field.children.filter((c) => c.name === "parameters");
  const only = raw.length === 1 ? raw[0] : undefined;
  const lists = only?.kind === "list" ? only.children : undefined;
  // `parent.one` would refuse a list of several pairs as a field given several times.
  const field = lists === undefined ? parent.one("parameters") : only;
  if (field === undefined || (field.kind === "element" && isEmpty(field))) return new Map();
  if (lists !== undefined)
    return collect(
      path,
      lists.map((l) => pairOf(path, l, problems)),
      problems,
    );
  if (field.text.trim() !== "") note(problems, badFieldAt(path, "entries of two strings", { ...field, children: [] }));
  checkCase(field, `${path}.`, ["entry"], problems);
  const entries = field.children.filter((c) => c.name === "entry");
  if (entries.length === 0)
    return collect(
      path,
      field.children.map((c) => mapped(path, c, problems)),
      problems,
    );
  const stray = field.children.find((c) => c.name !== "entry");
  if (stray !== undefined) note(problems, badFieldAt(`${path}.${stray.name}`, "only entries beside entries", stray));
  return collect(
    path,
    expanded(entries).map((e) => pairOf(path, e, problems)),
    problems,
  );
}

interface Pair {
  readonly key: string;
  readonly value: string;
  readonly field: Field;
}

/** Reads a key and a value: a list of two strings, or an element with two `string`. */
function pairOf(path: string, entry: Field, problems: Problems): Pair | undefined {
  checkCase(entry, `${path}.entry.`, ["string"], problems);
  const strings = entry.kind === "list" ? entry.children : childrenOf(entry, "string");
  const texts = strings.map(scalarOf);
  const [key, value] = texts;
  if (texts.length !== 2 || key === undefined || value === undefined || key.trim() === "") {
    const message = `${path}.entry: expected two strings, a key and a value, got ${texts.length} ${placeOf(entry)}`;
    return note(problems, { code: "bad_field", message });
  }
  return { key: key.trim(), value, field: entry };
}

function mapped(path: string, field: Field, problems: Problems): Pair | undefined {
  const value = scalarOf(field);
  if (value !== undefined && field.name.trim() !== "") return { key: field.name.trim(), value, field };
  return note(problems, badFieldAt(`${path}.${field.name}`, "a string", field));
}

function collect(path: string, pairs: readonly (Pair | undefined)[], problems: Problems): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const seen = new Map<string, string>();
  for (const pair of pairs) {
    if (pair === undefined) continue;
    const before = seen.get(pair.key.toUpperCase());
    if (before === undefined) {
      seen.set(pair.key.toUpperCase(), pair.value);
      values.set(pair.key, pair.value);
    } else if (before !== pair.value) {
      const message = `${path}.${pair.key.slice(0, 200)}: given more than once, with different values ${placeOf(pair.field)}`;
      note(problems, { code: "bad_field", message });
    }
  }
  return values;
}
