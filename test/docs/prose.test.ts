import { expect, test } from "vitest";
import { readDocuments } from "./documents.ts";
import { sentencesOf } from "./prose.ts";

/** The changelog has one line for each change, with all that an operator must know of it. */
const sentences = readDocuments()
  .filter(({ file }) => file !== "CHANGELOG.md")
  .flatMap(sentencesOf);

const LONGEST = 35;
const MEDIAN = 17;
/** Shorter texts are headings and cells of tables. */
const SHORTEST_SENTENCE = 5;

/** Nicknames and pronouns for which a plain word of the field exists. */
const NOT_OUR_WORDS =
  /\b(?:keepers?|painters?|governors?|patience|brakes?|pacers?|desks?|dealers?|heirs?|aloft|hot spots?|bur(?:y|ied)|doors?|houses?|whoever|drawRun)\b/i;

test("no sentence of the documentation has more than 35 words", () => {
  expect(sentences.length).toBeGreaterThan(2_000);
  const long = sentences.filter(({ words }) => words > LONGEST);
  expect(long.map(({ file, line, words, text }) => `${file}:${line}: ${words} words: ${text}`)).toEqual([]);
});

test("half of the sentences have fewer than 17 words, on each page too", () => {
  const byFile = new Map<string, number[]>();
  for (const { file, words } of sentences)
    if (words >= SHORTEST_SENTENCE) byFile.set(file, [...(byFile.get(file) ?? []), words]);
  const medians = [...byFile].map(([file, all]) => ({ file, median: medianOf(all) }));
  expect(medians.filter(({ median }) => median >= MEDIAN)).toEqual([]);
});

const medianOf = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

test("the documentation has the words of the field, and no nicknames", () => {
  const found = sentences.filter(({ text }) => NOT_OUR_WORDS.test(text));
  expect(found.map(({ file, line, text }) => `${file}:${line}: ${NOT_OUR_WORDS.exec(text)?.[0]}`)).toEqual([]);
});
