import { SourceError } from "../source.ts";

/** A feature's attributes, by upper-case name. */
export type Attributes = Readonly<Record<string, string | number>>;

const COMPARISON =
  /^\s*"?([A-Za-z_]\w*)"?\s*(<>|<=|>=|!=|=|<|>)\s*('(?:[^']|'')*'|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*$/;

/**
 * Parses a subset of CQL: comparisons of an attribute with a number or a text, joined by AND and OR (AND binds
 * tighter).
 * @throws SourceError `exception` with the part that cannot be parsed
 */
export function parseFilter(cql: string): (attributes: Attributes) => boolean {
  if (cql.trim() === "") return () => true;
  const alternatives = splitOutsideText(cql, "OR").map((part) => splitOutsideText(part, "AND").map(parseComparison));
  return (attributes) => alternatives.some((all) => all.every((one) => one(attributes)));
}

function splitOutsideText(text: string, word: "AND" | "OR"): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const found of text.matchAll(/'(?:[^']|'')*'|\b(?:AND|OR)\b/gi)) {
    if (found[0].toUpperCase() !== word) continue;
    parts.push(text.slice(from, found.index));
    from = found.index + word.length;
  }
  parts.push(text.slice(from));
  return parts;
}

function parseComparison(part: string): (attributes: Attributes) => boolean {
  const [, name, operator, literal] = COMPARISON.exec(part) ?? [];
  if (name === undefined || operator === undefined || literal === undefined) {
    throw new SourceError(
      "exception",
      `CQL_FILTER: expected comparisons such as TOTPOP > 10000 joined by AND or OR, got ${JSON.stringify(part.slice(0, 100))}`,
    );
  }
  const wanted = literal.startsWith("'") ? literal.slice(1, -1).replaceAll("''", "'") : Number(literal);
  return (attributes) => {
    const value = attributes[name.toUpperCase()];
    if (value === undefined)
      throw new SourceError(
        "exception",
        `CQL_FILTER: there is no attribute ${name}; there are ${Object.keys(attributes).join(", ")}`,
      );
    const [a, b] = typeof wanted === "number" ? [Number(value), wanted] : [String(value), wanted];
    switch (operator) {
      case "=":
        return a === b;
      case "<>":
      case "!=":
        return a !== b;
      case "<":
        return a < b;
      case "<=":
        return a <= b;
      case ">":
        return a > b;
      default:
        return a >= b;
    }
  };
}
