import type { Document } from "./documents.ts";

/** A sentence of a document, without marks; code counts as one word. */
export interface Sentence {
  readonly file: string;
  /** The line at which the paragraph begins, counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly words: number;
}

/** Cells of tables are separate texts: many cells are not sentences. */
const TEXT = new Set(["paragraph_open", "heading_open", "td_open", "th_open"]);

/** Returns the sentences of the paragraphs, list items and cells of a document. */
export function sentencesOf({ file, tokens }: Document): readonly Sentence[] {
  let line = 1;
  return tokens.flatMap((token, n): readonly Sentence[] => {
    line = (token.map?.[0] ?? line - 1) + 1;
    const opener = tokens[n - 1];
    if (token.type !== "inline" || opener === undefined || !TEXT.has(opener.type)) return [];
    const text = (token.children ?? []).map(plainText).join("").replace(/\s+/g, " ").trim();
    return split(text).map((sentence) => ({ file, line, text: sentence, words: countWords(sentence) }));
  });
}

interface Inline {
  readonly type: string;
  readonly content: string;
}

function plainText({ type, content }: Inline): string {
  if (type === "code_inline") return "CODE";
  if (type === "softbreak" || type === "hardbreak") return " ";
  return type === "text" ? content : "";
}

/** Abbreviations do not end a sentence. A colon ends one, as in the style checks of other projects: an enumeration follows. */
const split = (text: string): readonly string[] =>
  text
    .replace(/\b(e\.g|i\.e|etc|vs|St|No)\./g, "$1")
    .split(/(?<=[.!?:][)”"]?)\s+/)
    .filter((sentence) => sentence !== "");

const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
