import type { KeptUser } from "../account/user.ts";
import type { ChangesDatabase } from "../feed/outbox/changes-database.ts";
import type { GridSet } from "../grid/grid-set.ts";
import type { Webhook } from "../jobs/job-event.ts";
import type { Layer } from "../layer/layer.ts";
import type { InspireOptions, ServiceInformation } from "../layer/service-information.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import type { PurgeService } from "../purge/purge-service.ts";
import type { EvictionOptions } from "../quota/configuration/eviction-options.ts";
import type { QuotaConfiguration } from "../quota/configuration/quota-configuration.ts";
import type { StateOptions } from "../state/state-options.ts";
import type { StoreOptions } from "../store/store-options.ts";
import type { ClusterOptions } from "./cluster-options.ts";
import type { ActivityOptions, LogOptions } from "./fields/configuration-schema.ts";
import type { CompatOptions, ServerOptions } from "./fields/server-schema.ts";
import type { ReadXmlFile } from "./geowebcache/directory.ts";
import type { ConfiguredObject } from "./gwc/configured-object.ts";
import type { Origin } from "./problem.ts";

export interface GeoWebCacheOptions {
  /** Absolute paths of the directory and of its `geowebcache.xml`. */
  readonly directory: string;
  readonly file: string;
  /** The file as it was read. Undefined if the objects did not come from the file. */
  readonly read: ReadXmlFile | undefined;
}

/**
 * The validated configuration of one running server, with defaults. It is plain data, because it is sent to threads and
 * processes.
 */
export interface Configuration {
  /**
   * Rises with each change of the configuration and with each start: the time of the load in milliseconds, or one more
   * than the revision before. Equal in all processes and nodes of a server.
   */
  readonly revision: number;
  /** The configuration file. Undefined if the server shows the demo layers. */
  readonly file: string | undefined;
  /** The directory of GeoWebCache whose file is the configuration. Absent without such a directory. */
  readonly geowebcache?: GeoWebCacheOptions;
  readonly server: ServerOptions;
  /** An absolute path. */
  readonly dataDir: string;
  readonly users: readonly KeptUser[];
  readonly layers: readonly Layer[];
  /** The configured grid sets. A configured grid set hides the built-in one with the same id. */
  readonly gridSets: readonly GridSet[];
  /** The objects that requests have made. Enabled ones are also in the other members. */
  readonly objects: readonly ConfiguredObject[];
  /**
   * Whether requests may change objects of the file. The file itself stays unchanged: stored objects replace its parts.
   */
  readonly isWritable: boolean;
  /** The objects that replace a part of the file, by `overriddenKey`. */
  readonly overridden: ReadonlySet<string>;
  /** The file and line of each layer of the files, by name; see `layerOrigin`. Empty for the demo layers. */
  readonly layerOrigins: ReadonlyMap<string, Origin>;
  /** The included files that have grid sets and stores, by `overriddenKey`. */
  readonly includedIn: ReadonlyMap<string, string>;
  readonly jobs: JobOptions;
  readonly activity: ActivityOptions;
  readonly log: LogOptions;
  readonly compat: CompatOptions;
  readonly serviceInformation: ServiceInformation;
  readonly inspire?: InspireOptions;
  readonly state: StateOptions;
  /** Absent if this server is the only one that uses its database. */
  readonly cluster?: ClusterOptions;
  /** The databases from whose outboxes changes are read. */
  readonly databases: readonly ChangesDatabase[];
  /** At least one store. The first is the store of layers that name no store. */
  readonly stores: readonly StoreOptions[];
  readonly store: { readonly fsync: boolean; readonly shared: boolean; readonly undoSeconds: number };
  /** The quota that is in force until the state database has one. */
  readonly diskQuota: QuotaConfiguration;
  readonly eviction: EvictionOptions;
  readonly webhooks: readonly Webhook[];
  /** The services that remove copies of tiles downstream. */
  readonly purge: readonly PurgeService[];
  /** Warnings for the operator, printed once at start and at each reload. */
  readonly warnings: readonly string[];
}

/**
 * The parts of a configuration that the coordinator needs. The omitted documents of objects are larger than the layers.
 */
export type CoordinatorConfiguration = Omit<Configuration, "objects" | "layerOrigins">;

export function coordinatorConfiguration(configuration: Configuration): CoordinatorConfiguration {
  const { objects: _, layerOrigins: __, ...needed } = configuration;
  return needed;
}
