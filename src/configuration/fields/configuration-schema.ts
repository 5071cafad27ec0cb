import type * as z from "zod";
import { JOB_MOMENTS } from "../../jobs/job-event.ts";
import { ClusterSchema } from "./cluster-schema.ts";
import { DatabaseSchema } from "./database-schema.ts";
import { flag, httpUrl, list, MAX_SECONDS, map, oneOf, optional, sentence, someOf, text, whole } from "./fields.ts";
import { GridSetSchema } from "./grid-set-schema.ts";
import { LayerDefaultsSchema } from "./layer-defaults-schema.ts";
import { LayerSchema } from "./layer-schema.ts";
import { PurgeSchema } from "./purge-schema.ts";
import { DiskQuotaSchema, EvictionSchema } from "./quota-schema.ts";
import { CompatSchema, HtpasswdSchema, ServerSchema, UserSchema } from "./server-schema.ts";
import { InspireSchema, ServiceInformationSchema } from "./service-schema.ts";
import { StoreItemSchema } from "./stores-schema.ts";

const JobsSchema = map({
  maxRunningTasks: whole(1, 4096)
    .default(32)
    .describe("The largest number of tasks that run at once, of all jobs together."),
  maxThreadCount: whole(1, 4096).default(128).describe("The largest threadCount of one request."),
  outageLimitSeconds: whole(0, MAX_SECONDS)
    .default(3600)
    .describe("How long jobs wait for an upstream that is down before they are aborted."),
  historyDays: whole(0, 36_500).default(30).describe("The days for which ended jobs stay in the history."),
  historyJobs: whole(1, 100_000_000).default(1_000_000).describe("The number of newest jobs that the history holds."),
  historyMiB: whole(1, 1_000_000).default(1024).describe("The largest space of ended jobs in the state database."),
  confirmTiles: whole(0)
    .default(10_000_000)
    .describe("A seed or reseed by `/api/v1` or the command line with more tiles than this needs a confirmation."),
});

const StoreSchema = map({
  fsync: flag.default(false).describe("Tiles survive a power loss, at the price of a disk flush for each tile."),
  shared: flag.default(false).describe("Another program writes into the store: hits and seeds check the disk."),
  undoSeconds: whole(0, MAX_SECONDS)
    .default(600)
    .describe("The time for which truncated tiles stay on the disk, so that a truncation can be undone."),
});

const StateSchema = map({
  type: oneOf(["embedded", "postgres"])
    .default("embedded")
    .describe("The place of the state: a file of `dataDir`, or PostgreSQL."),
  url: optional(text).describe(
    "The address of the database, such as `postgres://account:password@host:5432/database`. It is not shown.",
  ),
});

export const WebhookSchema = map({
  url: text
    .refine((url) => httpUrl(url) !== undefined, sentence("expected an address with http:// or https://"))
    .describe("The address that gets the events. It is not shown, because it may contain a key."),
  events: someOf(oneOf([...JOB_MOMENTS, "ended"]))
    .default(["ended"])
    .describe("The events to send. `ended` stands for all three kinds of end."),
  layers: optional(someOf(text)).describe("The layers whose events are sent. Default: all."),
  secret: text.describe("The key of the signature of each delivery."),
});

const LogSchema = map({
  maskAddresses: flag
    .default(false)
    .describe(
      "The log and the record of activity have the network of a client instead of its address: the first 24 bits of IPv4, 48 of IPv6.",
    ),
});

const ActivitySchema = map({
  keepDays: whole(1, 36_500).default(90).describe("The days for which the record of activity has a change."),
});

const ConfigSchema = map({
  writable: flag
    .default(false)
    .describe("Layers, grid sets and stores of this file can be changed over HTTP. The file itself is never written."),
});

/**
 * All keys of the configuration, with their limits, defaults and descriptions. Reference, JSON Schema and API follow
 * from it.
 */
export const ConfigurationSchema = map({
  include: list(text)
    .default([])
    .describe(
      "Files with more layers, grid sets, stores, users and webhooks. The last part of a path may contain `*`.",
    ),
  server: ServerSchema.prefault({}).describe("The HTTP server."),
  config: ConfigSchema.prefault({}).describe("Changes of the configuration over HTTP."),
  dataDir: text
    .default("data")
    .describe(
      "The directory of state and tiles. A relative path begins at the directory of the file, the default at the working directory.",
    ),
  users: list(UserSchema).default([]).describe("Accounts. Accounts can also be made over HTTP."),
  htpasswd: optional(HtpasswdSchema).describe("More accounts, from a file of Apache."),
  gridSets: list(GridSetSchema).default([]).describe("Grid sets beside the built-in ones."),
  layerDefaults: optional(LayerDefaultsSchema).describe("Values of layers for the keys that a layer does not have."),
  layers: optional(list(LayerSchema)).describe("The layers. Without a file: the demo layers."),
  diskQuota: DiskQuotaSchema.prefault({}).describe("The quota in force until a request sets a quota."),
  eviction: EvictionSchema.prefault({}).describe("How clean-ups keep the quota, and the tiles that they do not evict."),
  jobs: JobsSchema.prefault({}).describe("Limits of jobs and of their history."),
  activity: ActivitySchema.prefault({}).describe("The record of changes and refused requests."),
  log: LogSchema.prefault({}).describe("What the log says about clients."),
  compat: CompatSchema.prefault({}).describe("Compatibility with older clients."),
  serviceInformation: ServiceInformationSchema.prefault({}).describe("The description of the server in capabilities."),
  inspire: optional(InspireSchema).describe("Makes WMS and WMTS view services of INSPIRE."),
  state: StateSchema.prefault({}).describe("The database of jobs, usage and accounts."),
  databases: list(DatabaseSchema)
    .default([])
    .describe("PostgreSQL databases with an outbox, from which the server reads changes of the data."),
  store: StoreSchema.prefault({}).describe("Settings of all stores."),
  stores: optional(list(StoreItemSchema)).describe("The places of tiles. Default: a directory of dataDir."),
  cluster: optional(ClusterSchema).describe("Makes this server one of several nodes on one database."),
  purge: PurgeSchema.default([]).describe("Services that remove copies of changed tiles: CDNs, and caches in front."),
  webhooks: list(WebhookSchema).default([]).describe("Addresses that get the events of jobs."),
});

export type ConfigurationDocument = z.output<typeof ConfigurationSchema>;
export type DatabaseDocument = ConfigurationDocument["databases"][number];
export type LogOptions = ConfigurationDocument["log"];
export type ActivityOptions = ConfigurationDocument["activity"];
export type WebhookDocument = ConfigurationDocument["webhooks"][number];
