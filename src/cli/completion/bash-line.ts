/** A line of bash up to the cursor. */
export interface BashLine {
  readonly words: readonly string[];
  /** The word at the cursor, without its quotes. */
  readonly current: string;
  /** The quote that the cursor is in. */
  readonly quote: "'" | '"' | undefined;
  /** How many characters of `current` bash keeps: it replaces only the text after the last word break. */
  readonly kept: number;
}

/**
 * Splits a line as bash does, but not at word breaks: bash would split `ws:roads` into three words. `breaks` is
 * COMP_WORDBREAKS.
 */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let current = "";
  let stored = 0;
  let quote: BashLine["quote"];
  let isWord = false;
  for (let n = 0; n < line.length; n++) {
    const char = line.charAt(n);
    if (quote !== undefined ? char === quote : char === "'" || char === '"') {
      quote = quote === undefined ? (char === "'" ? "'" : '"') : undefined;
      isWord = true;
    } else if (char === "\\" && quote !== "'") {
      current += line.charAt(++n);
      isWord = true;
    } else if (quote === undefined && /\s/.test(char)) {
      if (isWord) words.push(current);
      current = "";
      stored = 0;
      isWord = false;
    } else {
      current += char;
      isWord = true;
      if (quote === undefined && breaks.includes(char)) stored = current.length;
    }
  }
  return { words, current, quote, kept: quote === undefined ? stored : 0 };
}

/** Returns the text that bash inserts at the cursor for a word. */
export function bashText(word: string, { quote, kept }: BashLine): string {
  const rest = word.slice(kept);
  if (quote === "'") return rest.replaceAll("'", "'\\''");
  return quote === '"' ? rest.replace(/["\\$`]/g, "\\$&") : rest.replace(/[^\w./:=@%+,-]/g, "\\$&");
}
