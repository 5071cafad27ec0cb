import type { StoreOptions } from "../../../store/store-options.ts";
import { map, type RootedDocument } from "../document-node.ts";

/** The block size that GeoWebCache's file stores have. Nuthatch reads the block size from the file system instead. */
const BLOCK_BYTES = 4096;

/**
 * Returns a store of the configuration file as GeoWebCache's blob store, with its secrets. A compact store, which
 * GeoWebCache lacks, becomes a `CompactBlobStore`. `isDefault` is true for the store of layers that name no store.
 */
export function blobStoreDocument(store: StoreOptions, isDefault: boolean): RootedDocument {
  const head = [
    ["id", store.id],
    ["enabled", true],
  ] as const;
  const attributes = { default: String(isDefault) };
  switch (store.type) {
    case "file":
    case "compact": {
      const layout = store.type === "compact" || store.layout === "gwc" ? undefined : store.layout.toUpperCase();
      const fields = [
        ...head,
        ["baseDirectory", store.path],
        ["fileSystemBlockSize", BLOCK_BYTES],
        ["pathGeneratorType", layout],
      ] as const;
      return { root: store.type === "file" ? "FileBlobStore" : "CompactBlobStore", node: map(fields, attributes) };
    }
    case "s3": {
      const fields = [
        ...head,
        ["bucket", store.bucket],
        ["prefix", store.prefix === "" ? undefined : store.prefix],
        ["awsAccessKey", store.credentials?.accessKeyId],
        ["awsSecretKey", store.credentials?.secretAccessKey],
        ["access", "PRIVATE"],
        ["useHTTPS", String(store.endpoint?.startsWith("http:") !== true)],
        ["endpoint", store.endpoint],
      ] as const;
      return { root: "S3BlobStore", node: map(fields, attributes) };
    }
  }
}
