import { type DocumentNode, fieldOf, itemsOf, type MapNode, numberOf } from "./document-node.ts";

/** A part of the configuration file: the value of `layers[i]` or `gridSets[i]`. */
export type Content = Readonly<Record<string, unknown>>;

export const isMapNode = (node: DocumentNode): node is MapNode => typeof node === "object" && node.kind === "map";

/** Returns a map without its undefined members. */
export function withoutUndefined(members: Content): Content {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) given[name] = value;
  return given;
}

export function numberField(node: MapNode, name: string): number | undefined {
  const value = fieldOf(node, name);
  return value === undefined ? undefined : numberOf(value);
}

/** Returns the texts of a list field. Undefined if the list is empty or missing. */
export function texts(node: MapNode, name: string): readonly string[] | undefined {
  const given = itemsOf(node, name).map(String);
  return given.length === 0 ? undefined : given;
}
