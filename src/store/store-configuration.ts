import { contentEtag } from "../lib/http/etag.ts";
import { masked } from "../lib/text/masked.ts";
import { remoteDocument } from "./remote-kinds.ts";
import { isRemote, type StoreOptions } from "./store-options.ts";

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
  return isRemote(store) ? remoteDocument(store) : { ...store };
}

/** Returns the entity tag of a store's configuration. A change of secrets does not change the tag, as in `layerTag`. */
export const storeTag = (store: StoreOptions): string => contentEtag(JSON.stringify(storeConfiguration(store)));
