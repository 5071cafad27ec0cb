import type { LayerName } from "../../layer/tile-set.ts";

/** The units of a quota, base 1024 (`docs/reference/wire-format.md`, Disk quota). */
export type StorageUnit = "B" | "KiB" | "MiB" | "GiB" | "TiB";
export type CleanUpUnit = "SECONDS" | "MINUTES" | "HOURS" | "DAYS";
export type ExpirationPolicy = "LRU" | "LFU";

/**
 * `value` is a decimal as given (with an exponent written out), so that declarative tools read back the value that they
 * put.
 */
export interface Quota {
  readonly value: string;
  readonly units: StorageUnit;
}

export interface LayerQuota {
  readonly layer: LayerName;
  readonly expirationPolicyName: ExpirationPolicy;
  readonly quota: Quota;
}

/** The global disk quota configuration, with the fields in the order of the classic interface. */
export interface QuotaConfiguration {
  readonly enabled: boolean;
  readonly cacheCleanUpFrequency: number;
  readonly cacheCleanUpUnits: CleanUpUnit;
  readonly maxConcurrentCleanUps: number;
  readonly globalExpirationPolicyName: ExpirationPolicy;
  readonly globalQuota: Quota;
  readonly layerQuotas: readonly LayerQuota[];
}

/** The fields in the order of the classic interface. */
export const QUOTA_FIELDS = [
  "enabled",
  "cacheCleanUpFrequency",
  "cacheCleanUpUnits",
  "maxConcurrentCleanUps",
  "globalExpirationPolicyName",
  "globalQuota",
  "layerQuotas",
] as const satisfies readonly (keyof QuotaConfiguration)[];

/**
 * The root names of a quota document (`docs/reference/wire-format.md`, Disk quota): the name in the classic interface,
 * the name in GWC's documentation, and the name that GWC sends.
 */
export const QUOTA_ROOTS = [
  "cacheQuotaConfiguration",
  "gwcQuotaConfiguration",
  "org.geowebcache.diskquota.DiskQuotaConfig",
] as const;
export type QuotaRoot = (typeof QUOTA_ROOTS)[number];

/**
 * The written form of a quota: `value` and `units` as in the classic interface, or `bytes`, which GWC writes since
 * 1.12.
 */
export const QUOTA_FORMS = ["value-units", "bytes"] as const;
export type QuotaForm = (typeof QUOTA_FORMS)[number];

/** The fields of a PUT. In globalQuota, value or units may be absent; then the current setting applies. */
export type QuotaChange = {
  readonly [K in Exclude<keyof QuotaConfiguration, "globalQuota">]?: QuotaConfiguration[K];
} & { readonly globalQuota?: Partial<Quota> };

/** GWC's defaults (`docs/reference/wire-format.md`, Disk quota). */
export const DEFAULT_QUOTA: QuotaConfiguration = {
  enabled: false,
  cacheCleanUpFrequency: 10,
  cacheCleanUpUnits: "SECONDS",
  maxConcurrentCleanUps: 2,
  globalExpirationPolicyName: "LFU",
  globalQuota: { value: "500", units: "MiB" },
  layerQuotas: [],
};

/** Returns the current configuration with a change applied. */
export function applyQuotaChange(current: QuotaConfiguration, change: QuotaChange): QuotaConfiguration {
  return { ...current, ...change, globalQuota: { ...current.globalQuota, ...change.globalQuota } };
}
