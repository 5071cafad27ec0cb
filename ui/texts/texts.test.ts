import { expect, test } from "vitest";
import de from "./de.json" with { type: "json" };
import deSettings from "./de-settings.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import enSettings from "./en-settings.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import esSettings from "./es-settings.json" with { type: "json" };
import fr from "./fr.json" with { type: "json" };
import frSettings from "./fr-settings.json" with { type: "json" };

type Texts = Readonly<Record<string, string | { readonly one: string; readonly other: string }>>;

const ENGLISH: Texts = { ...en, ...enSettings };
const OTHERS: readonly (readonly [string, Texts])[] = [
  ["German", { ...de, ...deSettings }],
  ["French", { ...fr, ...frSettings }],
  ["Spanish", { ...es, ...esSettings }],
];

/** The forms of a text, and the values that it names. */
const shapeOf = (text: Texts[string] | undefined): unknown => {
  const forms = typeof text === "string" ? { text } : { ...text };
  return Object.entries(forms).map(([form, words]) => [form, [...new Set(words.match(/\{\w+\}/g))].toSorted()]);
};

test.for(OTHERS)("%s lacks the texts that this test lists: they are English", async ([, texts], { annotate }) => {
  const lacking = Object.keys(ENGLISH).filter((key) => !Object.hasOwn(texts, key));
  if (lacking.length > 0) await annotate(lacking.join(", "), "warning");
  expect(
    Object.keys(texts).filter((key) => !Object.hasOwn(ENGLISH, key)),
    "texts that no view shows",
  ).toEqual([]);
});

test.for(OTHERS)("%s has the forms and the values of the English texts", ([, texts]) => {
  const other = Object.keys(texts).filter(
    (key) => JSON.stringify(shapeOf(texts[key])) !== JSON.stringify(shapeOf(ENGLISH[key])),
  );
  expect(other).toEqual([]);
});
