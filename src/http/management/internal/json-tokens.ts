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
 * Reads the keys, texts and words of lenient JSON, and counts its lines. Every method that reads returns undefined
 * after it has recorded a fault. Only the first fault is kept.
 */
export class JsonTokens {
  readonly #text: string;
  #at = 0;
  #fault: { readonly reason: string; readonly index: number } | undefined;
  // `place` is called with ascending indexes, so each line is counted once.
  #counted = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get at(): number {
    return this.#at;
  }

  get fault(): { readonly reason: string; readonly index: number } | undefined {
    return this.#fault;
  }

  /** The next character; undefined at the end. */
  get next(): string | undefined {
    return this.#text[this.#at];
  }

  /** The next character as a message shows it. */
  get found(): string {
    return this.next === undefined ? "the end" : JSON.stringify(this.next);
  }

  fail(reason: string, index = this.#at): undefined {
    this.#fault ??= { reason, index };
    return undefined;
  }

  /** Returns the line and the column of the next character. */
  place(): { readonly line: number; readonly column: number } {
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

  /** Reads past a character; false: another one is next. */
  take(character: string): boolean {
    const isNext = this.next === character;
    if (isNext) this.#at += 1;
    return isNext;
  }

  skipBlanks(): void {
    const text = this.#text;
    while (this.#at < text.length && " \t\r\n\ufeff".includes(text.charAt(this.#at))) this.#at += 1;
  }

  readKey(): string | undefined {
    const c = this.next;
    if (c === '"' || c === "'") return this.readString(c);
    const start = this.#at;
    const word = this.#match(/[^\s:,{}[\]"']*/y);
    return word === "" ? this.fail(`${this.found} where a key or "}" belongs`) : this.#checked(word, start);
  }

  readWord(): string | undefined {
    const start = this.#at;
    const word = this.#match(/[^\s,{}[\]"']*/y);
    return word === ""
      ? this.fail(`${this.found} where a value belongs`)
      : this.#checked(word.replaceAll("\\/", "/"), start);
  }

  readString(quote: string): string | undefined {
    const text = this.#text;
    const start = this.#at;
    this.#at += 1;
    let value = "";
    for (;;) {
      const from = this.#at;
      while (this.#at < text.length && isPlain(text.charAt(this.#at), quote)) this.#at += 1;
      value += text.slice(from, this.#at);
      const c = this.next;
      if (c === quote) break;
      if (c === undefined) return this.fail("a string without its closing quote", start);
      if (c !== "\\") return this.fail("a line break or control character in a string");
      const escaped = this.#readEscape();
      if (escaped === undefined) return undefined;
      value += escaped;
    }
    this.#at += 1;
    return this.#checked(value, start);
  }

  #readEscape(): string | undefined {
    const c = this.#text[this.#at + 1] ?? "";
    if (c === "u") {
      const hex = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) return this.fail("a bad escape in a string");
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const plain = ESCAPES.get(c);
    if (plain === undefined) return this.fail("a bad escape in a string");
    this.#at += 2;
    return plain;
  }

  /** Reads what a sticky expression matches here. */
  #match(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const word = expression.exec(this.#text)?.[0] ?? "";
    this.#at += word.length;
    return word;
  }

  /** Refuses half of a surrogate pair: UTF-8 cannot encode it, so no file or answer could contain it. */
  #checked(value: string, start: number): string | undefined {
    return /\p{Surrogate}/u.test(value) ? this.fail("half of a surrogate pair", start) : value;
  }
}

const isPlain = (c: string, quote: string): boolean => c !== quote && c !== "\\" && c >= " ";
