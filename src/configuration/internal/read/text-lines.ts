/** The lines of a text, to convert an offset to line and column. */
export class TextLines {
  readonly #text: string;
  /** The offset of the beginning of each line. Computed at the first call of `positionOf`. */
  #starts: readonly number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns line and column of an offset, both counted from 1. */
  positionOf(offset: number): { readonly line: number; readonly column: number } {
    this.#starts ??= startsOf(this.#text);
    const starts = this.#starts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }
}

function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
