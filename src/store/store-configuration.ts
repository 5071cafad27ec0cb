import { etagOf } from "../lib/etag.ts";
import { MASKED } from "../lib/masked.ts";
import type { StoreOptions } from "./store-options.ts";

/** Returns a store as the configuration file has stores: defaults filled in, secrets masked. */
export function storeConfiguration(store: StoreOptions): Readonly<Record<string, unknown>> {
  if (store.type !== "s3") return { ...store };
  const { namesFile: _, timeoutMs, credentials, caFile, diskTier, serverSideEncryption, ...plain } = store;
  return {
    ...plain,
    accessKeyId: credentials && MASKED,
    secretAccessKey: credentials && MASKED,
    sessionToken: credentials?.sessionToken && MASKED,
    ca: caFile,
    serverSideEncryption: serverSideEncryption?.algorithm,
    kmsKeyId: serverSideEncryption?.kmsKeyId,
    timeoutSeconds: timeoutMs / 1000,
    diskTier: diskTier && { path: diskTier.path, sizeMiB: diskTier.limitBytes / 2 ** 20 },
  };
}

/** Returns the entity tag of a store's configuration. Secrets do not change the tag, as in `layerTag`. */
export const storeTag = (store: StoreOptions): string => etagOf(JSON.stringify(storeConfiguration(store)));
