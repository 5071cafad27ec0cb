import type { KeptUser } from "../account/user.ts";
import type { GridSet } from "../grid/grid-set.ts";
import type { Webhook } from "../jobs/job-event.ts";
import type { Layer } from "../layer/layer.ts";
import type { ServiceInformation } from "../layer/service-information.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import type { EvictionOptions } from "../quota/eviction-options.ts";
import type { QuotaConfiguration } from "../quota/quota-configuration.ts";
import type { StateOptions } from "../state/state-options.ts";
import type { StoreOptions } from "../store/store-options.ts";
import type { ClusterOptions } from "./cluster-options.ts";
import type { ReadXmlFile } from "./geowebcache/directory.ts";
import type { ConfiguredObject } from "./gwc/configured-object.ts";
import type { Origin } from "./problem.ts";
import type { CompatOptions, ServerOptions } from "./server-options.ts";

export interface GeoWebCacheOptions {
  /** Absolute paths of the directory and of its `geowebcache.xml`. */
  readonly directory: string;
  readonly file: string;
  /** Undefined: the objects did not come from the file. */
  readonly read: ReadXmlFile | undefined;
}

/**
 * The configuration of one running server: validated, defaults filled in. It is plain data, because it is sent to the
 * threads.
 */
export interface Configuration {
  /** The configuration file; undefined if the server shows the demo layers. */
  readonly file: string | undefined;
  /** The directory of GeoWebCache whose file is the configuration; undefined: there is none. */
  readonly geowebcache?: GeoWebCacheOptions;
  readonly server: ServerOptions;
  /** An absolute path. */
  readonly dataDir: string;
  readonly users: readonly KeptUser[];
  readonly layers: readonly Layer[];
  /** The configured grid sets. A configured one hides the built-in one of its id. */
  readonly gridSets: readonly GridSet[];
  /** The objects that requests have made. The other members include those that are enabled. */
  readonly objects: readonly ConfiguredObject[];
  /** Whether requests may change what the file defines. The file stays unchanged: stored objects replace its parts. */
  readonly isWritable: boolean;
  /** The objects that replace a part of the file, by `overriddenKey`. */
  readonly overridden: ReadonlySet<string>;
  /** Where each layer of the files stands, by name; see `layerOrigin`. Empty for the demo layers. */
  readonly layerOrigins: ReadonlyMap<string, Origin>;
  /** The files of the grid sets and stores that are in included files, by `overriddenKey`. */
  readonly includedIn: ReadonlyMap<string, string>;
  readonly jobs: JobOptions;
  readonly compat: CompatOptions;
  readonly serviceInformation: ServiceInformation;
  readonly state: StateOptions;
  /** Absent: this server alone uses its database. */
  readonly cluster?: ClusterOptions;
  /** At least one. The first is the store of layers that name none. */
  readonly stores: readonly StoreOptions[];
  readonly store: { readonly fsync: boolean; readonly shared: boolean; readonly undoSeconds: number };
  /** The quota in force until one is stored in the state database. */
  readonly diskQuota: QuotaConfiguration;
  readonly eviction: EvictionOptions;
  readonly webhooks: readonly Webhook[];
  /** Warnings for the operator, printed once at start and at each reload. */
  readonly warnings: readonly string[];
}

/** The parts of a configuration that the coordinator needs. The documents of objects take more than the layers. */
export type CoordinatorConfiguration = Omit<Configuration, "objects" | "layerOrigins">;

export function coordinatorConfiguration(configuration: Configuration): CoordinatorConfiguration {
  const { objects: _, layerOrigins: __, ...needed } = configuration;
  return needed;
}
