import { createRequire } from "node:module";
import { ok, type Result, refuse } from "../lib/result.ts";

/** A regular expression of the configuration: the whole value must match it. */
export interface ValuePattern {
  matches(value: string): boolean;
}

export type PatternCase = "case_matters" | "any_case";

/** Loads RE2 when the first expression is compiled: most configurations have none, and it takes some 10 ms. */
const re2 = (): typeof import("re2js") => load("re2js");
const load = createRequire(import.meta.url);

/**
 * Compiles an RE2 expression. RE2 has the syntax of Java and JavaScript without the parts that need backtracking, so a
 * match takes time in proportion to the length of the value. That matters because clients send the values. The refusal
 * gives the reason why the expression is invalid.
 */
export function compilePattern(regex: string, letterCase: PatternCase): Result<ValuePattern, string> {
  const misread = javaClassIn(regex);
  if (misread !== undefined)
    return refuse(`${misread} within brackets is Java's: RE2 would read it as characters of the set`);
  const { RE2JS, RE2JSException } = re2();
  try {
    const flags = RE2JS.DOTALL | (letterCase === "any_case" ? RE2JS.CASE_INSENSITIVE : 0);
    const compiled = RE2JS.compile(RE2JS.translateRegExp(regex), flags);
    return ok({ matches: (value) => compiled.testExact(value) });
  } catch (error) {
    if (error instanceof RE2JSException) return refuse(reasonOf(error.message));
    throw error;
  }
}

/** Returns RE2's reason without the expression at its end, which would begin with our flags. */
const reasonOf = (message: string): string =>
  message.replace(/^error parsing regexp: /, "").replace(/: `\(\?i?s\).*`$/s, "");

/** Finds Java's intersection (`[a-z&&[^b]]`) or union (`[a-c[x-z]]`), which RE2 would silently read as other sets. */
function javaClassIn(regex: string): string | undefined {
  let opened = -1;
  for (let at = 0; at < regex.length; at++) {
    if (regex[at] === "\\") {
      const quoted = regex[at + 1] === "Q" ? regex.indexOf("\\E", at) : at + 1;
      if (quoted < 0) return undefined;
      at = quoted;
    } else if (opened < 0) {
      if (regex[at] === "[") opened = at;
    } else if (regex.startsWith("&&", at)) return "&&";
    else if (regex.startsWith("[:", at)) at = Math.max(at, regex.indexOf(":]", at) + 1);
    else if (regex[at] === "[") return "[";
    // A closing bracket at the start of a set is one of its characters.
    else if (regex[at] === "]" && !["[", "[^"].includes(regex.slice(opened, at))) opened = -1;
  }
  return undefined;
}
