import type { XmlElement } from "../../lib/text/xml-element.ts";

/** A part of a text, from one index to before another, and the text that replaces it. */
interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Returns the text of an element, with the white space `indent` at the beginning of each line. */
type ElementText = (indent: string) => string;

/** The additional indentation of a child element. */
const STEP = "  ";

/**
 * Collects changes of a text at its elements. All are applied at once, so that the indexes of the elements stay valid.
 */
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
    // The sort is stable: changes at one index keep their order.
    for (const { from, to, text } of this.#made.toSorted((a, b) => a.from - b.from)) {
      result += this.#text.slice(at, from) + text;
      // Two removals may overlap if an element is removed twice.
      at = Math.max(at, to);
    }
    return result + this.#text.slice(at);
  }

  /** Removes an element. If it begins its line, also removes the line break and the white space before it. */
  remove({ start, end }: XmlElement): void {
    const line = this.#lineStart(start);
    this.#replaceText(line === undefined ? start : this.#breakBefore(line), end, "");
  }

  /** Replaces an element. */
  replace({ start, end }: XmlElement, element: ElementText): void {
    const indent = this.#indentOf(start);
    // The text still has the white space before the element.
    this.#replaceText(start, end, element(indent).slice(indent.length));
  }

  /** Replaces the text inside the angle brackets of an element's start tag. */
  startTag({ start, open, end }: XmlElement, inside: string): void {
    const isSelfClosing = open === end;
    this.#replaceText(start, open, `<${inside}${isSelfClosing ? "/" : ""}>`);
  }

  /** Inserts an element after the last sibling that precedes it in an order of names. */
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

  /** Adds an element after all other content of an element. */
  append(parent: XmlElement, element: ElementText): void {
    const last = parent.children.at(-1);
    const own = this.#indentOf(parent.start);
    const added = `\n${element(last === undefined ? own + STEP : this.#indentOf(last.start))}`;
    if (parent.open === parent.end) {
      this.#open(parent, `${added}\n${own}`);
      return;
    }
    // Comments at the end come before the new element.
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

  /** Replaces an empty-element tag by start tag, content and end tag. */
  #open({ start, open, name }: XmlElement, content: string): void {
    const tag = this.#text.slice(start, open);
    const nameInTag = /^<([^\s/>]+)/.exec(tag)?.[1] ?? name;
    this.#replaceText(start, open, `${tag.slice(0, -"/>".length).trimEnd()}>${content}</${nameInTag}>`);
  }

  /**
   * Returns the white space between the beginning of the line and an element. Empty if other text precedes the element.
   */
  #indentOf(start: number): string {
    const from = this.#lineStart(start);
    return from === undefined ? "" : this.#text.slice(from, start);
  }

  /**
   * Returns the index at which the line of an element begins. Undefined if other text precedes the element on its line.
   */
  #lineStart(start: number): number | undefined {
    const from = this.#text.lastIndexOf("\n", start - 1) + 1;
    return /^[ \t]*$/.test(this.#text.slice(from, start)) ? from : undefined;
  }

  /** Returns the index of the line break before a line. 0 for the first line. */
  #breakBefore(line: number): number {
    if (line === 0) return 0;
    return this.#text[line - 2] === "\r" ? line - 2 : line - 1;
  }
}
