/**
 * A part of an XML or JSON document. Both formats give the same tree, so that one decoder serves both. The mapping
 * follows GWC (Jettison): a key of an object is a child element, an array is a repeated element, and a number, string
 * or boolean is text.
 */
export interface Field {
  /** The local name. Items of a list have the list's name. */
  readonly name: string;
  /**
   * `list` is a JSON array whose items are the children. `null` occurs only in lists, because the reader omits a null
   * elsewhere.
   */
  readonly kind: "element" | "list" | "null";
  readonly children: readonly Field[];
  /** The text directly inside, including white space. A number keeps the characters that the client sent. */
  readonly text: string;
  /** Line and column count from 1. A field of a form has line 0. */
  readonly line: number;
  readonly column: number;
  /**
   * The index of an XML element's first character in the text, and the index after the element. Absent in other
   * formats.
   */
  readonly start?: number;
  readonly end?: number;
}

/** Limits of a document. Real documents are far smaller. A larger document is refused before it takes memory. */
export const MAX_DEPTH = 64;
export const MAX_FIELDS = 10_000;

/**
 * The most fields of one object, and the most parameters of a request. The cost of some checks grows faster than this
 * number.
 */
export const MOST_OF_OBJECT = 1_000;

/**
 * The most characters of one text in a document of the configuration, because each check and each answer reads the
 * text.
 */
export const MOST_TEXT = 65_536;

/** Returns the children with a name. Lists are replaced by their items. */
export const childrenOf = (field: Field, name: string): readonly Field[] =>
  expanded(field.children.filter((c) => c.name === name));

/** Replaces each list by its items, one level deep. Omits null items. */
export const expanded = (fields: readonly Field[]): readonly Field[] =>
  fields.flatMap((f) => (f.kind === "list" ? f.children.filter((c) => c.kind !== "null") : [f]));

/** Returns whether a field has neither children nor text. */
export const isEmpty = (field: Field): boolean => field.children.length === 0 && field.text.trim() === "";

/** Returns the text of a scalar field. Undefined for an object or a list. */
export const scalarOf = (field: Field): string | undefined =>
  field.kind === "element" && field.children.length === 0 ? field.text : undefined;
