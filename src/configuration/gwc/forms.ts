import type * as z from "zod";
import {
  type DocumentNode,
  double,
  isMapNode,
  itemsIn,
  itemsOf,
  list,
  type MapNode,
  map,
  type NamedNode,
  numberOf,
  scalarText,
} from "./document-node.ts";
import { contentOf, type Elements, type Form, type Keys, mapType, nodeOf, pathIn } from "./element.ts";

/** The forms in which elements have values of the configuration. */

const asText = (node: DocumentNode): string => scalarText(node) ?? "";

export const text: Form<string> = { type: "text", read: scalarText, write: (value) => value };
/** A text. An empty element counts as missing. */
export const filled: Form<string> = { ...text, read: (node) => scalarText(node) || undefined };
export const flag: Form<boolean> = {
  type: "flag",
  read: (node) => (typeof node === "boolean" ? node : undefined),
  write: (value) => value,
};
export const integer: Form<number> = { type: "integer", read: numberOf, write: (value) => value };
export const decimal: Form<number> = { type: "double", read: numberOf, write: double };
/** A number whose element GeoWebCache declares as a text. */
export const numberText: Form<number> = { type: "text", read: (node) => Number(asText(node)), write: String };

/** A list of texts. */
export const texts: Form<readonly string[]> = {
  type: { list: "string", of: "text" },
  read: (node) => itemsIn(node).map(String),
  write: (values) => list("string", [...values]),
};
const numbers = (item: string, of: "integer" | "double"): Form<readonly number[]> => ({
  type: { list: item, of },
  read: (node) => itemsIn(node).map(numberOf),
  write: (values) => list(item, of === "double" ? values.map(double) : [...values]),
});
export const integers = numbers("int", "integer");
export const doubles = numbers("double", "double");
export const floats = numbers("float", "double");

/** Several texts in one, parted by commas. An empty element counts as missing. */
export const commaTexts: Form<readonly string[]> = {
  type: "text",
  read: (node) => scalarText(node)?.split(","),
  write: (values) => values.join(","),
};

/** minx, miny, maxx, maxy. */
export const corners: Form<readonly [number, number, number, number]> = {
  type: { map: { coords: doubles.type } },
  read: (node) => (isMapNode(node) ? itemsOf(node, "coords").map(numberOf) : undefined),
  write: (values) => map([["coords", list("double", values.map(double))]]),
  restOf: (rest) => `.coords${rest}`,
};

/** A list of maps. */
export const listOf = <T>(item: string, elements: Elements<T>): Form<readonly T[]> => ({
  type: { list: item, of: mapType(elements) },
  inner: elements,
  read: (node) => itemsIn(node).flatMap((one) => (isMapNode(one) ? [contentOf(elements, one)] : [])),
  write: (values) =>
    list(
      item,
      values.map((value) => nodeOf(elements, value)),
    ),
  restOf: (rest) => inItem(elements, rest),
});

/** Converts a path that begins with the index of an item. */
export const inItem = (elements: Elements<never>, rest: string): string =>
  rest.replace(/^(\[\d+\]\.)(.+)$/s, (_, index: string, path: string) => index + (pathIn(elements, path) ?? path));

/** An element with child elements. */
export const mapOf = <T>(elements: Elements<T>): Form<T> => ({
  type: mapType(elements),
  inner: elements,
  read: (node) => (isMapNode(node) ? contentOf(elements, node) : undefined),
  write: (value) => nodeOf(elements, value),
  restOf: (rest) => rest.replace(/^\.(.+)$/s, (_, path: string) => `.${pathIn(elements, path) ?? path}`),
});

/** One kind of the items of a list whose kinds have elements of several names. */
interface Kind<V> {
  readonly name: string;
  readonly type: string;
  readonly elements: Elements<never>;
  /** Returns the item as an element. Undefined: it is of another kind. */
  readonly write: (item: V) => MapNode | undefined;
}

/** Describes the items whose key `type` has the type of this schema. */
export const kind = <S extends z.ZodObject<{ readonly type: z.ZodLiteral<string> }>>(
  name: string,
  schema: S,
  elements: Elements<Keys<S>>,
): Kind<{ readonly type: string }> => {
  const [type = ""] = schema.shape.type.values;
  const isOfKind = (item: { readonly type: string }): item is { readonly type: string } & Keys<S> => item.type === type;
  return { name, type, elements, write: (item) => (isOfKind(item) ? nodeOf(elements, item) : undefined) };
};

/** A list of maps of several kinds. */
export const kindsOf = <V>(
  kinds: readonly Kind<V>[],
  kindOf: (fields: ReadonlySet<string>) => string,
): Form<readonly V[]> => ({
  type: { kinds: Object.fromEntries(kinds.map(({ name, elements }) => [name, mapType(elements)])), kindOf },
  read(node) {
    if (typeof node !== "object" || node.kind !== "list") return undefined;
    return node.items.flatMap(([name, item]) => {
      const of = kinds.find((one) => one.name === name);
      return of === undefined || !isMapNode(item) ? [] : [{ type: of.type, ...contentOf(of.elements, item) }];
    });
  },
  write: (values) => ({
    kind: "list",
    items: values.flatMap((value) =>
      kinds.flatMap(({ name, write }): NamedNode[] => {
        const item = write(value);
        return item === undefined ? [] : [[name, item]];
      }),
    ),
  }),
  restOf: (rest) => inItem(Object.assign({}, ...kinds.map(({ elements }) => elements)), rest),
});
