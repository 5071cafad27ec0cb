import { createRequire } from "node:module";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { re2FromJava } from "./java-regex.ts";

/** A regular expression of the configuration. It must match the whole value. */
export interface ValuePattern {
  matches(value: string): boolean;
}

export type PatternCase = "case_matters" | "any_case";

/** The longest expression, because compiling takes some hundredths of a millisecond per character. */
const MOST_CHARACTERS = 4_096;

/**
 * Loads RE2 when the first expression is compiled. Loading takes some 10 ms, and most configurations have no
 * expression.
 */
const re2 = (): typeof import("re2js") => load("re2js");
const load = createRequire(import.meta.url);

/**
 * Compiles an expression in Java's syntax, as GeoWebCache uses it. RE2 matches it: RE2 lacks the constructs that need
 * backtracking, so a match takes time in proportion to the length of the value. That matters because clients send the
 * values. The refusal gives the reason why the expression is invalid.
 */
export function compilePattern(regex: string, letterCase: PatternCase): Result<ValuePattern, string> {
  if (regex.length > MOST_CHARACTERS)
    return refuse(`it has ${regex.length} characters, the most are ${MOST_CHARACTERS}`);
  const translated = re2FromJava(regex, { unicodeCase: letterCase === "any_case" });
  if (!translated.ok) return translated;
  const { RE2JS, RE2JSException } = re2();
  try {
    const compiled = RE2JS.compile(translated.value, letterCase === "any_case" ? RE2JS.CASE_INSENSITIVE : 0);
    return ok({ matches: (value) => compiled.testExact(value) });
  } catch (error) {
    if (error instanceof RE2JSException) return refuse(reasonOf(error.message, translated.value));
    throw error;
  }
}

/** Returns RE2's reason without the translated expression at its end. */
const reasonOf = (message: string, translated: string): string =>
  message.replace(/^error parsing regexp: /, "").replace(`: \`${translated}\``, "");
