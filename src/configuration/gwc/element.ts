import { isDeepStrictEqual } from "node:util";
import type * as z from "zod";
import type { Content } from "../../lib/is-map.ts";
import { onceEach } from "../../lib/once-each.ts";
import type { ReadonlyDeep } from "../../lib/readonly-deep.ts";
import { type DocumentNode, fieldOf, isMapNode, type MapNode, type NamedNode } from "./document-node.ts";

/** The type of an element of a document. */
export type FieldType =
  | "text"
  | "flag"
  | "integer"
  | "double"
  /** A list: an element that contains elements of one name. In JSON an array, bare or under the name of the items. */
  | { readonly list: string; readonly of: FieldType }
  /** An element with child elements in this order. */
  | MapType
  /** Sibling elements of one name. */
  | { readonly repeated: FieldType }
  /**
   * A list whose items have several names. A JSON array loses the names: `kindOf` finds the name by the item's fields.
   */
  | { readonly kinds: FieldTypes; readonly kindOf: (fields: ReadonlySet<string>) => string };

export interface MapType {
  readonly map: FieldTypes;
  readonly attributes?: readonly string[];
}

/** Elements by name, in the order in which GeoWebCache writes them. */
export type FieldTypes = Readonly<Record<string, FieldType>>;

/** The form in which an element has a value of the configuration. `V` is the type of the value. */
export interface Form<V> {
  readonly type: FieldType;
  /** Returns the value of an element. Undefined: the element counts as missing. */
  readonly read: (node: DocumentNode) => unknown;
  readonly write: (value: V) => DocumentNode | undefined;
  /** The child elements. Absent: the element has no child elements. */
  readonly inner?: Elements<never>;
  /** Converts the part of a path that follows the key to the part that follows the element. Absent: both are equal. */
  readonly restOf?: (rest: string) => string;
}

/** Facts of an element that do not depend on its key. */
export interface ElementFacts {
  /** The value that GeoWebCache shows if a document lacks the element. */
  readonly shown?: DocumentNode;
  /** How Nuthatch's use of the element differs from GeoWebCache's, for the report of an import. */
  readonly differs?: string;
  /** The words that a request may send. A file may have other words. */
  readonly words?: readonly string[];
  /**
   * Layers without the element inherit the value of the settings. `shown`: GeoWebCache also shows the inherited value.
   */
  readonly inherited?: "shown" | "hidden";
}

/**
 * One element of GeoWebCache's documents. `T` is the type of the part of the configuration that has the element's key.
 */
export interface Element<T> extends ElementFacts {
  readonly type: FieldType;
  /** The key of `T` whose map has the element's key. Absent: `T` has the key. */
  readonly section?: string;
  /** The position of the key in the configuration's schema. Keys are read in this order. */
  readonly rank?: number;
  /** The child elements. Absent: the element has no child elements. */
  readonly inner?: Elements<never>;
  /**
   * Adds the value of the element to a part of the configuration. `node` is undefined if the document lacks the
   * element. Absent: the element is kept without an effect.
   */
  readonly read?: (part: Record<string, unknown>, node: DocumentNode | undefined, document: MapNode) => void;
  /** Returns the element of a part of the configuration. Undefined: the document gets no such element. */
  readonly write?: (part: T) => DocumentNode | undefined;
  /** Converts a path of the configuration. Undefined if the path leads elsewhere. */
  readonly pathOf?: (path: string, name: string) => string | undefined;
}

/**
 * The elements of a document by name, in the order in which GeoWebCache writes them. A name with `@` is an attribute.
 */
export type Elements<T> = Readonly<Record<string, Element<T>>>;

/** How an element and its key correspond if the element or the key is missing. */
export interface KeyFacts<V> extends ElementFacts {
  /** The value of the key if the document lacks the element. */
  readonly missing?: V;
  /** A value of the element that leaves the key absent. */
  readonly unread?: unknown;
  /** A value of the key that is not written. */
  readonly unwritten?: V;
}

/** A part of the configuration of which any key may be missing. */
export type Part<T> = { readonly [K in keyof T]?: T[K] | undefined };

const isSame = (a: unknown, b: unknown): boolean => a === b || (typeof b === "object" && isDeepStrictEqual(a, b));

/** More than any schema has. */
const MOST_KEYS = 1000;

/** Returns the part of a path after a key. Undefined if the path does not lead to the key. */
const restAfter = (path: string, key: string): string | undefined =>
  path.startsWith(key) && /^(?:$|[.[])/.test(path.slice(key.length)) ? path.slice(key.length) : undefined;

/** The keys of a schema. Any of them may be missing. */
export type Keys<S extends z.ZodObject> = Part<ReadonlyDeep<z.input<S>>>;

/** Returns the position of a key in a schema. */
export const rankOf = ({ shape }: z.ZodObject, key: string): number => Object.keys(shape).indexOf(key);

/** Returns a function that describes the element of a key of the schema. */
export const keysOf =
  <S extends z.ZodObject, T = Keys<S>>(schema: S) =>
  <K extends keyof T & string>(
    key: K,
    form: Form<NonNullable<T[K]>>,
    { missing, unread, unwritten, ...facts }: KeyFacts<NonNullable<T[K]>> = {},
  ): Element<T> => ({
    type: form.type,
    rank: rankOf(schema, key),
    ...(form.inner === undefined ? {} : { inner: form.inner }),
    ...facts,
    read(part, node) {
      const value = node === undefined ? missing : form.read(node);
      if (value !== undefined && !(unread !== undefined && isSame(value, unread))) part[key] = value;
    },
    write(part) {
      const value = part[key];
      if (value === undefined || value === null) return undefined;
      return unwritten !== undefined && isSame(value, unwritten) ? undefined : form.write(value);
    },
    pathOf(path, name) {
      const rest = restAfter(path, key);
      return rest === undefined ? undefined : name + (form.restOf?.(rest) ?? rest);
    },
  });

/**
 * Moves the key of an element into a section, such as the `source` of a layer.
 * @param rank the position of the section's key
 */
export const inSection = <K extends string, T>(
  section: K,
  rank: number,
  element: Element<T>,
): Element<{ readonly [_ in K]?: T }> => ({
  ...element,
  section,
  rank: rank + ((element.rank ?? 0) + 1) / MOST_KEYS,
  write(part) {
    const value = part[section];
    return value === undefined ? undefined : element.write?.(value);
  },
  pathOf: (path, name) =>
    path.startsWith(`${section}.`) ? element.pathOf?.(path.slice(section.length + 1), name) : undefined,
});

/** Returns an element that is written but not read. */
export const onlyWritten = <T>({ read: _, ...element }: Element<T>): Element<T> => element;

/** Describes an element that is kept, and has no effect. */
export const kept = (type: FieldType, facts: ElementFacts = {}): Element<unknown> => ({ type, ...facts });

/** Describes several elements of one type that are kept, and have no effect. */
export const keptAll = (type: FieldType, ...names: readonly string[]): Elements<unknown> =>
  Object.fromEntries(names.map((name) => [name, kept(type)]));

/** Describes an element that only written documents have: its value follows from the configuration. */
export const derived = <T>(
  type: FieldType,
  write: (part: T) => DocumentNode | undefined,
  facts: ElementFacts = {},
): Element<T> => ({ type, write, ...facts });

/** Describes an element whose child elements have keys of `T` itself. */
export const group = <T>(elements: Elements<T>, isWritten: (part: T) => boolean): Element<T> => ({
  type: mapType(elements),
  rank: Math.min(...Object.values(elements).map(({ rank = 0 }) => rank)),
  read(part, node) {
    if (node !== undefined && isMapNode(node)) Object.assign(part, contentOf(elements, node));
  },
  write: (part) => (isWritten(part) ? nodeOf(elements, part) : undefined),
  pathOf(path, name) {
    const inner = pathIn(elements, path);
    return inner === undefined ? undefined : `${name}.${inner}`;
  },
});

type Entries = readonly (readonly [name: string, element: Element<never>])[];

/** The elements that are read, in the order of their keys. Thousands of layers are read by the same tables. */
const readEntries = onceEach(
  (elements: Elements<never>): Entries =>
    Object.entries(elements)
      .filter(([, { read }]) => read !== undefined)
      .sort(([, { rank: a = 0 }], [, { rank: b = 0 }]) => a - b),
);

const isAttribute = (name: string): boolean => name.startsWith("@");

/** Returns the types of elements, without the attributes. */
export const typesOf = (elements: Elements<never>): FieldTypes =>
  Object.fromEntries(
    Object.entries(elements).flatMap(([name, { type }]) => (isAttribute(name) ? [] : [[name, type] as const])),
  );

/** Returns the type of an element with these child elements and attributes. */
export function mapType(elements: Elements<never>): MapType {
  const attributes = Object.keys(elements).filter(isAttribute);
  const map = typesOf(elements);
  return attributes.length === 0 ? { map } : { map, attributes: attributes.map((name) => name.slice(1)) };
}

/** Returns the types of the elements of several root elements. */
export const mapTypes = (roots: Readonly<Record<string, Elements<never>>>): Readonly<Record<string, MapType>> =>
  Object.fromEntries(Object.entries(roots).map(([name, elements]) => [name, mapType(elements)]));

const nodeAt = (node: MapNode, name: string): DocumentNode | undefined =>
  isAttribute(name) ? node.attributes[name.slice(1)] : fieldOf(node, name);

/** Returns a document in the form of the configuration file. The configuration checks the values. */
export function contentOf(elements: Elements<never>, node: MapNode): Content {
  const content: Record<string, unknown> = {};
  const sections = new Map<string, Record<string, unknown>>();
  for (const [name, { read, section }] of readEntries(elements)) {
    let part = section === undefined ? content : sections.get(section);
    if (part === undefined && section !== undefined) {
      part = {};
      content[section] = part;
      sections.set(section, part);
    }
    read?.(part ?? content, nodeAt(node, name), node);
  }
  return content;
}

/** Returns a part of the configuration as a document. */
export function nodeOf<T>(elements: Elements<T>, part: T): MapNode {
  const attributes: Record<string, string> = {};
  const fields: NamedNode[] = [];
  for (const [name, { write }] of Object.entries(elements)) {
    const value = write?.(part);
    if (value === undefined) continue;
    if (isAttribute(name)) attributes[name.slice(1)] = String(value);
    else fields.push([name, value]);
  }
  return { kind: "map", attributes, fields };
}

/** Converts a path of the configuration to the path of an element. Undefined if no element has the key. */
export function pathIn(elements: Elements<never>, path: string): string | undefined {
  for (const [name, { pathOf }] of Object.entries(elements)) {
    const converted = pathOf?.(path, name);
    if (converted !== undefined) return converted;
  }
  return undefined;
}

/** Returns how the use of the element at a path differs from GeoWebCache's. `path` has no indexes. */
export function differenceIn(elements: Elements<never>, path: string): string | undefined {
  const [name = "", ...rest] = path.split(".");
  const element = elements[name];
  // The name of a list's items has no entry.
  if (element === undefined) return rest.length === 0 ? undefined : differenceIn(elements, rest.join("."));
  if (rest.length === 0) return element.differs;
  return element.inner && differenceIn(element.inner, rest.join("."));
}

/**
 * Returns a document with the elements that GeoWebCache shows by default, in GeoWebCache's order. Unknown elements come
 * last.
 * @param defaults further values, which replace the values of the table
 */
export function completed(
  elements: Elements<never>,
  node: MapNode,
  defaults: Readonly<Record<string, DocumentNode>> = {},
): readonly NamedNode[] {
  const known = Object.entries(elements).flatMap(([name, { shown }]): NamedNode[] => {
    const value = isAttribute(name) ? undefined : (fieldOf(node, name) ?? defaults[name] ?? shown);
    return value === undefined ? [] : [[name, value]];
  });
  return [...known, ...node.fields.filter(([name]) => !Object.hasOwn(elements, name))];
}
