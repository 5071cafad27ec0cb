import type * as z from "zod";
import { type Content, isMap } from "../../../lib/is-map.ts";
import { unknownKeys } from "../../fields/fields.ts";
import { valueAt, withoutKey, withoutKeys } from "./document-path.ts";
import type { Path, Problems } from "./problems.ts";

export interface Reading {
  readonly problems: Problems;
  /** Returns whether the value came as text (from a variable or a flag). Then numbers and booleans are parsed. */
  cameAsText(path: Path): boolean;
}

type Issue = z.core.$ZodIssue;

/** The most issues of one value that are reported, and the most parts that are removed at once: each takes a copy. */
const MOST_ISSUES = 200;

/** The maps in which a key without a value is a mistake. In other maps such a key counts as absent. */
const MAPS_OF_VALUES: readonly unknown[] = ["vendorParameters", "headers"];

/**
 * Returns a value of the document in the output form of its schema. Each part that does not fit adds a problem with its
 * position. The result is then undefined, unless only checks failed. Keys with empty values count as absent, and texts
 * of variables are parsed.
 */
export function readValue<S extends z.ZodType>(
  schema: S,
  given: unknown,
  at: Path,
  reading: Reading,
): z.output<S> | undefined {
  const first = schema.safeParse(given);
  if (first.success) return first.data;
  const firstIssues = innermost(first.error.issues, given);
  const cleaned = cleanedOf(given, firstIssues, at, reading);
  const second = cleaned === given ? first : schema.safeParse(cleaned);
  if (second.success) return second.data;
  const all = cleaned === given ? firstIssues : innermost(second.error.issues, cleaned);
  const hasShape = all.every(({ code }) => code === "custom");
  const issues = all.slice(0, MOST_ISSUES);
  const reported = new Set<string>();
  let lines = MOST_ISSUES;
  for (const issue of issues) {
    if (!hasShape && issue.code === "custom" && issue.params?.["isLate"] === true) continue;
    // A value may fail several checks that have one message.
    const key = JSON.stringify([issue.path, issue.message]);
    if (!reported.has(key)) lines -= report(issue, { given, cleaned, at }, reading.problems, lines);
    if (lines <= 0) break;
    reported.add(key);
  }
  // With more issues, further problems of the value would not be reported anyway.
  return hasShape && all.length <= MOST_ISSUES ? checkedValue(schema, cleaned) : undefined;
}

/**
 * Returns a value whose shape is right and that only fails checks. Checks of several documents can still use the value,
 * so that all problems are reported at once.
 */
function checkedValue<S extends z.ZodType>(schema: S, document: unknown): z.output<S> | undefined {
  let found: z.output<S> | undefined;
  schema
    .superRefine((value) => {
      found = value;
    })
    .safeParse(document);
  return found;
}

/**
 * Returns a function that reads a value as `readValue` does. If the value does not fit, returns it without the parts
 * that do not fit, so that checks beyond the schema still run and all problems are reported at once. Returns undefined
 * if too little fits.
 * @param standIns values for required keys that do not fit
 */
export const fittingParts =
  (standIns: Content): typeof readValue =>
  (schema, given, at, reading) => {
    const whole = readValue(schema, given, at, reading);
    if (whole !== undefined) return whole;
    let rest = given;
    for (let round = 0; round < 3; round++) {
      const parsed = schema.safeParse(rest);
      if (parsed.success) return parsed.data;
      const issues = innermost(parsed.error.issues.slice(0, MOST_ISSUES), rest).slice(0, MOST_ISSUES);
      const fitting = issues.reduce(withoutIssue, rest);
      rest = isMap(fitting) ? { ...standIns, ...fitting } : fitting;
    }
    return undefined;
  };

/** Returns the document without the key that caused an issue. If the key is an item of a list, removes the list. */
function withoutIssue(document: unknown, issue: Issue): unknown {
  const path = pathOf(issue);
  if (issue.code === "unrecognized_keys") return withoutKeys(document, path, issue.keys);
  // If a key is missing, remove the map that lacks it.
  let end = valueAt(document, path) === undefined ? path.length - 1 : path.length;
  while (end > 0 && !isMap(valueAt(document, path.slice(0, end - 1)))) end--;
  return end <= 0 ? document : withoutKey(document, path.slice(0, end));
}

/** Replaces the issue of a union by the issues of its form for a list or a map, if the value is a list or a map. */
function innermost(issues: readonly Issue[], document: unknown, above: Path = []): Issue[] {
  return issues.flatMap((issue) => {
    const path = [...above, ...pathOf(issue)];
    const value = valueAt(document, path);
    if (issue.code === "invalid_union" && (Array.isArray(value) || isMap(value))) {
      const ofCollection = issue.errors.find(
        (errors) => !errors.some((e) => e.code === "invalid_type" && e.path.length === 0),
      );
      if (ofCollection !== undefined) return innermost(ofCollection, document, path);
    }
    return [{ ...issue, path }];
  });
}

const pathOf = (issue: Issue): Path => issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));

/** Returns the document after a repair of the issues: without empty values, and with the texts of variables parsed. */
function cleanedOf(document: unknown, issues: readonly Issue[], at: Path, reading: Reading): unknown {
  const changes = issues.flatMap((issue) => changeOf(document, issue, at, reading) ?? []);
  if (changes.length === 0) return document;
  // One copy for all repairs: each empty value of a long list is an issue.
  let copy: unknown = structuredClone(document);
  for (const { path, value } of changes) {
    const key = path.at(-1);
    const above = valueAt(copy, path.slice(0, -1));
    if (key === undefined) copy = value;
    else if (typeof above !== "object" || above === null) continue;
    else if (value === undefined) Reflect.deleteProperty(above, key);
    else Reflect.set(above, key, value);
  }
  return copy;
}

interface Change {
  readonly path: Path;
  /** The parsed value. Undefined to remove the key. */
  readonly value: unknown;
}

function changeOf(document: unknown, issue: Issue, at: Path, reading: Reading): Change | undefined {
  const path = pathOf(issue);
  const value = valueAt(document, path);
  if (value === null && isMap(valueAt(document, path.slice(0, -1))) && !MAPS_OF_VALUES.includes(path.at(-2)))
    return { path, value: undefined };
  if (typeof value !== "string" || !reading.cameAsText([...at, ...path])) return undefined;
  const parsed = parseText(value.trim(), issue);
  return parsed === undefined ? undefined : { path, value: parsed };
}

/** Parses the text of a variable as the type that the schema expects. Undefined if the text does not fit. */
function parseText(text: string, issue: Issue): unknown {
  if (issue.code === "invalid_value") return issue.values.includes(text) ? text : undefined;
  if (issue.code !== "invalid_type") return undefined;
  if (issue.expected === "boolean") return { true: true, false: false }[text.toLowerCase()];
  const isNumber = issue.expected === "number" || issue.expected === "int";
  return isNumber && /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

interface Documents {
  readonly given: unknown;
  readonly cleaned: unknown;
  /** The path of the documents in the configuration. */
  readonly at: Path;
}

/** Adds the problems of an issue, at most `most` + 1, and returns their number. */
function report(issue: Issue, { given, cleaned, at }: Documents, problems: Problems, most: number): number {
  const inner = pathOf(issue);
  const path = [...at, ...inner];
  const { code, message } = issue;
  const value = valueAt(given, inner);
  if (code === "unrecognized_keys") {
    const lines = unknownKeys(issue, most);
    for (const [i, line] of lines.entries()) problems.add([...path, issue.keys[i] ?? ""], line, "key");
    return lines.length;
  }
  if (code === "custom" && issue.params?.["isSentence"] === true)
    problems.add(path, message, issue.params["part"] === "key" ? "key" : "value");
  else if (inner.length > 0 && valueAt(cleaned, inner) === undefined)
    problems.add(path.slice(0, -1), `${path.at(-1)} is missing${"discriminator" in issue ? `: ${message}` : ""}`);
  else if (code === "too_small" && Array.isArray(value) && value.length === 0)
    problems.add(path, `expected ${message}, got none`);
  else {
    const isUnquoted = code === "invalid_type" && issue.expected === "string" && typeof value === "number";
    problems.expected(path, `${message}${isUnquoted ? " (in quotes)" : ""}`, value);
  }
  return 1;
}
