import fc from "fast-check";
import { expect, test } from "vitest";
import { wildcard } from "./wildcard.ts";

test("a star stands for any run of characters, all others for themselves", () => {
  for (const [pattern, text, matches] of [
    ["ws:roads", "ws:roads", true],
    ["ws:roads", "ws:roads2", false],
    ["ws:*", "ws:", true],
    ["ws:*", "ws:a:b", true],
    ["ws:*", "other:ws:", false],
    ["*", "", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["*ro*ds*", "ws:roads", true],
    ["a*b*b", "ab", false],
    ["w.*", "ws", false],
    ["", "a", false],
  ] as const)
    expect([pattern, text, wildcard(pattern)(text)]).toEqual([pattern, text, matches]);
});

test("it matches as the regular expression does that says the same", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
  fc.assert(
    fc.property(word, fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 }), (pattern, text) => {
      expect(wildcard(pattern)(text)).toBe(new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(text));
    }),
  );
});
