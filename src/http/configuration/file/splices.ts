import type { XmlElement } from "../../../lib/xml-element.ts";

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const STEP = "  ";

/** Changes of a text at the places of its elements. They are made together, so that places stay valid. */
export class Splices {
  readonly #text: string;
  readonly #made: Splice[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Removes an element with the white space before it on its line. */
  remove({ start, end }: XmlElement): void {
    const from = this.#lineStart(start);
    const isOnly = from !== undefined;
    const breakBefore = isOnly ? this.#breakBefore(from) : start;
    this.#made.push({ from: breakBefore, to: end, text: "" });
  }

  /** Replaces an element. `text` gets the white space before it and returns the element with it. */
  replace({ start, end }: XmlElement, text: (indent: string) => string): void {
    const indent = this.#indentOf(start);
    this.#made.push({ from: start, to: end, text: text(indent).slice(indent.length) });
  }

  /** Replaces the content of the start tag of an element. */
  startTag({ start, open, end }: XmlElement, inside: string): void {
    const isSelfClosing = open === end;
    this.#made.push({ from: start, to: open, text: `<${inside}${isSelfClosing ? "/" : ""}>` });
  }

  /** Adds an element behind the last content of another. */
  append(parent: XmlElement, text: (indent: string) => string): void {
    const last = parent.children.at(-1);
    const own = this.#indentOf(parent.start);
    const indent = last === undefined ? own + STEP : this.#indentOf(last.start);
    if (parent.open === parent.end) {
      this.#open(parent, `\n${text(indent)}\n${own}`);
      return;
    }
    // Behind comments that stand at the end.
    const content = this.#text.slice(parent.open, parent.close).trimEnd();
    const at = parent.open + content.length;
    const before = this.#text.slice(at, parent.close).includes("\n") ? "" : `\n${own}`;
    this.#made.push({ from: at, to: at, text: `\n${text(indent)}${before}` });
  }

  /** Adds an element at its place in an order: behind the last element that comes before it there. */
  insert(parent: XmlElement, name: string, order: readonly string[], text: (indent: string) => string): void {
    const rank = order.indexOf(name);
    const earlier = parent.children.filter((child) => order.indexOf(child.name) < rank && order.includes(child.name));
    const after = rank < 0 ? parent.children.at(-1) : earlier.at(-1);
    const next = parent.children[0];
    if (after !== undefined) {
      this.#made.push({ from: after.end, to: after.end, text: `\n${text(this.#indentOf(after.start))}` });
    } else if (next !== undefined) {
      const indent = this.#indentOf(next.start);
      this.#made.push({ from: next.start, to: next.start, text: `${text(indent).slice(indent.length)}\n${indent}` });
    } else this.append(parent, text);
  }

  /** Returns the changed text. */
  result(): string {
    // Equal places keep the order of the changes.
    const sorted = this.#made
      .map((splice, i) => ({ splice, i }))
      .sort((a, b) => a.splice.from - b.splice.from || a.i - b.i);
    let result = "";
    let at = 0;
    for (const { splice } of sorted) {
      result += this.#text.slice(at, splice.from) + splice.text;
      at = Math.max(at, splice.to);
    }
    return result + this.#text.slice(at);
  }

  /** Gives content to an element without an end tag. */
  #open({ start, open, name }: XmlElement, content: string): void {
    const tag = this.#text.slice(start, open);
    const prefix = /^<([^\s/>]+)/.exec(tag)?.[1] ?? name;
    this.#made.push({ from: start, to: open, text: `${tag.slice(0, -"/>".length).trimEnd()}>${content}</${prefix}>` });
  }

  /** Returns the white space before an element on its line; "" if something else stands there. */
  #indentOf(start: number): string {
    const from = this.#lineStart(start);
    return from === undefined ? "" : this.#text.slice(from, start);
  }

  /** Returns where the line of an element begins; undefined: something else stands before it. */
  #lineStart(start: number): number | undefined {
    const from = this.#text.lastIndexOf("\n", start - 1) + 1;
    return /^[ \t]*$/.test(this.#text.slice(from, start)) ? from : undefined;
  }

  #breakBefore(from: number): number {
    if (from === 0) return 0;
    return this.#text[from - 2] === "\r" ? from - 2 : from - 1;
  }
}
