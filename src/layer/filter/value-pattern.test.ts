import fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { compilePattern, type PatternCase, type ValuePattern } from "./value-pattern.ts";

function pattern(regex: string, letterCase: PatternCase = "case_matters"): ValuePattern {
  const compiled = compilePattern(regex, letterCase);
  if (!compiled.ok) throw new Error(`${regex}: ${compiled.error}`);
  return compiled.value;
}

/** Expressions that RE2 and JavaScript interpret alike. */
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
        const own = new RegExp(`^(?:${regex})$`, letterCase === "any_case" ? "ui" : "u");
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
  ["\\p{Alpha}+", "abc", true],
  ["(?i)name", "NAME", true],
  ["(?i)k", "\u212a", false],
  ["(?i)\u00e9", "\u00c9", false],
  ["(?iu)\u00e9", "\u00c9", true],
  ["(?i)[a-f]\\p{Upper}", "Az", true],
  ["(?i:a)b", "AB", false],
  ["a.b", "a\nb", false],
  ["a.b", "a\u0085b", false],
  ["(?s)a.b", "a\nb", true],
  ["a\\hb", "a b", true],
  ["a\\hb", "ahb", false],
  ["\\H\\V", "ab", true],
  ["\\v\\R", "\u000b\r\n", true],
  ["[\\h\\d]+", "1 \u00a02", true],
  ["\\e\\0101\\cA", "\u001bA\u0001", true],
  ["a\\Z", "a", true],
  ["\\s", "\u000b", true],
  ["\\p{Alnum}+", "aZ9", true],
  ["\\p{Alnum}", "\u00e9", false],
  ["\\P{Upper}[\\p{Punct}_]", "a-", true],
  ["\\p{IsLatin}\\p{gc=Lu}\\p{script=Greek}", "a\u00c9\u03b1", true],
  ["[\\w-.]+", "a-.", true],
  ["\\uD83D\\uDE00\\x{1F600}", "\u{1f600}\u{1f600}", true],
  ["\\u0041\\x42", "AB", true],
  ["(?<key>a)", "a", true],
  ["\\p{Lu}\\-", "É-", true],
  ["\\s", "\u00a0", false],
])("%s takes Java's way to write it (%s: %s)", (regex, value, isMatch) => {
  expect(pattern(regex).matches(value)).toBe(isMatch);
});

test.each([
  ["(?=a)b", "invalid or unsupported syntax: `(?=`"],
  ["(?<!a)b", "invalid or unsupported syntax: `(?<!`"],
  ["(?>a)", "invalid or unsupported syntax: `(?>`"],
  ["(?P<n>a)", "invalid or unsupported syntax: `(?P`"],
  ["(?<n>a)\\k<n>", "\\k is a reference back to a group in Java, and has no equivalent in RE2"],
  ["\\8", "invalid escape sequence: `\\8`"],
  ["\\y", "invalid escape sequence: `\\y`"],
  ["\\C", "invalid escape sequence: `\\C`"],
  ["\\X", "\\X is a grapheme cluster in Java, and has no equivalent in RE2"],
  ["\\N{DASH}", "\\N is a character by its name in Java, and has no equivalent in RE2"],
  ["a\\Zb", "\\Z is an end before a last line break in Java, and has no equivalent in RE2"],
  ["[\\R]", "invalid escape sequence: `\\R`"],
  ["[a-\\d]", "invalid character class range: `a-\\d`"],
  ["(?U)\\w", "the flag U of (?U) has no equivalent in RE2"],
  ["(?i)+", "nothing to repeat after (?i)"],
  ["a{,3}", "{ begins no count: the character is written \\{"],
  ["(a)\\1", "invalid escape sequence: `\\1`"],
  ["a++", "invalid nested repetition operator: `++`"],
  ["a{1001}", "invalid repeat count: `{1001}`"],
  ["[a-z&&[^b]]", "&& within brackets, an intersection, has no equivalent in RE2"],
  ["[a-c[x-z]]", "[ within brackets, a union, has no equivalent in RE2: write \\[, or \\p{Alpha} for [:alpha:]"],
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

test("an expression without cases is compiled as fast in any case", () => {
  const compile = () => expect(compilePattern(`${".".repeat(400)}(?s)${".".repeat(400)}`, "any_case").ok).toBe(true);
  compile();
  // Folding each character of Unicode took 6 ms per dot.
  expect(cpuMs(compile)).toBeLessThan(1_000);
});

test("an expression has at most 4096 characters", () => {
  expect(compilePattern("a".repeat(4_096), "case_matters").ok).toBe(true);
  expect(compilePattern("a".repeat(4_097), "case_matters")).toEqual({
    ok: false,
    error: "it has 4097 characters, the most are 4096",
  });
});
