import type { Content } from "../content.ts";
import { fieldOf, type MapNode, type RootedDocument, textOf } from "../document-node.ts";
import { ownContent } from "../own-document.ts";

/** GeoWebCache's kinds of stores that Nuthatch has, and a store of bundles, which GeoWebCache lacks. */
const KINDS: ReadonlySet<string> = new Set(["FileBlobStore", "CompactBlobStore", "S3BlobStore"]);

/** The id of the store that GeoWebCache has if no store is configured. */
const RESERVED = "_DEFAULT_STORE_";

/** Fields of GeoWebCache's documentation that GeoWebCache itself refuses at its start. */
const REFUSED_OF_SWIFT = ["provider", "keystoneDomainName"];

/** Returns whether a store is used: it was made under `/api/v1`, or is enabled as a store of GeoWebCache. */
export const isUsable = (document: RootedDocument): boolean =>
  ownContent(document) !== undefined || (isStoreEnabled(document.node) && KINDS.has(document.root));

/** Returns whether a store of GeoWebCache is enabled. Without the element it is disabled. */
export const isStoreEnabled = (node: MapNode): boolean => fieldOf(node, "enabled") === true;

/** Returns a store in the form of the configuration file. The configuration checks the values. */
export const storeContent = (document: RootedDocument): Content => ownContent(document) ?? contentOfStore(document);

function contentOfStore({ root, node }: RootedDocument): Content {
  const id = textOf(node, "id") ?? "";
  const path = textOf(node, "baseDirectory") ?? "";
  if (root === "CompactBlobStore") return { type: "compact", id, path };
  if (root !== "S3BlobStore") return { type: "file", id, path, layout: layoutOf(node) };
  const endpoint = textOf(node, "endpoint") || undefined;
  const connections = textOf(node, "maxConnections");
  const fields = {
    type: "s3",
    id,
    bucket: textOf(node, "bucket") ?? "",
    prefix: textOf(node, "prefix") ?? "",
    accessKeyId: textOf(node, "awsAccessKey") || undefined,
    secretAccessKey: textOf(node, "awsSecretKey") || undefined,
    endpoint: endpoint?.replace(/\/$/, ""),
    // A service at a configured address has no host name for each bucket.
    pathStyle: endpoint === undefined ? undefined : true,
    connections: connections === undefined ? undefined : Number(connections),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function layoutOf(node: MapNode): string {
  const type = (textOf(node, "pathGeneratorType") || "DEFAULT").toUpperCase();
  return type === "DEFAULT" ? "gwc" : type.toLowerCase();
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
  if (!KINDS.has(root))
    return isStoreEnabled(node)
      ? `enabled: expected false, as Nuthatch has no stores of the kind ${root}: it only keeps and shows them`
      : undefined;
  if (root === "S3BlobStore") {
    const access = textOf(node, "access");
    if (access !== undefined && !/^(?:PUBLIC|PRIVATE)$/i.test(access))
      return `access: expected PUBLIC or PRIVATE, got ${JSON.stringify(access)}`;
    return (textOf(node, "bucket") ?? "") === "" ? "bucket: expected a text" : undefined;
  }
  if ((textOf(node, "baseDirectory") ?? "") === "") return "baseDirectory: expected the directory of the tiles";
  const type = textOf(node, "pathGeneratorType");
  if (type !== undefined && !/^(?:DEFAULT|TMS|SLIPPY)$/.test(type))
    return `pathGeneratorType: expected DEFAULT, TMS or SLIPPY, got ${JSON.stringify(type)}`;
  return undefined;
}

/** Converts a path in a store of the configuration file to a path in GeoWebCache's document. */
export const storeElementPath = (path: string): string =>
  path
    .replace(/^path$/, "baseDirectory")
    .replace(/^layout$/, "pathGeneratorType")
    .replace(/^accessKeyId$/, "awsAccessKey")
    .replace(/^secretAccessKey$/, "awsSecretKey")
    .replace(/^connections$/, "maxConnections");
