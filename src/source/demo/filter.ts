import { SourceError } from "../source.ts";

/** A feature's attributes, by upper-case name. */
export type Attributes = Readonly<Record<string, string | number>>;
type Filter = (attributes: Attributes) => boolean;

const TEXT = /'(?:[^']|'')*'/g;
const COMPARISON = /^\s*"?([A-Za-z_]\w*)"?\s*(<>|<=|>=|!=|=|<|>)\s*('\d+'|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*$/;
const OPERATORS: Readonly<Record<string, (a: string | number, b: string | number) => boolean>> = {
  "=": (a, b) => a === b,
  "<>": (a, b) => a !== b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

/**
 * Parses a subset of CQL: comparisons of an attribute with a number or a text, joined by AND and OR (AND binds
 * tighter).
 * @throws SourceError `exception` with the part that cannot be parsed
 */
export function parseFilter(cql: string): Filter {
  if (cql.trim() === "") return () => true;
  const texts = cql.match(TEXT) ?? [];
  let n = 0;
  // A text may contain the words AND and OR, so a number replaces it.
  const alternatives = cql.replaceAll(TEXT, () => `'${n++}'`).split(/\bOR\b/i);
  const parsed = alternatives.map((all) => all.split(/\bAND\b/i).map((part) => comparisonOf(part, texts)));
  return (attributes) => parsed.some((all) => all.every((one) => one(attributes)));
}

function comparisonOf(part: string, texts: readonly string[]): Filter {
  const [, name = "", operator = "", literal = ""] = COMPARISON.exec(part) ?? [];
  const compare = OPERATORS[operator];
  const text = literal.startsWith("'") ? texts[Number(literal.slice(1, -1))] : undefined;
  if (compare === undefined)
    throw new SourceError(
      "exception",
      `CQL_FILTER: expected comparisons such as TOTPOP > 10000 joined by AND or OR, got ${JSON.stringify(part.slice(0, 100))}`,
    );
  const wanted = text === undefined ? Number(literal) : text.slice(1, -1).replaceAll("''", "'");
  return (attributes) => {
    const value = attributes[name.toUpperCase()];
    if (value !== undefined) return compare(text === undefined ? Number(value) : String(value), wanted);
    const names = Object.keys(attributes).join(", ");
    throw new SourceError("exception", `CQL_FILTER: there is no attribute ${name}; there are ${names}`);
  };
}
