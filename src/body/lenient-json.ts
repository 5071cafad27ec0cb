import { ok, type Result, refuse } from "../lib/result.ts";
import { type Fault, positionIn } from "./body-text.ts";
import { type Field, MAX_DEPTH, MAX_FIELDS } from "./field.ts";

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
  ["/", "/"],
]);

/**
 * Parses strict JSON, and the variants that GWC's documentation prints and GWC reads (`docs/reference/wire-format.md`,
 * Bodies): single quotes, keys and values without quotes, surplus `}` at the end. An unquoted key ends at its first
 * colon. An unquoted value ends at white space or one of `,{}[]"'`. Refuses a repeated key and half of a surrogate
 * pair.
 *
 * JSON.parse and json5 are not enough: the reader must keep the characters of a number (a quota of `1.50` is echoed),
 * detect a repeated key, read an unquoted word and report the position of an error.
 *
 * Returns the top-level value as a field without a name.
 */
export const readJson = (text: string): Result<Field, Fault> => new JsonReader(text).document();

/** Carries the first fault of a text and its index. `JsonReader.document` catches it. */
class JsonFault extends Error {
  override readonly name = "JsonFault";
  readonly index: number;

  constructor(reason: string, index: number) {
    super(reason);
    this.index = index;
  }
}

/** Every reading method throws the fault that it finds. */
class JsonReader {
  readonly #text: string;
  #at = 0;
  #fields = 0;
  // `#place` is called with ascending indexes, so each line is counted once.
  #counted = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the whole text. */
  document(): Result<Field, Fault> {
    try {
      this.#skipBlanks();
      const value = this.#readValue("", 0);
      this.#skipBlanks();
      while (this.#take("}")) this.#skipBlanks();
      return this.#next === undefined ? ok(value) : this.#fail(`${this.#found} after the end of the document`);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      return refuse({ reason: error.message, ...positionIn(this.#text, error.index) });
    }
  }

  #readValue(name: string, depth: number): Field {
    this.#fields += 1;
    if (this.#fields > MAX_FIELDS) this.#fail(`more than ${MAX_FIELDS} values`);
    if (depth > MAX_DEPTH) this.#fail(`values nested deeper than ${MAX_DEPTH}`);
    const base = { name, kind: "element", children: [], text: "", ...this.#place() } as const;
    if (this.#take("{")) return { ...base, children: this.#readObject(depth) };
    if (this.#take("[")) return { ...base, kind: "list", children: this.#readArray(name, depth) };
    const c = this.#next;
    if (c === '"' || c === "'") return { ...base, text: this.#readString(c) };
    const word = this.#readWord();
    return word === "null" ? { ...base, kind: "null" } : { ...base, text: word };
  }

  #readObject(depth: number): readonly Field[] {
    const children: Field[] = [];
    const keys = new Set<string>();
    for (;;) {
      this.#skipBlanks();
      if (this.#take("}")) return children;
      const start = this.#at;
      const key = this.#readKey();
      if (keys.has(key)) this.#fail(`the key ${JSON.stringify(key.slice(0, 200))} a second time`, start);
      keys.add(key);
      this.#skipBlanks();
      if (!this.#take(":")) this.#fail(`${this.#found} where a colon belongs`);
      this.#skipBlanks();
      const value = this.#readValue(key, depth + 1);
      if (value.kind !== "null") children.push(value);
      this.#readSeparator("}");
    }
  }

  #readArray(name: string, depth: number): readonly Field[] {
    const items: Field[] = [];
    for (;;) {
      this.#skipBlanks();
      if (this.#take("]")) return items;
      items.push(this.#readValue(name, depth + 1));
      this.#readSeparator("]");
    }
  }

  /** Reads a comma, or up to the closing bracket. */
  #readSeparator(close: "}" | "]"): void {
    this.#skipBlanks();
    if (this.#take(",")) {
      this.#skipBlanks();
      if (this.#next === close) this.#fail(`${this.#found} after a comma`);
    } else if (this.#next !== close) this.#fail(`${this.#found} where a comma or ${JSON.stringify(close)} belongs`);
  }

  /** The next character. Undefined at the end. */
  get #next(): string | undefined {
    return this.#text[this.#at];
  }

  /** The next character as messages show it. */
  get #found(): string {
    return this.#next === undefined ? "the end" : JSON.stringify(this.#next);
  }

  #fail(reason: string, index = this.#at): never {
    throw new JsonFault(reason, index);
  }

  /** Returns the line and the column of the next character. */
  #place(): { readonly line: number; readonly column: number } {
    const text = this.#text;
    for (; this.#counted < this.#at; this.#counted++) {
      const c = text[this.#counted];
      if (c === "\n" || (c === "\r" && text[this.#counted + 1] !== "\n")) {
        this.#line += 1;
        this.#lineStart = this.#counted + 1;
      }
    }
    return { line: this.#line, column: this.#at - this.#lineStart + 1 };
  }

  /** Reads a given character. Returns false if the next character differs. */
  #take(character: string): boolean {
    const isNext = this.#next === character;
    if (isNext) this.#at += 1;
    return isNext;
  }

  #skipBlanks(): void {
    const text = this.#text;
    while (this.#at < text.length && " \t\r\n\ufeff".includes(text.charAt(this.#at))) this.#at += 1;
  }

  #readKey(): string {
    const c = this.#next;
    if (c === '"' || c === "'") return this.#readString(c);
    const start = this.#at;
    const word = this.#match(/[^\s:,{}[\]"']*/y);
    return word === "" ? this.#fail(`${this.#found} where a key or "}" belongs`) : this.#checked(word, start);
  }

  #readWord(): string {
    const start = this.#at;
    const word = this.#match(/[^\s,{}[\]"']*/y);
    return word === ""
      ? this.#fail(`${this.#found} where a value belongs`)
      : this.#checked(word.replaceAll("\\/", "/"), start);
  }

  #readString(quote: string): string {
    const text = this.#text;
    const start = this.#at;
    this.#at += 1;
    let value = "";
    for (;;) {
      const from = this.#at;
      while (this.#at < text.length && isPlain(text.charAt(this.#at), quote)) this.#at += 1;
      value += text.slice(from, this.#at);
      const c = this.#next;
      if (c === quote) break;
      if (c === undefined) return this.#fail("a string without its closing quote", start);
      if (c !== "\\") return this.#fail("a line break or control character in a string");
      value += this.#readEscape();
    }
    this.#at += 1;
    return this.#checked(value, start);
  }

  #readEscape(): string {
    const c = this.#text[this.#at + 1] ?? "";
    if (c === "u") {
      const hex = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) return this.#fail("a bad escape in a string");
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const plain = ESCAPES.get(c);
    if (plain === undefined) return this.#fail("a bad escape in a string");
    this.#at += 2;
    return plain;
  }

  /** Reads the text that a sticky expression matches at the current position. */
  #match(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const word = expression.exec(this.#text)?.[0] ?? "";
    this.#at += word.length;
    return word;
  }

  /** Refuses half of a surrogate pair: UTF-8 cannot encode it, so no file or answer could contain it. */
  #checked(value: string, start: number): string {
    return /\p{Surrogate}/u.test(value) ? this.#fail("half of a surrogate pair", start) : value;
  }
}

const isPlain = (c: string, quote: string): boolean => c !== quote && c !== "\\" && c >= " ";
