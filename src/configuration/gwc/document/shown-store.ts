import type { FieldTypes } from "../../fields/gwc-elements.ts";
import { BLOB_STORE_ROOTS } from "../../fields/gwc-store-elements.ts";
import { fieldOf, type NamedNode, type RootedDocument } from "../document-node.ts";
import { type DocumentReader, withoutSecrets } from "../secrets.ts";

const TABLES: Readonly<Record<string, FieldTypes>> = BLOB_STORE_ROOTS;

/** The values that GeoWebCache shows of a store that does not set them, by root element. */
const SHOWN: Readonly<Record<string, Readonly<Record<string, number | boolean>>>> = {
  FileBlobStore: { fileSystemBlockSize: 0 },
  CompactBlobStore: { fileSystemBlockSize: 0 },
  AzureBlobStore: { useHTTPS: false },
  GoogleCloudStorageBlobStore: { useDefaultCredentialsChain: false },
  MbtilesBlobStore: {
    poolSize: 0,
    poolReaperIntervalMs: 0,
    rowRangeCount: 0,
    columnRangeCount: 0,
    eagerDelete: false,
    useCreateTime: false,
    executorConcurrency: 0,
    gzipVector: false,
  },
};

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
  const order = Object.keys(TABLES[root] ?? {});
  const defaults: Readonly<Record<string, number | boolean>> = { enabled: false, ...SHOWN[root] };
  const known = order.flatMap((name): NamedNode[] => {
    const value = fieldOf(node, name) ?? defaults[name];
    if (value === undefined) return [];
    return [[name, root === "S3BlobStore" && name === "access" ? String(value).toUpperCase() : value]];
  });
  const others = node.fields.filter(([name]) => !order.includes(name));
  const attributes = { default: node.attributes["default"] ?? "false" };
  return { root, node: { kind: "map", attributes, fields: [...known, ...others] } };
}
