import type { Content } from "../../lib/is-map.ts";
import type { StoreOptions } from "../../store/store-options.ts";
import { BLOB_STORES, STORE_ELEMENTS, STORE_TYPES, storeNode } from "../fields/elements/store-elements.ts";
import { fieldOf, type MapNode, type NamedNode, type RootedDocument, textOf } from "./document-node.ts";
import { completed, contentOf } from "./element.ts";
import { ownContent } from "./own-document.ts";
import { type DocumentReader, withoutSecrets } from "./secrets.ts";

/** Stores as documents of GeoWebCache. `fields/store-elements.ts` has the elements. */

/** The id of the store that GeoWebCache has if no store is configured. */
const RESERVED = "_DEFAULT_STORE_";

/** Fields of GeoWebCache's documentation that GeoWebCache itself refuses at its start. */
const REFUSED_OF_SWIFT = ["provider", "keystoneDomainName"];

/** The texts that stores of a service need. */
const REQUIRED: ReadonlyMap<string, readonly string[]> = new Map([
  ["S3BlobStore", ["bucket"]],
  ["AzureBlobStore", ["container", "accountName", "accountKey"]],
]);

/** Returns whether a store is used: it was made under `/api/v1`, or is enabled as a store of GeoWebCache. */
export const isUsable = (document: RootedDocument): boolean =>
  ownContent(document) !== undefined || (isStoreEnabled(document.node) && STORE_TYPES.has(document.root));

/** Returns whether a store of GeoWebCache is enabled. Without the element it is disabled. */
export const isStoreEnabled = (node: MapNode): boolean => fieldOf(node, "enabled") === true;

/** Returns a store in the form of the configuration file. The configuration checks the values. */
export function storeContent(document: RootedDocument): Content {
  const own = ownContent(document);
  if (own !== undefined) return own;
  const type = STORE_TYPES.get(document.root) ?? "file";
  const content = { type, ...contentOf(STORE_ELEMENTS[type], document.node) };
  // A service at a configured address has no host name for each bucket.
  return type === "s3" && "endpoint" in content ? { ...content, pathStyle: true } : content;
}

/**
 * Returns a store of the configuration as a document, with its secrets. `isDefault`: layers that name no store use it.
 */
export function storeDocument(store: StoreOptions, isDefault: boolean): RootedDocument {
  const { kind, fields } = storeNode(store);
  const root = [...STORE_TYPES].find(([, type]) => type === store.type)?.[0] ?? "";
  return { root, node: { kind, attributes: { default: String(isDefault) }, fields } };
}

/**
 * Returns a store as GeoWebCache shows it: with defaults, in GeoWebCache's order, with the secrets masked for the
 * reader.
 */
export function shownStore(document: RootedDocument, isDefault: boolean, reader: DocumentReader): RootedDocument {
  const { root, node } = completeStore(document);
  return { root, node: withoutSecrets({ ...node, attributes: { default: String(isDefault) } }, reader) };
}

/**
 * Returns the store's document with secrets and all defaults written out, so that two documents of one store compare
 * equal.
 */
export function completeStore({ root, node }: RootedDocument): RootedDocument {
  const fields = completed(BLOB_STORES[root] ?? {}, node).map(
    ([name, value]): NamedNode => [
      name,
      root === "S3BlobStore" && name === "access" ? String(value).toUpperCase() : value,
    ],
  );
  return { root, node: { kind: "map", attributes: { default: node.attributes["default"] ?? "false" }, fields } };
}

/** Returns why a store is refused that a file may have, or why it cannot work. Undefined if it is accepted. */
export function storeFault({ root, node }: RootedDocument): string | undefined {
  const id = textOf(node, "id") ?? "";
  const isDefault = node.attributes["default"];
  if (id === RESERVED) return `id: expected another id than ${RESERVED}, which is reserved`;
  if (isDefault !== undefined && !/^(?:true|false)$/.test(isDefault))
    return `@default: expected true or false, got ${JSON.stringify(isDefault)}`;
  if (isDefault === "true" && !isStoreEnabled(node)) return "enabled: expected true, as this is the default store";
  const refused =
    root === "SwiftBlobStore" ? REFUSED_OF_SWIFT.find((name) => fieldOf(node, name) !== undefined) : undefined;
  if (refused !== undefined) return `${refused}: expected none, as GeoWebCache does not start with it`;
  if (!STORE_TYPES.has(root))
    return isStoreEnabled(node)
      ? `enabled: expected false, as Nuthatch has no stores of the kind ${root}: it only keeps and shows them`
      : undefined;
  if (root === "S3BlobStore") {
    const access = textOf(node, "access");
    if (access !== undefined && !/^(?:PUBLIC|PRIVATE)$/i.test(access))
      return `access: expected PUBLIC or PRIVATE, got ${JSON.stringify(access)}`;
  }
  const missing = REQUIRED.get(root)?.find((name) => (textOf(node, name) ?? "") === "");
  if (REQUIRED.has(root)) return missing && `${missing}: expected a text`;
  if ((textOf(node, "baseDirectory") ?? "") === "") return "baseDirectory: expected the directory of the tiles";
  const type = textOf(node, "pathGeneratorType");
  if (type !== undefined && !/^(?:DEFAULT|TMS|SLIPPY)$/.test(type))
    return `pathGeneratorType: expected DEFAULT, TMS or SLIPPY, got ${JSON.stringify(type)}`;
  return undefined;
}
