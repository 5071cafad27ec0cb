import { type Refusal, shown } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { MASKED, secretPartAt } from "../lib/text/masked.ts";
import { placeOf } from "./body-text.ts";
import { childrenOf, type Field, scalarOf } from "./field.ts";

const MOST_IGNORED = 10;
const MOST_CHARACTERS = 100;

/**
 * Holds the first problem that a decoder found. The decoder continues after a problem and returns `result` at its end.
 */
export class Problems {
  #first: Refusal | undefined;
  readonly #ignored: string[] = [];

  note(refusal: Refusal): undefined {
    this.#first ??= refusal;
    return undefined;
  }

  /** Records a problem of a field, with its line and column. */
  at(field: Field, message: string): undefined {
    return this.note({ code: "bad_field", message: `${message}${placeOf(field)}` });
  }

  /** Records that a field does not have the expected value. */
  expected(path: string, expected: string, field: Field): undefined {
    const got = scalarOf(field);
    const value =
      secretPartAt(path.split(/[.[\]]/)) === "value"
        ? MASKED
        : got !== undefined
          ? shown(got)
          : field.kind === "list"
            ? "a list"
            : field.kind === "null"
              ? "null"
              : "fields";
    return this.at(field, `${path}: expected ${expected}, got ${value}`);
  }

  /** The paths of unknown fields, which are ignored. Only the first few, because a hostile body may have thousands. */
  get ignored(): readonly string[] {
    return this.#ignored;
  }

  ignore(path: string): void {
    if (this.#ignored.length < MOST_IGNORED) this.#ignored.push(path.slice(0, MOST_CHARACTERS));
  }

  /** Runs a reader. If the reader records the first problem, marks the refusal as one of the request's bounds. */
  ofBounds<T>(read: () => T): T {
    const before = this.#first;
    const value = read();
    if (before === undefined && this.#first !== undefined) this.#first = { ...this.#first, isOfBounds: true };
    return value;
  }

  /** Returns the decoded value, or the first problem. */
  result<T>(decoded: T): Result<T, Refusal> {
    return this.#first === undefined ? ok(decoded) : refuse(this.#first);
  }
}

/**
 * The fields of an object by name. Unknown fields are ignored, but a field whose name differs only in case is a
 * problem.
 */
export class Fields {
  readonly field: Field;
  readonly problems: Problems;
  readonly #prefix: string;

  /** @param prefix the prefix of these fields' names in messages: empty, or `bounds.` */
  constructor(field: Field, prefix: string, known: readonly string[], problems: Problems) {
    this.field = field;
    this.problems = problems;
    this.#prefix = prefix;
    if (field.kind !== "element" || field.text.trim() !== "") {
      const own = prefix === "" ? field.name : prefix.slice(0, -1);
      problems.expected(own, `fields (${known.join(", ")})`, { ...field, children: [] });
    }
    checkCase(field, prefix, known, problems);
  }

  path(name: string): string {
    return `${this.#prefix}${name}`;
  }

  /** Returns a field. Records a problem if the field is given more than once. */
  one(name: string): Field | undefined {
    const [given, second] = childrenOf(this.field, name);
    // An empty list does not count as absent: `"bounds":[]` would seed everything.
    const empty = given === undefined ? this.field.children.find((child) => child.name === name) : undefined;
    if (empty !== undefined) this.problems.expected(this.path(name), "one value", empty);
    if (second !== undefined) this.problems.at(second, `${this.path(name)}: given more than once`);
    return given;
  }

  /** Returns the trimmed text of a field. An empty field counts as absent. */
  text(name: string): string | undefined {
    const given = this.one(name);
    if (given === undefined) return undefined;
    const value = scalarOf(given);
    if (value === undefined) return this.problems.expected(this.path(name), "text", given);
    return value.trim() === "" ? undefined : value.trim();
  }

  /** Returns a whole number that a double represents exactly. */
  integer(name: string): number | undefined {
    return this.read(name, "a whole number", (text) => {
      const value = parseInteger(text);
      return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
    });
  }

  /** Returns the value that `parse` makes of a scalar field. Records a problem if `parse` returns undefined. */
  read<T>(name: string, expected: string, parse: (text: string) => T | undefined): T | undefined {
    const given = this.one(name);
    return given === undefined
      ? undefined
      : (parse(scalarOf(given) ?? "") ?? this.problems.expected(this.path(name), expected, given));
  }
}

/**
 * Records a problem for a field whose name differs from a known name only in case: ignoring `zoomstop` would seed every
 * zoom. Other unknown fields are ignored.
 */
export function checkCase(field: Field, prefix: string, known: readonly string[], problems: Problems): void {
  for (const child of field.children) {
    if (known.includes(child.name)) continue;
    const selected = known.find((name) => name.toLowerCase() === child.name.toLowerCase());
    if (selected !== undefined) problems.at(child, `${prefix}${child.name}: unknown field, expected ${selected}`);
    else problems.ignore(`${prefix}${child.name}`);
  }
}

/**
 * Parses decimal digits with an optional sign and surrounding blanks. Undefined for any other text. The result can lie
 * beyond the safe integers.
 */
export const parseInteger = (text: string): number | undefined =>
  /^[+-]?\d+$/.test(text.trim()) ? Number(text) + 0 : undefined;

/**
 * Parses a finite decimal number, with or without an exponent. Undefined for hexadecimal numbers, `NaN` and `Infinity`.
 */
export function parseDecimal(text: string): number | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text.trim())) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value + 0 : undefined;
}
