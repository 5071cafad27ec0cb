import { isDeepStrictEqual } from "node:util";
import { MASKED } from "../lib/masked.ts";
import { type DocumentNode, fieldOf, itemsIn, type MapNode, map, type NamedNode } from "./document-node.ts";

/** The elements of documents whose values are secrets. `***` stands for the present value. */
const SECRETS: ReadonlySet<string> = new Set([
  "httpPassword",
  "awsAccessKey",
  "awsSecretKey",
  "proxyPassword",
  "accountKey",
  "password",
  "apiKey",
]);

const isMap = (node: DocumentNode | undefined): node is MapNode => typeof node === "object" && node.kind === "map";

/** Returns a document with `***` for each secret, at any depth. */
export function withoutSecrets(node: MapNode): MapNode {
  return { ...node, fields: node.fields.map(([name, value]): NamedNode => [name, masked(name, value)]) };
}

function masked(name: string, value: DocumentNode): DocumentNode {
  if (SECRETS.has(name)) return value === "" ? value : MASKED;
  if (typeof value !== "object") return value;
  switch (value.kind) {
    case "double":
      return value;
    case "list":
      return { ...value, items: value.items.map(([item, inner]): NamedNode => [item, masked(item, inner)]) };
    case "repeated":
      return { ...value, items: value.items.map((item) => masked(name, item)) };
    case "map":
      return withoutSecrets(value);
  }
}

/** Returns a document as `withoutSecrets` does, and without the values of vendor parameters, which may be secrets too. */
export function withoutValues(node: MapNode): MapNode {
  const plain = withoutSecrets(node);
  const fields = plain.fields.map(([name, value]): NamedNode => {
    if (name !== "vendorParameters" || typeof value !== "string" || value === "") return [name, value];
    const keys = value.split("&").map((pair) => pair.split("=", 1)[0] ?? "");
    return [name, keys.map((key) => `${key}=${MASKED}`).join("&")];
  });
  return { ...plain, fields };
}

/** Replaces each `***`, at any depth, by the secret at its place in the present document. */
export function withSecrets(node: MapNode, present: MapNode | undefined): MapNode {
  const fields = node.fields.flatMap(([name, value]): NamedNode[] => {
    const before = present && fieldOf(present, name);
    if (SECRETS.has(name) && value === MASKED) return before === undefined ? [] : [[name, before]];
    if (name === "vendorParameters" && typeof value === "string" && value.includes(`=${MASKED}`))
      return [[name, withVendorSecrets(value, typeof before === "string" ? before : "")]];
    return [[name, secretsInside(value, before)]];
  });
  return { ...node, fields };
}

/** Replaces `***` in `KEY=***&…` by the present value of the key. */
function withVendorSecrets(value: string, present: string): string {
  const before = new Map(present.split("&").map((pair) => [pair.split("=", 1)[0], pair]));
  return value
    .split("&")
    .map((pair) => (pair.endsWith(`=${MASKED}`) ? (before.get(pair.split("=", 1)[0]) ?? pair) : pair))
    .join("&");
}

function secretsInside(value: DocumentNode, before: DocumentNode | undefined): DocumentNode {
  if (typeof value !== "object" || value.kind === "double") return value;
  if (value.kind === "map") return withSecrets(value, isMap(before) ? before : undefined);
  const items = value.kind === "list" ? value.items.map(([, item]) => item) : value.items;
  const present = itemsIn(before);
  const filled = items.map((item, i) => secretsInside(item, counterpart(item, i, present, items.length)));
  return value.kind === "repeated"
    ? { ...value, items: filled }
    : { ...value, items: value.items.map(([name, item], i): NamedNode => [name, filled[i] ?? item]) };
}

/**
 * Returns the item of the present list that a new item continues: the one that differs in secrets alone, else the one
 * at its place in a list of the same length. An item of a list that was changed in both ways gets no secret: it could
 * be that of another server.
 */
function counterpart(
  item: DocumentNode,
  i: number,
  present: readonly DocumentNode[],
  count: number,
): DocumentNode | undefined {
  const plain = withoutSecretsOf(item);
  const same = present.find((one) => isDeepStrictEqual(withoutSecretsOf(one), plain));
  return same ?? (present.length === count ? present[i] : undefined);
}

const withoutSecretsOf = (node: DocumentNode): DocumentNode =>
  isMap(node)
    ? map(
        node.fields.filter(([name]) => !SECRETS.has(name)),
        node.attributes,
      )
    : node;
