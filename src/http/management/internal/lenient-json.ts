import { ok, type Result, refuse } from "../../../lib/result.ts";
import { type Fault, positionIn } from "./body-text.ts";
import { type Field, MAX_DEPTH, MAX_FIELDS } from "./field.ts";
import { JsonTokens } from "./json-tokens.ts";

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
  const tokens = new JsonTokens(text);
  const value = new JsonReader(tokens).document();
  if (value !== undefined) return ok(value);
  const { reason, index } = tokens.fault ?? { reason: "something unreadable", index: 0 };
  return refuse({ reason, ...positionIn(text, index) });
}

/** Every method that reads returns undefined (`#readSeparator`: false) after it has recorded a fault. */
class JsonReader {
  readonly #tokens: JsonTokens;
  #fields = 0;

  constructor(tokens: JsonTokens) {
    this.#tokens = tokens;
  }

  document(): Field | undefined {
    const tokens = this.#tokens;
    tokens.skipBlanks();
    const value = this.#readValue("", 0);
    if (value === undefined) return undefined;
    tokens.skipBlanks();
    while (tokens.take("}")) tokens.skipBlanks();
    return tokens.next === undefined ? value : tokens.fail(`${tokens.found} after the end of the document`);
  }

  #readValue(name: string, depth: number): Field | undefined {
    const tokens = this.#tokens;
    this.#fields += 1;
    if (this.#fields > MAX_FIELDS) return tokens.fail(`more than ${MAX_FIELDS} values`);
    if (depth > MAX_DEPTH) return tokens.fail(`values nested deeper than ${MAX_DEPTH}`);
    const base = { name, kind: "element", children: [], text: "", ...tokens.place() } as const;
    if (tokens.take("{")) {
      const children = this.#readObject(depth);
      return children === undefined ? undefined : { ...base, children };
    }
    if (tokens.take("[")) {
      const children = this.#readArray(name, depth);
      return children === undefined ? undefined : { ...base, kind: "list", children };
    }
    const c = tokens.next;
    if (c === '"' || c === "'") {
      const string = tokens.readString(c);
      return string === undefined ? undefined : { ...base, text: string };
    }
    const word = tokens.readWord();
    if (word === undefined) return undefined;
    return word === "null" ? { ...base, kind: "null" } : { ...base, text: word };
  }

  #readObject(depth: number): readonly Field[] | undefined {
    const tokens = this.#tokens;
    const children: Field[] = [];
    const keys = new Set<string>();
    for (;;) {
      tokens.skipBlanks();
      if (tokens.take("}")) return children;
      const start = tokens.at;
      const key = tokens.readKey();
      if (key === undefined) return undefined;
      if (keys.has(key)) return tokens.fail(`the key ${JSON.stringify(key.slice(0, 200))} a second time`, start);
      keys.add(key);
      tokens.skipBlanks();
      if (!tokens.take(":")) return tokens.fail(`${tokens.found} where a colon belongs`);
      tokens.skipBlanks();
      const value = this.#readValue(key, depth + 1);
      if (value === undefined) return undefined;
      if (value.kind !== "null") children.push(value);
      if (!this.#readSeparator("}")) return undefined;
    }
  }

  #readArray(name: string, depth: number): readonly Field[] | undefined {
    const tokens = this.#tokens;
    const items: Field[] = [];
    for (;;) {
      tokens.skipBlanks();
      if (tokens.take("]")) return items;
      const item = this.#readValue(name, depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      if (!this.#readSeparator("]")) return undefined;
    }
  }

  /** Reads past a comma, or up to the closing bracket. */
  #readSeparator(close: "}" | "]"): boolean {
    const tokens = this.#tokens;
    tokens.skipBlanks();
    if (tokens.take(",")) {
      tokens.skipBlanks();
      if (tokens.next === close) tokens.fail(`${tokens.found} after a comma`);
    } else if (tokens.next !== close) tokens.fail(`${tokens.found} where a comma or ${JSON.stringify(close)} belongs`);
    return tokens.fault === undefined;
  }
}
