import { firstBy } from "../../lib/first-by.ts";
import { onceEach } from "../../lib/once-each.ts";

/** A number that XML shows as Java prints a `double` (`1000000.0`, `2.5E7`). */
export interface Double {
  readonly kind: "double";
  readonly value: number;
}

/** A list: in XML an element that contains its items, in JSON an array, which loses the names of the items. */
export interface ListNode {
  readonly kind: "list";
  readonly items: readonly NamedNode[];
}

/** Sibling elements of one name in XML, an array in JSON. */
export interface RepeatedNode {
  readonly kind: "repeated";
  readonly items: readonly DocumentNode[];
}

/** An element with child elements. */
export interface MapNode {
  readonly kind: "map";
  /** Attributes in XML. In JSON, members whose name begins with `@`. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly fields: readonly NamedNode[];
}

/** A value of a document of GeoWebCache's configuration interface (`docs/reference/configuration-interface.md`). */
export type DocumentNode = string | number | bigint | boolean | Double | ListNode | RepeatedNode | MapNode;
export type NamedNode = readonly [name: string, node: DocumentNode];

export const double = (value: number): Double => ({ kind: "double", value });
export const list = (name: string, items: readonly DocumentNode[]): ListNode => ({
  kind: "list",
  items: items.map((item) => [name, item]),
});

/** Returns a map without its undefined fields. */
export function map(
  fields: readonly (readonly [string, DocumentNode | undefined])[],
  attributes: Readonly<Record<string, string>> = {},
): MapNode {
  const given = fields.flatMap(([name, node]): NamedNode[] => (node === undefined ? [] : [[name, node]]));
  return { kind: "map", attributes, fields: given };
}

/** A document with the name of its root element. */
export interface RootedDocument {
  readonly root: string;
  readonly node: MapNode;
  /** Why a layer of a `geowebcache.xml` cannot be served. The file keeps such a layer. Absent if it can be served. */
  readonly fault?: string;
}

/** A node with more fields gets an index by name, so that a loop over the fields takes linear time. */
const FEW_FIELDS = 32;
const fieldsByName = onceEach(({ fields }: MapNode) => firstBy(fields, ([name]) => name));

/** Returns the value of a field. Undefined if the node lacks the field. */
export const fieldOf = (node: MapNode, name: string): DocumentNode | undefined =>
  (node.fields.length > FEW_FIELDS ? fieldsByName(node).get(name) : node.fields.find(([key]) => key === name))?.[1];

export const isMapNode = (node: DocumentNode | undefined): node is MapNode =>
  typeof node === "object" && node.kind === "map";

/** Returns a scalar as text. Undefined for any other value. */
export function scalarText(node: DocumentNode | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (typeof node !== "object") return String(node);
  return node.kind === "double" ? String(node.value) : undefined;
}

/** Returns a scalar field as text. Undefined if the node lacks the field, or it is not a scalar. */
export const textOf = (node: MapNode, name: string): string | undefined => scalarText(fieldOf(node, name));

/** Returns the items of a list field, without their names. Empty if the node lacks the field. */
export const itemsOf = (node: MapNode, name: string): readonly DocumentNode[] => itemsIn(fieldOf(node, name));

/** Returns the items of a list, without their names. Empty if the value is not a list. */
export function itemsIn(value: DocumentNode | undefined): readonly DocumentNode[] {
  if (typeof value !== "object" || value.kind === "double" || value.kind === "map") return [];
  return value.kind === "list" ? value.items.map(([, item]) => item) : value.items;
}

/** Returns a field that has fields itself. Undefined if the node lacks such a field. */
export function mapOf(node: MapNode, name: string): MapNode | undefined {
  const value = fieldOf(node, name);
  return typeof value === "object" && value.kind === "map" ? value : undefined;
}

/** Returns a scalar as a number. */
export const numberOf = (node: DocumentNode): number =>
  typeof node === "object" && node.kind === "double" ? node.value : Number(node);

/** A value without child elements. */
type Scalar = Exclude<DocumentNode, ListNode | RepeatedNode | MapNode>;

/** Returns the replacement of a scalar. `names` has the name of its element; for an item of a list the list comes first. */
export type ScalarChange = (value: Scalar, names: readonly string[]) => DocumentNode;

/** Returns a node with all its scalars, at any depth, replaced. */
export const withScalars = (node: MapNode, change: ScalarChange): MapNode => ({
  ...node,
  fields: node.fields.map(([name, value]): NamedNode => [name, changedNode(value, [name], change)]),
});

function changedNode(node: DocumentNode, names: readonly string[], change: ScalarChange): DocumentNode {
  if (typeof node !== "object" || node.kind === "double") return change(node, names);
  if (node.kind === "map") return withScalars(node, change);
  if (node.kind === "repeated") return { ...node, items: node.items.map((item) => changedNode(item, names, change)) };
  const items = node.items.map(([name, item]): NamedNode => [name, changedNode(item, [...names, name], change)]);
  return { ...node, items };
}
