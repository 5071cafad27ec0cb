import { JOB_MOMENTS } from "../../jobs/job-event.ts";
import { PNG_COMPRESSIONS } from "../../layer/layer.ts";
import { CASE_RULES } from "../../layer/parameter-filter.ts";
import { CLEAN_UP_UNITS, EXPIRATION_POLICIES, STORAGE_UNITS } from "../../quota/quota-validation.ts";
import { type Fields, type Static, Type } from "./shape.ts";

/** Defines a map of the configuration file. `description`s are for readers; the builders fill in defaults. */
const strict = <P extends Fields>(properties: P) => Type.Object(properties);
const optional = Type.Optional;
const whole = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
/** The greatest number of single precision (IEEE 754). */
const MAX_FLOAT = 2 ** 128 - 2 ** 104;
const MAX_SECONDS = 10 * 366 * 86_400;
/** Seconds for all zooms, or rules by zoom. */
const expiry = (least: number) =>
  Type.Union([
    whole(least, MAX_SECONDS),
    Type.Array(strict({ minZoom: whole(0, 255), seconds: whole(least, MAX_SECONDS) }), { minItems: 1 }),
  ]);
export type ExpiryDocument = Static<ReturnType<typeof expiry>>;
const text = Type.String({ minLength: 1 });
const extent = Type.Tuple([Type.Number(), Type.Number(), Type.Number(), Type.Number()]);

const Roles = Type.Array(Type.Enum(["admin", "operator", "viewer"]), { minItems: 1 });

export const ServerSchema = strict({
  host: optional(text),
  port: optional(whole(0, 65535)),
  mounts: optional(Type.Array(text, { minItems: 1 })),
  trustProxy: optional(Type.Boolean()),
  allowedOrigins: optional(Type.Array(text)),
  /** The memory that a full memory tier takes. */
  memoryTierMiB: optional(whole(0, 65536)),
  /** The number of processes that answer requests. */
  workers: optional(whole(1, 64)),
});

export const UserSchema = strict({
  name: text,
  passwordHash: optional(text),
  password: optional(text),
  roles: Roles,
});

export const HtpasswdSchema = strict({ file: text, roles: optional(Roles) });

/** `id`, `srs` and `extent` are required unless a TileMatrixSet document gives them. The builder checks that. */
export const GridSetSchema = strict({
  id: optional(text),
  title: optional(Type.String()),
  /** A file with an OGC TileMatrixSet 2.0 document. */
  tileMatrixSet: optional(text),
  srs: optional(Type.Union([Type.String(), whole(1, 999_999)])),
  extent: optional(extent),
  resolutions: optional(Type.Array(Type.Number(), { minItems: 1 })),
  scaleDenominators: optional(Type.Array(Type.Number(), { minItems: 1 })),
  levels: optional(whole(1, 64)),
  scaleNames: optional(Type.Array(text)),
  metersPerUnit: optional(Type.Number({ exclusiveMinimum: 0 })),
  pixelSize: optional(Type.Number({ exclusiveMinimum: 0 })),
  tileSize: optional(Type.Tuple([whole(1, 4096), whole(1, 4096)])),
  alignTopLeft: optional(Type.Boolean()),
  yCoordinateFirst: optional(Type.Boolean()),
});

const connections = optional(whole(1, 1024));
/** The limit of these connections for jobs. */
const jobConnections = connections;

/** The keys of all sources over HTTP. */
const upstream = {
  url: Type.Union([text, Type.Array(text, { minItems: 1 })]),
  timeoutSeconds: optional(Type.Number({ exclusiveMinimum: 0, maximum: 3600 })),
  connections,
  jobConnections,
  vendorParameters: optional(Type.Record(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
  username: optional(Type.String()),
  password: optional(Type.String()),
  allowPrivateRedirects: optional(Type.Boolean()),
  /** `none`, or the address of an HTTP proxy. */
  proxy: optional(text),
  /** Files in PEM form. */
  ca: optional(text),
  cert: optional(text),
  key: optional(text),
};
const UpstreamSchema = strict(upstream);

export const WmsSourceSchema = strict({
  type: Type.Literal("wms"),
  version: optional(Type.Enum(["1.1.1", "1.3.0"])),
  layers: optional(Type.Array(text, { minItems: 1 })),
  styles: optional(Type.Array(Type.String())),
  transparent: optional(Type.Boolean()),
  ...upstream,
});

export const XyzSourceSchema = strict({
  type: Type.Literal("xyz"),
  subdomains: optional(Type.Array(text, { minItems: 1 })),
  ...upstream,
});

export const WmtsSourceSchema = strict({
  type: Type.Literal("wmts"),
  layer: optional(text),
  style: optional(Type.String()),
  tileMatrixSet: optional(text),
  tileMatrixPrefix: optional(Type.String()),
  tileMatrices: optional(Type.Array(text, { minItems: 1 })),
  format: optional(text),
  ...upstream,
});

export const ArcgisSourceSchema = strict({
  type: Type.Literal("arcgis"),
  mode: optional(Type.Enum(["export", "tile"])),
  /** Only for `mode: export`, like `transparent`. */
  layers: optional(Type.Array(whole(0, 1_000_000), { minItems: 1 })),
  transparent: optional(Type.Boolean()),
  ...upstream,
});

const archive = { file: text, connections, jobConnections };
export const MbtilesSourceSchema = strict({ type: Type.Literal("mbtiles"), ...archive });
export const PmtilesSourceSchema = strict({ type: Type.Literal("pmtiles"), ...archive });

const DemoSourceSchema = strict({
  type: Type.Literal("demo"),
  dataset: Type.Enum(["states", "world"]),
  connections,
  jobConnections,
});

const level = optional(whole(0, 63));
export const GridSubsetSchema = strict({
  gridSet: text,
  extent: optional(extent),
  zoomStart: level,
  zoomStop: level,
});

const normalize = optional(Type.Enum([...CASE_RULES]));
const StringFilterSchema = strict({
  type: Type.Literal("string"),
  key: text,
  default: optional(Type.String()),
  values: Type.Array(Type.String()),
  normalize,
});
const RegexFilterSchema = strict({
  type: Type.Literal("regex"),
  key: text,
  default: optional(Type.String()),
  regex: Type.String(),
  normalize,
});
/** A default in quotes keeps its exact text. */
const numberDefault = optional(Type.Union([Type.Number(), Type.String()]));
const FloatFilterSchema = strict({
  type: Type.Literal("float"),
  key: text,
  default: numberDefault,
  values: optional(Type.Array(Type.Number({ minimum: -MAX_FLOAT, maximum: MAX_FLOAT }))),
  threshold: optional(Type.Number({ exclusiveMinimum: 0 })),
});
const IntegerFilterSchema = strict({
  type: Type.Literal("integer"),
  key: text,
  default: numberDefault,
  values: optional(Type.Array(whole(-(2 ** 31), 2 ** 31 - 1))),
  threshold: optional(whole(1, 2 ** 31 - 1)),
});

const LegendSchema = strict({
  style: optional(Type.String()),
  width: optional(whole(1, 9999)),
  height: optional(whole(1, 9999)),
  format: optional(text),
  url: optional(text),
  minScaleDenominator: optional(Type.Number({ minimum: 0 })),
  maxScaleDenominator: optional(Type.Number({ exclusiveMinimum: 0 })),
});

const percent = optional(Type.Number({ exclusiveMinimum: 0, maximum: 100 }));
const SeedGuardSchema = strict({
  tiles: optional(whole(10, 1_000_000)),
  identicalPercent: percent,
  unlikePercent: percent,
});

/** The shares of the jobs of a layer beside jobs of other layers. */
const LayerJobsSchema = strict({
  weight: optional(Type.Number({ minimum: 0.01, maximum: 100 })),
  maxTasks: optional(whole(1, 4096)),
});

export const LayerSchema = strict({
  name: text,
  title: optional(Type.String()),
  description: optional(Type.String()),
  source: Type.Union([
    WmsSourceSchema,
    XyzSourceSchema,
    WmtsSourceSchema,
    ArcgisSourceSchema,
    MbtilesSourceSchema,
    PmtilesSourceSchema,
    DemoSourceSchema,
  ]),
  gridSubsets: optional(Type.Array(GridSubsetSchema, { minItems: 1 })),
  formats: optional(Type.Array(text, { minItems: 1 })),
  formatsTogether: optional(Type.Boolean()),
  metatile: optional(Type.Tuple([whole(1, 16), whole(1, 16)])),
  gutter: optional(whole(0, 256)),
  parameterFilters: optional(
    Type.Array(Type.Union([StringFilterSchema, RegexFilterSchema, FloatFilterSchema, IntegerFilterSchema])),
  ),
  legends: optional(Type.Array(LegendSchema)),
  jpegQuality: optional(whole(1, 100)),
  pngCompression: optional(Type.Enum([...PNG_COMPRESSIONS])),
  expireCacheSeconds: optional(expiry(0)),
  staleWhileRevalidateSeconds: optional(whole(0, MAX_SECONDS)),
  negativeCacheSeconds: optional(Type.Number({ minimum: 0, maximum: 3600 })),
  seedGuard: optional(SeedGuardSchema),
  jobs: optional(LayerJobsSchema),
  /** Also GWC's codes: -1 no-cache, -2 never expires. */
  expireClientSeconds: optional(expiry(-2)),
  queryable: optional(Type.Boolean()),
  /** GWC's fullWMS: WMS maps of any extent and size. */
  fullWms: optional(Type.Boolean()),
  secured: optional(Type.Boolean()),
});

const quotaAmount = {
  value: Type.Union([Type.Number({ minimum: 0 }), Type.String()]),
  units: Type.Enum([...STORAGE_UNITS]),
};
export const DiskQuotaSchema = strict({
  enabled: optional(Type.Boolean()),
  cacheCleanUpFrequency: optional(whole(1, Number.MAX_SAFE_INTEGER)),
  cacheCleanUpUnits: optional(Type.Enum([...CLEAN_UP_UNITS])),
  maxConcurrentCleanUps: optional(whole(1, Number.MAX_SAFE_INTEGER)),
  globalExpirationPolicyName: optional(Type.Enum([...EXPIRATION_POLICIES])),
  globalQuota: optional(strict({ value: optional(quotaAmount.value), units: optional(quotaAmount.units) })),
  layerQuotas: optional(
    Type.Array(
      strict({
        layer: text,
        expirationPolicyName: Type.Enum([...EXPIRATION_POLICIES]),
        quota: strict(quotaAmount),
      }),
    ),
  ),
});

export const EvictionSchema = strict({
  /** A clean-up begins above the high share of a quota and ends at or below the low share. */
  highWaterPercent: optional(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
  lowWaterPercent: optional(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
  /** Nothing is stored while the store's disk has less free space. */
  minFreeMiB: optional(Type.Number({ minimum: 0 })),
  minFreeInodes: optional(whole(0, Number.MAX_SAFE_INTEGER)),
  pins: optional(
    Type.Array(
      strict({ layer: text, gridSet: optional(text), extent: optional(extent), zoomStart: level, zoomStop: level }),
    ),
  ),
  floors: optional(Type.Array(strict({ layer: text, ...quotaAmount }))),
});

export const JobsSchema = strict({
  maxRunningTasks: optional(whole(1, 4096)),
  maxThreadCount: optional(whole(1, 4096)),
  outageLimitSeconds: optional(whole(0, MAX_SECONDS)),
  historyDays: optional(whole(0, 36_500)),
  historyJobs: optional(whole(1, 100_000_000)),
  historyMiB: optional(whole(1, 1_000_000)),
  confirmTiles: optional(whole(0, Number.MAX_SAFE_INTEGER)),
});

export const CompatSchema = strict({
  quotaRoot: optional(
    Type.Enum(["cacheQuotaConfiguration", "gwcQuotaConfiguration", "org.geowebcache.diskquota.DiskQuotaConfig"]),
  ),
  quotaForm: optional(Type.Enum(["value-units", "bytes"])),
});

export const StoreSchema = strict({
  /** Syncs every tile: tiles survive a power loss, at the price of a disk flush per tile. */
  fsync: optional(Type.Boolean()),
  /** Another program writes into the same store, so hits and seeds check the disk. */
  shared: optional(Type.Boolean()),
  /** The time for which truncated tiles stay on the disk, so that a mass truncation can be undone. */
  undoSeconds: optional(whole(0, MAX_SECONDS)),
});

export const WebhookSchema = strict({
  url: text,
  /** `ended` stands for all three kinds of end. */
  events: optional(Type.Array(Type.Enum([...JOB_MOMENTS, "ended"]), { minItems: 1 })),
  layers: optional(Type.Array(text, { minItems: 1 })),
  secret: text,
});

export const ConfigurationSchema = strict({
  server: optional(ServerSchema),
  dataDir: optional(text),
  users: optional(Type.Array(UserSchema)),
  htpasswd: optional(HtpasswdSchema),
  gridSets: optional(Type.Array(GridSetSchema)),
  layers: optional(Type.Array(LayerSchema)),
  diskQuota: optional(DiskQuotaSchema),
  eviction: optional(EvictionSchema),
  jobs: optional(JobsSchema),
  compat: optional(CompatSchema),
  store: optional(StoreSchema),
  webhooks: optional(Type.Array(WebhookSchema)),
});

export type LayerDocument = Static<typeof LayerSchema>;
export type LegendDocument = Static<typeof LegendSchema>;
export type GridSetDocument = Static<typeof GridSetSchema>;
export type GridSubsetDocument = Static<typeof GridSubsetSchema>;
export type WmsSourceDocument = Static<typeof WmsSourceSchema>;
export type XyzSourceDocument = Static<typeof XyzSourceSchema>;
export type WmtsSourceDocument = Static<typeof WmtsSourceSchema>;
export type ArcgisSourceDocument = Static<typeof ArcgisSourceSchema>;
export type ArchiveSourceDocument = Static<typeof MbtilesSourceSchema> | Static<typeof PmtilesSourceSchema>;
export type UpstreamDocument = Static<typeof UpstreamSchema>;
