/** A line of bash up to the cursor. */
export interface BashLine {
  readonly words: readonly string[];
  /** The word at the cursor, without its quotes. */
  readonly current: string;
  /** The quote that the cursor is in. */
  readonly quote: "'" | '"' | undefined;
  /** The number of characters of `current` before the last word break: bash replaces only the text after it. */
  readonly fixedLength: number;
}

/**
 * Splits a line as bash does, but not at word breaks: bash would split `ws:roads` into three words. `breaks` is
 * COMP_WORDBREAKS.
 */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let current = "";
  let fixedLength = 0;
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
      fixedLength = 0;
      isWord = false;
    } else {
      current += char;
      isWord = true;
      if (quote === undefined && breaks.includes(char)) fixedLength = current.length;
    }
  }
  return { words, current, quote, fixedLength: quote === undefined ? fixedLength : 0 };
}

/** Returns the text that bash inserts at the cursor for a word. */
export function bashText(word: string, { quote, fixedLength }: BashLine): string {
  const rest = word.slice(fixedLength);
  if (quote === "'") return rest.replaceAll("'", "'\\''");
  return quote === '"' ? rest.replace(/["\\$`]/g, "\\$&") : rest.replace(/[^\w./:=@%+,-]/g, "\\$&");
}
