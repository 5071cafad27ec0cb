import { ok, type Result, refuse } from "../../../lib/result.ts";
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
 * Parses strict JSON and the variants that GWC's documentation prints and GWC reads (`docs/reference/wire-format.md`,
 * Bodies): single quotes, keys and values without quotes, surplus `}` at the end. An unquoted key ends at its first
 * colon, an unquoted value at white space or one of `,{}[]"'`. Refuses a key given twice and half of a surrogate pair.
 *
 * JSON.parse and json5 do not serve: neither keeps the characters of a number (a quota of `1.50` is echoed), detects a
 * duplicate key, reads an unquoted word and reports the position of an error.
 *
 * Returns the top-level value as a field without a name.
 */
export function readJson(text: string): Result<Field, Fault> {
  const reader = startReader(text);
  const value = reader.document();
  if (value !== undefined) return ok(value);
  const { reason, index } = reader.fault() ?? { reason: "something unreadable", index: 0 };
  return refuse({ reason, ...positionIn(text, index) });
}

interface Reader {
  /** Returns undefined if the text cannot be read; `fault` then has the reason. */
  document(): Field | undefined;
  fault(): { readonly reason: string; readonly index: number } | undefined;
}

/** Every function below that reads returns undefined (`readSeparator`: false) after it has recorded a fault. */
function startReader(text: string): Reader {
  let at = 0;
  let fields = 0;
  let fault: { readonly reason: string; readonly index: number } | undefined;
  // `place` is called with ascending indexes, so each line is counted once.
  let counted = 0;
  let line = 1;
  let lineStart = 0;

  function fail(reason: string, index = at): undefined {
    fault ??= { reason, index };
    return undefined;
  }

  function place(index: number): { readonly line: number; readonly column: number } {
    for (; counted < index; counted++) {
      const c = text[counted];
      if (c === "\n" || (c === "\r" && text[counted + 1] !== "\n")) {
        line += 1;
        lineStart = counted + 1;
      }
    }
    return { line, column: index - lineStart + 1 };
  }

  function skipBlanks(): void {
    while (at < text.length && " \t\r\n\ufeff".includes(text.charAt(at))) at += 1;
  }

  const found = (): string => (at >= text.length ? "the end" : JSON.stringify(text.charAt(at)));

  function document(): Field | undefined {
    skipBlanks();
    const value = readValue("", 0);
    if (value === undefined) return undefined;
    skipBlanks();
    while (text[at] === "}") {
      at += 1;
      skipBlanks();
    }
    return at < text.length ? fail(`${found()} after the end of the document`) : value;
  }

  function readValue(name: string, depth: number): Field | undefined {
    fields += 1;
    if (fields > MAX_FIELDS) return fail(`more than ${MAX_FIELDS} values`);
    if (depth > MAX_DEPTH) return fail(`values nested deeper than ${MAX_DEPTH}`);
    const base = { name, kind: "element", children: [], text: "", ...place(at) } as const;
    const c = text[at];
    if (c === "{") {
      const children = readObject(depth);
      return children === undefined ? undefined : { ...base, children };
    }
    if (c === "[") {
      const children = readArray(name, depth);
      return children === undefined ? undefined : { ...base, kind: "list", children };
    }
    if (c === '"' || c === "'") {
      const string = readString(c);
      return string === undefined ? undefined : { ...base, text: string };
    }
    const word = readWord();
    if (word === undefined) return undefined;
    return word === "null" ? { ...base, kind: "null" } : { ...base, text: word };
  }

  function readObject(depth: number): readonly Field[] | undefined {
    const children: Field[] = [];
    const keys = new Set<string>();
    at += 1;
    for (;;) {
      skipBlanks();
      if (text[at] === "}") break;
      const start = at;
      const key = readKey();
      if (key === undefined) return undefined;
      if (keys.has(key)) return fail(`the key ${JSON.stringify(key.slice(0, 200))} a second time`, start);
      keys.add(key);
      skipBlanks();
      if (text[at] !== ":") return fail(`${found()} where a colon belongs`);
      at += 1;
      skipBlanks();
      const value = readValue(key, depth + 1);
      if (value === undefined) return undefined;
      if (value.kind !== "null") children.push(value);
      if (!readSeparator("}")) return undefined;
    }
    at += 1;
    return children;
  }

  function readArray(name: string, depth: number): readonly Field[] | undefined {
    const items: Field[] = [];
    at += 1;
    for (;;) {
      skipBlanks();
      if (text[at] === "]") break;
      const item = readValue(name, depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      if (!readSeparator("]")) return undefined;
    }
    at += 1;
    return items;
  }

  /** Reads past a comma, or up to the closing bracket. */
  function readSeparator(close: "}" | "]"): boolean {
    skipBlanks();
    if (text[at] === ",") {
      at += 1;
      skipBlanks();
      if (text[at] === close) fail(`${found()} after a comma`);
    } else if (text[at] !== close) fail(`${found()} where a comma or ${JSON.stringify(close)} belongs`);
    return fault === undefined;
  }

  function readKey(): string | undefined {
    const c = text[at];
    if (c === '"' || c === "'") return readString(c);
    const key = /[^\s:,{}[\]"']*/y;
    key.lastIndex = at;
    const word = key.exec(text)?.[0] ?? "";
    if (word === "") return fail(`${found()} where a key or "}" belongs`);
    at += word.length;
    return checked(word, at - word.length);
  }

  function readWord(): string | undefined {
    const value = /[^\s,{}[\]"']*/y;
    value.lastIndex = at;
    const word = value.exec(text)?.[0] ?? "";
    if (word === "") return fail(`${found()} where a value belongs`);
    at += word.length;
    return checked(word.replaceAll("\\/", "/"), at - word.length);
  }

  function readString(quote: string): string | undefined {
    const start = at;
    at += 1;
    let value = "";
    for (;;) {
      const from = at;
      while (at < text.length && isPlain(text.charAt(at), quote)) at += 1;
      value += text.slice(from, at);
      const c = text[at];
      if (c === quote) break;
      if (c === undefined) return fail("a string without its closing quote", start);
      if (c !== "\\") return fail("a line break or control character in a string");
      const escaped = readEscape();
      if (escaped === undefined) return undefined;
      value += escaped;
    }
    at += 1;
    return checked(value, start);
  }

  function readEscape(): string | undefined {
    const c = text[at + 1] ?? "";
    if (c === "u") {
      const hex = text.slice(at + 2, at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) return fail("a bad escape in a string");
      at += 6;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const plain = ESCAPES.get(c);
    if (plain === undefined) return fail("a bad escape in a string");
    at += 2;
    return plain;
  }

  /** Refuses half of a surrogate pair: UTF-8 cannot encode it, so no file or answer could contain it. */
  const checked = (value: string, start: number): string | undefined =>
    /\p{Surrogate}/u.test(value) ? fail("half of a surrogate pair", start) : value;

  return { document, fault: () => fault };
}

const isPlain = (c: string, quote: string): boolean => c !== quote && c !== "\\" && c >= " ";
