/**
 * A piece of a document, XML or JSON alike, so that one decoder serves both: an object's key is a child element, an
 * array is an element repeated, a number, string or boolean is text, as GWC (Jettison) maps them.
 */
export interface Field {
  /** The local name; items of a list have the name of their list. */
  readonly name: string;
  /** `list` is a JSON array, its items the children; `null` stands only in lists, elsewhere it is left out. */
  readonly kind: "element" | "list" | "null";
  readonly children: readonly Field[];
  /** The text directly inside, white space and all. A number has the characters it was sent with. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** A document nests deeper, or holds more elements, than any real one: refused before it costs memory. */
export const MAX_DEPTH = 64;
export const MAX_FIELDS = 10_000;

/** Fields by name, lists replaced by their items. */
export const childrenOf = (field: Field, name: string): readonly Field[] =>
  expanded(field.children.filter((c) => c.name === name));

/** Lists replaced by their items, one level deep; null items are left out. */
export const expanded = (fields: readonly Field[]): readonly Field[] =>
  fields.flatMap((f) => (f.kind === "list" ? f.children.filter((c) => c.kind !== "null") : [f]));

/** It holds neither fields nor text. */
export const isEmpty = (field: Field): boolean => field.children.length === 0 && field.text.trim() === "";

/** The text of a field that is text, undefined for an object or list. */
export const scalarOf = (field: Field): string | undefined =>
  field.kind === "element" && field.children.length === 0 ? field.text : undefined;
