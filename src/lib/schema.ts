import * as z from "zod";
import { badField, type Refusal, refusalMessage, shown } from "./refusal.ts";
import { ok, type Result, refuse } from "./result.ts";
import { masked } from "./text/masked.ts";

/**
 * One value that a schema does not accept. The message of a schema (`z.int({ error: "a whole number" })`) is the
 * expectation alone, because the refusal adds the field and the value.
 */
export interface SchemaProblem {
  readonly path: readonly PropertyKey[];
  readonly expected: string;
  /** The value as given. Undefined if the field is absent. */
  readonly value: unknown;
  /** Whether the schema does not know the field, which is the last element of `path`. */
  readonly isUnknownField: boolean;
  /** The refusal by a domain parser that the schema called; see `parsedBy`. */
  readonly refusal?: Refusal;
}

/** The most issues that are read, and the most unknown fields of an object that are reported. */
const MOST_PROBLEMS = 100;

/** The key under which an issue carries the refusal of a domain parser. */
const REFUSAL = "refusal";

/** Decodes a value, or returns its first problem as a refusal. */
export function decodeBy<S extends z.ZodType>(schema: S, value: unknown): Result<z.output<S>, Refusal> {
  const decoded = checkBy(schema, value);
  return decoded.ok ? decoded : refuse(refusalOf(decoded.error[0]));
}

/**
 * Decodes a value, or returns all problems. Unknown fields come first, because a misspelt field is often the cause of a
 * missing field.
 */
export function checkBy<S extends z.ZodType>(
  schema: S,
  value: unknown,
): Result<z.output<S>, readonly [SchemaProblem, ...SchemaProblem[]]> {
  // Not compiled to a function: most schemas read one document, and V8's code cache does not hold such functions.
  const parsed = schema.safeParse(value, { error: expectation, reportInput: true, jitless: true });
  if (parsed.success) return ok(parsed.data);
  const problems = parsed.error.issues.slice(0, MOST_PROBLEMS).flatMap((issue) => problemsOf(issue, []));
  const [first, ...others] = [
    ...problems.filter(({ isUnknownField }) => isUnknownField),
    ...problems.filter(({ isUnknownField }) => !isUnknownField),
  ];
  if (first === undefined) throw new TypeError("a schema has refused a value without an issue");
  return refuse([first, ...others]);
}

/** Returns the refusal of a problem: the field, the accepted values, and the given value. */
export function refusalOf({ path, expected, value, isUnknownField, refusal }: SchemaProblem): Refusal {
  const field = fieldName(path);
  if (refusal !== undefined) return refusal;
  if (!isUnknownField) return badField(field, expected, value ?? null);
  return { code: "bad_field", message: `${field}: unknown field, expected ${expected}, got ${shown(value)}` };
}

/** Returns the name of a field in a document: `runWindow.from`, `layers[2].name`. Long names are cut. */
export const fieldName = (path: readonly PropertyKey[]): string =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key).slice(0, 200)}`))
    .join("")
    .replace(/^\./, "");

/** Returns the transform of a schema that calls a domain parser. The refusal by the parser names the field itself. */
export const parsedBy =
  <V, T>(parse: (value: V) => Result<T, Refusal>) =>
  (value: V, context: z.RefinementCtx): T => {
    const parsed = parse(value);
    if (parsed.ok) return parsed.value;
    context.addIssue({ code: "custom", message: refusalMessage(parsed.error), params: { [REFUSAL]: parsed.error } });
    return z.NEVER;
  };

function problemsOf(issue: z.core.$ZodIssue, before: readonly PropertyKey[]): readonly SchemaProblem[] {
  const path = [...before, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    const given = new Map<string, unknown>(Object.entries(issue.input ?? {}));
    const known: readonly string[] = JSON.parse(issue.message);
    const all = `one of ${known.join(", ")}`;
    return issue.keys.slice(0, MOST_PROBLEMS).map((key) => ({
      path: [...path, key],
      expected: known.find((field) => field.toLowerCase() === key.toLowerCase()) ?? all,
      value: masked(given.get(key), [...path, key]),
      isUnknownField: true,
    }));
  }
  if (issue.code === "invalid_union" && issue.message === "") return unionProblems(issue, path);
  const refusal = issue.code === "custom" ? issue.params?.[REFUSAL] : undefined;
  const problem = { path, expected: issue.message, value: shownValue(issue, path), isUnknownField: false };
  return [refusal === undefined ? problem : { ...problem, refusal }];
}

/**
 * Returns the problems of the union's form that the value comes closest to: the form that refuses the deepest value. If
 * all forms refuse the value itself, the expectation names all forms.
 */
function unionProblems(issue: z.core.$ZodIssueInvalidUnion, path: readonly PropertyKey[]): readonly SchemaProblem[] {
  const forms = issue.errors.map((issues) => issues.slice(0, MOST_PROBLEMS).flatMap((one) => problemsOf(one, path)));
  const depths = forms.map((problems) => Math.max(0, ...problems.map((problem) => problem.path.length)));
  const deepest = Math.max(0, ...depths);
  if (deepest > path.length) return forms[depths.indexOf(deepest)] ?? [];
  const expected = [...new Set(forms.flat().map((problem) => problem.expected))].join(" or ");
  return [{ path, expected, value: shownValue(issue, path), isUnknownField: false }];
}

/**
 * Returns the refused value for a message, with secrets masked: messages reach the log and the list of activities. An
 * absent secret stays absent.
 */
const shownValue = ({ input }: z.core.$ZodIssue, path: readonly PropertyKey[]): unknown => masked(input, path);

/** Returns the expectation of a schema that declares no message. */
function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      // For a text given to `z.int()` zod expects a number. The message must say: a whole number.
      return typeWords(issue.inst instanceof z.ZodNumberFormat ? "int" : issue.expected);
    case "invalid_value":
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.join(", ")}`;
    case "too_small":
      return `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}${unitOf(issue.origin)}`;
    case "too_big":
      return `${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}${unitOf(issue.origin)}`;
    case "invalid_format":
      return issue.pattern === undefined ? issue.format : `text of the form ${issue.pattern}`;
    case "unrecognized_keys":
      // The names that the object accepts, which an issue does not contain. `problemsOf` reads them.
      return JSON.stringify(knownKeys(issue.inst));
    case "invalid_union":
      return "";
    default:
      return undefined;
  }
}

const knownKeys = (schema: unknown): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

function typeWords(type: string): string {
  switch (type) {
    case "string":
      return "text";
    case "number":
      return "a number";
    case "int":
      return "a whole number";
    case "boolean":
      return "true or false";
    case "array":
      return "a list";
    case "object":
    case "record":
      return "an object";
    default:
      return type;
  }
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  return origin === "array" || origin === "set" ? " entries" : "";
}
