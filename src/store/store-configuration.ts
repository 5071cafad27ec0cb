import { contentEtag } from "../lib/http/etag.ts";
import { masked } from "../lib/text/masked.ts";
import type { S3StoreConfiguration, StoreOptions } from "./store-options.ts";

type Configuration = Readonly<Record<string, unknown>>;

/** Returns a store as the configuration file describes it, with defaults written out and secrets masked. */
export const storeConfiguration = (store: StoreOptions): Configuration =>
  Object.fromEntries(
    Object.entries(storeConfigurationWithSecrets(store)).map(([key, value]) => [key, masked(value, [key])]),
  );

/**
 * Returns a store as the configuration file describes it, including secrets. No answer and no message may contain it.
 */
export function storeConfigurationWithSecrets(store: StoreOptions): Configuration {
  return store.type === "s3" ? s3Configuration(store) : { ...store };
}

/** Returns a store in S3 as the configuration file describes it, including secrets. */
export function s3Configuration(store: S3StoreConfiguration) {
  const { namesFile: _, timeoutMs, credentials, caFile, diskTier, serverSideEncryption, ...plain } = store;
  return {
    ...plain,
    accessKeyId: credentials?.accessKeyId,
    secretAccessKey: credentials?.secretAccessKey,
    sessionToken: credentials?.sessionToken,
    ca: caFile,
    serverSideEncryption: serverSideEncryption?.algorithm,
    kmsKeyId: serverSideEncryption?.kmsKeyId,
    timeoutSeconds: timeoutMs / 1000,
    diskTier: diskTier && { path: diskTier.path, sizeMiB: diskTier.limitBytes / 2 ** 20 },
  };
}

/** Returns the entity tag of a store's configuration. A change of secrets does not change the tag, as in `layerTag`. */
export const storeTag = (store: StoreOptions): string => contentEtag(JSON.stringify(storeConfiguration(store)));
