import { isDeepStrictEqual } from "node:util";
import { type DocumentFormat, readDocument } from "../../../body/document.ts";
import { childrenOf, expanded, type Field, MOST_TEXT, scalarOf } from "../../../body/field.ts";
import { Problems } from "../../../body/fields.ts";
import { readXml } from "../../../body/xml-reader.ts";
import { firstBy } from "../../../lib/first-by.ts";
import { groupedBy } from "../../../lib/grouped-by.ts";
import { onceEach } from "../../../lib/once-each.ts";
import { type Refusal, refusalMessage } from "../../../lib/refusal.ts";
import type { Result } from "../../../lib/result.ts";
import { MASKED } from "../../../lib/text/masked.ts";
import {
  type DocumentNode,
  double,
  fieldOf,
  type MapNode,
  type NamedNode,
  type RootedDocument,
} from "../document-node.ts";
import type { FieldType, FieldTypes, MapType } from "../element.ts";
import { withSecrets } from "../secrets.ts";

/** The properties of a document that the decoder needs. */
export interface DocumentKind {
  /** The document's name for messages. */
  readonly what: string;
  readonly roots: Readonly<Record<string, MapType>>;
  /** The document that the new one replaces. It gives the secrets and the kinds of filters. */
  readonly present?: RootedDocument | undefined;
  /**
   * True for a document that must not have certain mistakes of GeoWebCache's files: an element of a list that does not
   * have the name of the items, and an unknown element that differs from a known one only in case. Elements of the
   * present document are allowed.
   */
  readonly strict?: true;
  /** True if the document is only read: `***` is not replaced. */
  readonly keepsMasks?: true;
}

/**
 * Decodes a document of the configuration interface by its table of elements. Includes elements that no table has.
 * Refuses a value of a wrong type, and names its path.
 */
export function decodeDocument(
  body: Uint8Array,
  format: DocumentFormat,
  kind: DocumentKind,
): Result<RootedDocument, Refusal> {
  const read = readDocument(body, format, kind.what, Object.keys(kind.roots), "read");
  if (!read.ok) return read;
  return decodeField(read.value, kind);
}

/** Decodes the root element of a document. */
export function decodeField(field: Field, kind: DocumentKind): Result<RootedDocument, Refusal> {
  const { document, problems } = decodedWithProblems(field, kind);
  return problems.result(document);
}

/**
 * Decodes the root element of a document of a file. If the document has a problem, returns the readable fields and the
 * fault.
 */
export function decodeTolerantly(field: Field, kind: DocumentKind): RootedDocument {
  const { document, problems } = decodedWithProblems(field, kind);
  const result = problems.result(document);
  return result.ok ? document : { ...document, fault: refusalMessage(result.error) };
}

function decodedWithProblems(
  field: Field,
  { roots, present, strict, keepsMasks }: DocumentKind,
): { readonly document: RootedDocument; readonly problems: Problems } {
  const { name: root } = field;
  const tolerated = strict === true ? namesIn(present?.node) : undefined;
  const decoder = new Decoder(kindsByKey(present), tolerated);
  const node = decoder.map(field, roots[root] ?? { map: {} }, "");
  const isWhole = keepsMasks === true || !decoder.hasMasks;
  const missing = (path: string, expected: string): void => {
    decoder.problems.note({
      code: "bad_field",
      message: `${path}: expected ${expected}, got ${JSON.stringify(MASKED)}`,
    });
  };
  const document = { root, node: isWhole ? node : withSecrets(node, present?.node, missing) };
  return { document, problems: decoder.problems };
}

/** Returns the names of the fields whose value differs from the present document. */
export const changedFields = ({ node }: RootedDocument, present: RootedDocument): readonly string[] =>
  node.fields.flatMap(([name, value]) => {
    const before = fieldOf(present.node, name);
    return isDeepStrictEqual(value, before) ? [] : [name];
  });

/** Returns the kind of each parameter filter of a document by the filter's key. */
function kindsByKey(document: RootedDocument | undefined): ReadonlyMap<string, string> {
  const filters = document && fieldOf(document.node, "parameterFilters");
  if (typeof filters !== "object" || filters.kind !== "list") return new Map();
  return new Map(
    filters.items.flatMap(([kind, item]): [string, string][] => {
      const key = typeof item === "object" && item.kind === "map" ? fieldOf(item, "key") : undefined;
      return key === undefined ? [] : [[String(key).toUpperCase(), kind]];
    }),
  );
}

/** The most unknown elements in one element that a client may send. GeoWebCache has no element with so many. */
const MOST_UNKNOWN = 1_000;

const below = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

const nameOf = ({ name }: Field): string => name;

/** Control characters that XML 1.0 does not allow. */
const NO_XML_TEXT = /[^\P{Cc}\t\n\r\u007f-\u009f]/u;

/** Returns whether a text is a valid XML name without a prefix. */
function isXmlName(name: string): boolean {
  if (/^[A-Za-z_][\w.-]*$/.test(name)) return true;
  const read = readXml(`<${name}/>`);
  return read.ok && read.value.name === name;
}

/** Returns the names of all elements of a document. */
function namesIn(node: DocumentNode | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (one: DocumentNode): void => {
    if (typeof one !== "object") return;
    if (one.kind === "map") {
      for (const [name, value] of one.fields) {
        names.add(name);
        collect(value);
      }
    } else if (one.kind === "list") for (const [, item] of one.items) collect(item);
    else if (one.kind === "repeated") for (const item of one.items) collect(item);
  };
  if (node !== undefined) collect(node);
  return names;
}

/** The entries of a table. Thousands of layers are decoded by the same tables. */
const entriesOf = onceEach((types: FieldTypes): readonly (readonly [string, FieldType])[] => Object.entries(types));

class Decoder {
  readonly problems = new Problems();
  /** Whether some text may contain `***`, which the present secret replaces. */
  hasMasks = false;
  readonly #kindsByKey: ReadonlyMap<string, string>;
  readonly #tolerated: ReadonlySet<string> | undefined;

  /** @param tolerated names that may differ from known ones only in case; undefined if every name may */
  constructor(kinds: ReadonlyMap<string, string>, tolerated: ReadonlySet<string> | undefined) {
    this.#kindsByKey = kinds;
    this.#tolerated = tolerated;
  }

  /** Decodes an element with child elements. Known elements come first, in the order of their table. */
  map(field: Field, { map: types, attributes = [] }: MapType, path: string): MapNode {
    const known: NamedNode[] = [];
    const byName = groupedBy(field.children, nameOf);
    for (const [name, type] of entriesOf(types)) {
      const given = byName.get(name);
      const [first, second] = given ?? [];
      if (given === undefined || first === undefined) continue;
      const at = below(path, name);
      if (typeof type === "object" && "repeated" in type) {
        const items = expanded(given).map((item, i) => this.#decode(item, type.repeated, `${at}[${i}]`));
        known.push([name, { kind: "repeated", items }]);
      } else {
        if (second !== undefined) this.problems.at(second, `${at}: is given twice`);
        known.push([name, this.#decode(first, type, at)]);
      }
    }
    const others = field.children.filter(({ name }) => !name.startsWith("@") && !Object.hasOwn(types, name));
    if (others.length > MOST_UNKNOWN && this.#tolerated !== undefined) {
      const at = path === "" ? field.name : path;
      this.problems.at(field, `${at}: expected at most ${MOST_UNKNOWN} unknown elements, got ${others.length}`);
      return { kind: "map", attributes: {}, fields: known };
    }
    // Unknown elements may contain `***` at any depth.
    if (others.length > 0) this.hasMasks = true;
    for (const other of others) {
      this.#checkCase(other, types, path);
      this.#checkXml(other, path);
    }
    return { kind: "map", attributes: attributesOf(field, attributes), fields: [...known, ...unknownFields(others)] };
  }

  /**
   * Reports a name that differs from a known one only in case: with `gridsubsets` the layer would offer every grid set.
   */
  #checkCase(field: Field, types: FieldTypes, path: string): void {
    if (this.#tolerated === undefined || this.#tolerated.has(field.name)) return;
    const known = Object.keys(types).find((name) => name.toLowerCase() === field.name.toLowerCase());
    if (known !== undefined) this.problems.at(field, `${below(path, field.name)}: unknown field, expected ${known}`);
  }

  /**
   * Reports a key or a text of JSON that XML cannot represent, because the document is also shown and stored as XML.
   */
  #checkXml(field: Field, path: string): void {
    const at = below(path, field.name);
    if (!isXmlName(field.name.replace(/^@/, ""))) this.problems.at(field, `${at}: expected a name that XML can have`);
    this.#checkText(field.text, field, at);
    for (const child of field.children) this.#checkXml(child, field.kind === "list" ? path : at);
  }

  #checkText(text: string, field: Field, path: string): void {
    if (this.#tolerated !== undefined && text.length > MOST_TEXT)
      this.problems.expected(path, `a text of at most ${MOST_TEXT} characters`, field);
    if (NO_XML_TEXT.test(text)) this.problems.expected(path, "a text without control characters", field);
  }

  #decode(field: Field, type: FieldType, path: string): DocumentNode {
    if (typeof type === "string") return this.#scalar(field, type, path);
    if ("map" in type) {
      if (scalarOf(field)?.trim()) this.problems.expected(path, "elements", field);
      return this.map(field, type, path);
    }
    if ("repeated" in type)
      return { kind: "repeated", items: expanded([field]).map((item) => this.#decode(item, type.repeated, path)) };
    if (scalarOf(field)?.trim()) this.problems.expected(path, "a list", field);
    if ("list" in type) {
      const other = this.#tolerated !== undefined && field.kind !== "list" ? otherItem(field, type.list) : undefined;
      if (other !== undefined) this.problems.at(other, `${path}: expected ${type.list}, got ${other.name}`);
      const items = itemsOf(field, type.list);
      return {
        kind: "list",
        items: items.map((item, i) => [type.list, this.#decode(item, type.of, `${path}[${i}]`)]),
      };
    }
    return { kind: "list", items: this.#kinds(field, type, path) };
  }

  #kinds(
    field: Field,
    { kinds, kindOf }: Extract<FieldType, { readonly kinds: FieldTypes }>,
    path: string,
  ): NamedNode[] {
    const named =
      field.kind === "list"
        ? field.children.map((item) => ({ item, kind: this.#kindOf(item, kindOf) }))
        : expanded(field.children).map((item) => ({ item, kind: item.name }));
    return named.map(({ item, kind }, i) => {
      const type = kinds[kind];
      const at = `${path}[${i}]`;
      if (type === undefined) this.problems.at(item, `${at}: expected ${Object.keys(kinds).join(" or ")}, got ${kind}`);
      return [kind, this.#decode(item, type ?? { map: {} }, at)];
    });
  }

  #kindOf(item: Field, kindOf: (fields: ReadonlySet<string>) => string): string {
    const key =
      item.children
        .find(({ name }) => name === "key")
        ?.text.trim()
        .toUpperCase() ?? "";
    return this.#kindsByKey.get(key) ?? kindOf(new Set(item.children.map(({ name }) => name)));
  }

  /** Returns the value of a scalar. If it has another type, reports a problem and returns the text. */
  #scalar(field: Field, type: "text" | "flag" | "integer" | "double", path: string): DocumentNode {
    const text = scalarOf(field);
    if (text === undefined) {
      this.problems.expected(path, type === "text" ? "a text" : `a value`, field);
      return "";
    }
    const trimmed = text.trim();
    switch (type) {
      case "text":
        if (trimmed.includes(MASKED)) this.hasMasks = true;
        this.#checkText(trimmed, field, path);
        return trimmed;
      case "flag":
        if (/^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === "true";
        this.problems.expected(path, "true or false", field);
        return trimmed;
      case "integer":
        if (/^[+-]?\d{1,15}$/.test(trimmed)) return Number(trimmed);
        this.problems.expected(path, "a whole number", field);
        return trimmed;
      case "double":
        if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed) && Number.isFinite(Number(trimmed)))
          return double(Number(trimmed));
        this.problems.expected(path, "a number", field);
        return trimmed;
    }
  }
}

/** Returns the items of a list: the elements of an array, or the child elements of one name. */
function itemsOf(field: Field, name: string): readonly Field[] {
  return field.kind === "list" ? expanded([field]) : childrenOf(field, name);
}

/** Returns the first child element that is not an item of the list. Undefined if all are items. */
const otherItem = (field: Field, name: string): Field | undefined =>
  field.children.find((child) => child.name !== name && !child.name.startsWith("@"));

function attributesOf(field: Field, names: readonly string[]): Readonly<Record<string, string>> {
  const children = firstBy(field.children, nameOf);
  const given = names.flatMap((name): [string, string][] => {
    const attribute = children.get(`@${name}`);
    return attribute === undefined ? [] : [[name, attribute.text]];
  });
  return Object.fromEntries(given);
}

/** Returns unknown elements unchanged. */
function unknownFields(fields: readonly Field[]): NamedNode[] {
  return [...groupedBy(fields, nameOf)].map(([name, same]): NamedNode => {
    const all = expanded(same).map(unknownNode);
    const [only] = all;
    return [name, all.length === 1 && only !== undefined ? only : { kind: "repeated", items: all }];
  });
}

function unknownNode(field: Field): DocumentNode {
  const text = scalarOf(field);
  if (text !== undefined) return text;
  const names = field.children.filter(({ name }) => name.startsWith("@")).map(({ name }) => name.slice(1));
  const inner = field.children.filter(({ name }) => !name.startsWith("@"));
  return { kind: "map", attributes: attributesOf(field, names), fields: unknownFields(inner) };
}
