import type { Machine } from "../lib/machine.ts";
import type { AzureClient } from "./azure/azure-client.ts";
import { type AzureStoreConfiguration, azurePlace } from "./azure/azure-options.ts";
import type { OpenBucket } from "./remote/bucket.ts";
import type { BucketPlace } from "./remote/remote-options.ts";
import type { S3Client } from "./s3/s3-client.ts";
import { type S3StoreConfiguration, s3Document, s3Place } from "./s3/s3-options.ts";

/**
 * A store of tiles as objects of a service. A new kind needs a folder in `store/` and a row in each part of this table,
 * a schema in `configuration/fields/stores-schema.ts` and the elements of its GeoWebCache document in
 * `store-elements.ts` beside it. The compiler finds each part.
 */
export type RemoteOptions = S3StoreConfiguration | AzureStoreConfiguration;
export type RemoteType = RemoteOptions["type"];

/** The code of the kinds, which is loaded on demand. */
export interface RemoteCode {
  readonly s3?: typeof S3Client;
  readonly azure?: typeof AzureClient;
}

/** Loads the code of the kinds of stores. */
export async function loadRemoteCode(stores: readonly RemoteOptions[]): Promise<RemoteCode> {
  const has = (type: RemoteType): boolean => stores.some((store) => store.type === type);
  return {
    ...(has("s3") ? { s3: (await import("./s3/s3-client.ts")).S3Client } : {}),
    ...(has("azure") ? { azure: (await import("./azure/azure-client.ts")).AzureClient } : {}),
  };
}

/** Returns the function that opens the bucket of a store. */
export function bucketOf(store: RemoteOptions, machine: Machine, code: RemoteCode): OpenBucket {
  switch (store.type) {
    case "s3": {
      const { s3: Client = notLoaded(store.type) } = code;
      return (pending) => new Client(store, machine, process.env, pending);
    }
    case "azure": {
      const { azure: Client = notLoaded(store.type) } = code;
      return (pending) => new Client(store, machine, pending);
    }
  }
}

/** Returns where a store has its tiles. */
export function placeOf(store: RemoteOptions): BucketPlace {
  switch (store.type) {
    case "s3":
      return s3Place(store);
    case "azure":
      return azurePlace(store);
  }
}

/** Returns a store as the configuration file describes it, including secrets. */
export function remoteDocument(store: RemoteOptions) {
  const { namesFile: _, timeoutMs, caFile: ca, diskTier, ...plain } = store;
  const common = {
    ca,
    timeoutSeconds: timeoutMs / 1000,
    diskTier: diskTier && { path: diskTier.path, sizeMiB: diskTier.limitBytes / 2 ** 20 },
  };
  switch (plain.type) {
    case "s3": {
      const { credentials: __, serverSideEncryption: ___, ...rest } = plain;
      return { ...rest, ...s3Document(plain), ...common };
    }
    case "azure":
      return { ...plain, ...common };
  }
}

function notLoaded(type: RemoteType): never {
  throw new Error(`the code of stores of type ${type} has not been loaded`);
}
