import type { XmlElement } from "../../lib/text/xml-element.ts";

/** A part of a text, from one index to before another, and the text that replaces it. */
interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Returns an element of which each line begins with the white space `indent`. */
type ElementText = (indent: string) => string;

/** The white space of a child beyond that of its parent. */
const STEP = "  ";

/** Changes of a text at the places of its elements. They are made together, so that places stay valid. */
export class Splices {
  readonly #text: string;
  readonly #made: Splice[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the changed text. */
  result(): string {
    let result = "";
    let at = 0;
    // The sort is stable: at one place the changes keep their order.
    for (const { from, to, text } of this.#made.toSorted((a, b) => a.from - b.from)) {
      result += this.#text.slice(at, from) + text;
      // An element that is removed twice.
      at = Math.max(at, to);
    }
    return result + this.#text.slice(at);
  }

  /** Removes an element. One that begins its line goes with the white space before it and the line break before that. */
  remove({ start, end }: XmlElement): void {
    const line = this.#lineStart(start);
    this.#replaceText(line === undefined ? start : this.#breakBefore(line), end, "");
  }

  /** Replaces an element. */
  replace({ start, end }: XmlElement, element: ElementText): void {
    const indent = this.#indentOf(start);
    // The white space before the element stays.
    this.#replaceText(start, end, element(indent).slice(indent.length));
  }

  /** Replaces the content of the start tag of an element. */
  startTag({ start, open, end }: XmlElement, inside: string): void {
    const isSelfClosing = open === end;
    this.#replaceText(start, open, `<${inside}${isSelfClosing ? "/" : ""}>`);
  }

  /** Adds an element at its place in an order of names: behind the last element that comes before it there. */
  insert(parent: XmlElement, name: string, order: readonly string[], element: ElementText): void {
    const rank = order.indexOf(name);
    const earlier = parent.children.filter((child) => order.indexOf(child.name) < rank && order.includes(child.name));
    const after = rank < 0 ? parent.children.at(-1) : earlier.at(-1);
    const next = parent.children[0];
    if (after !== undefined) this.#insertText(after.end, `\n${element(this.#indentOf(after.start))}`);
    else if (next !== undefined) {
      const indent = this.#indentOf(next.start);
      this.#insertText(next.start, `${element(indent).slice(indent.length)}\n${indent}`);
    } else this.append(parent, element);
  }

  /** Adds an element behind all other content of another. */
  append(parent: XmlElement, element: ElementText): void {
    const last = parent.children.at(-1);
    const own = this.#indentOf(parent.start);
    const added = `\n${element(last === undefined ? own + STEP : this.#indentOf(last.start))}`;
    if (parent.open === parent.end) {
      this.#open(parent, `${added}\n${own}`);
      return;
    }
    // Behind comments that stand at the end.
    const at = parent.open + this.#text.slice(parent.open, parent.close).trimEnd().length;
    const isEndTagOnNextLine = this.#text.slice(at, parent.close).includes("\n");
    this.#insertText(at, isEndTagOnNextLine ? added : `${added}\n${own}`);
  }

  #insertText(at: number, text: string): void {
    this.#replaceText(at, at, text);
  }

  #replaceText(from: number, to: number, text: string): void {
    this.#made.push({ from, to, text });
  }

  /** Gives content to an element without an end tag. */
  #open({ start, open, name }: XmlElement, content: string): void {
    const tag = this.#text.slice(start, open);
    const nameInTag = /^<([^\s/>]+)/.exec(tag)?.[1] ?? name;
    this.#replaceText(start, open, `${tag.slice(0, -"/>".length).trimEnd()}>${content}</${nameInTag}>`);
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

  /** Returns where the line break before a line begins; 0: it is the first line. */
  #breakBefore(line: number): number {
    if (line === 0) return 0;
    return this.#text[line - 2] === "\r" ? line - 2 : line - 1;
  }
}
