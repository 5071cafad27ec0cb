import fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../test/support/cpu-time.ts";
import { compilePattern, type PatternCase, type ValuePattern } from "./value-pattern.ts";

function pattern(regex: string, letterCase: PatternCase = "case_matters"): ValuePattern {
  const compiled = compilePattern(regex, letterCase);
  if (!compiled.ok) throw new Error(`${regex}: ${compiled.error}`);
  return compiled.value;
}

/** Expressions that RE2 and JavaScript read alike. */
const { expression } = fc.letrec<{ expression: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("a", "b", "é", "1", ".", "\\d", "\\w", "[ab]", "[^a]", "[a-c\\]]", "😀", "\\.", "^", "$", "\\b"),
    tie("expression").map((inner) => `(${inner})`),
    tie("expression").map((inner) => `(?:${inner})?`),
  ),
  expression: fc.oneof(
    { maxDepth: 4 },
    fc.array(tie("atom"), { maxLength: 4 }).map((atoms) => atoms.join("")),
    fc
      .tuple(fc.constantFrom("a", "[ab]", ".", "(?:ab)"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "*?"))
      .map(([atom, count]) => atom + count),
    fc.tuple(tie("expression"), tie("expression")).map(([left, right]) => `${left}|${right}`),
  ),
}));

test("a value matches as a whole, as JavaScript's own engine has it", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "A", "é", "1", ".", "]", "😀", "\n"), maxLength: 8 });
  fc.assert(
    fc.property(
      expression,
      text,
      fc.constantFrom<PatternCase>("case_matters", "any_case"),
      (regex, value, letterCase) => {
        const own = new RegExp(`^(?:${regex})$`, letterCase === "any_case" ? "sui" : "su");
        expect(pattern(regex, letterCase).matches(value)).toBe(own.test(value));
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  ["a|ab", "ab", true],
  ["a|ab", "abb", false],
  ["\\Qa.b\\E", "a.b", true],
  ["\\Q[&&\\E[]a]", "[&&]", true],
  ["[[:alpha:]]+", "abc", true],
  ["(?i)name", "NAME", true],
  ["\\u0041\\x42", "AB", true],
  ["(?<key>a)", "a", true],
  ["\\p{Lu}\\-", "É-", true],
  ["\\s", "\u00a0", false],
])("%s takes Java's way to write it (%s: %s)", (regex, value, isMatch) => {
  expect(pattern(regex).matches(value)).toBe(isMatch);
});

test.each([
  ["(?=a)b", "invalid or unsupported Perl syntax: `(?=`"],
  ["(?<!a)b", "invalid named capture: `(?<!a)b`"],
  ["(?>a)", "invalid or unsupported Perl syntax: `(?>`"],
  ["(a)\\1", "invalid escape sequence: `\\1`"],
  ["a++", "invalid nested repetition operator: `++`"],
  ["a{1001}", "invalid repeat count: `{1001}`"],
  ["[a-z&&[^b]]", "&& within brackets is Java's: RE2 would read it as characters of the set"],
  ["[a-c[x-z]]", "[ within brackets is Java's: RE2 would read it as characters of the set"],
  ["(", "missing closing )"],
])("%s is refused with the reason", (regex, why) => {
  expect(compilePattern(regex, "case_matters")).toEqual({ ok: false, error: why });
});

test.each(["(a+)+b", "(a|a)*b", "(a|aa)+b", "([a-z]+)*!", "(.*a){20}b", "(a*)*(a*)*b", ".*.*.*=.*"])(
  "%s takes linear time over a value made to be slow",
  (regex) => {
    const compiled = pattern(regex);
    expect(cpuMs(() => expect(compiled.matches("a".repeat(4096))).toBe(false))).toBeLessThan(500);
  },
);
