export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** Normalized paths, the longest first: "/" or a path such as "/geowebcache" without trailing slash. */
  readonly mounts: readonly string[];
  /**
   * The connections whose forwarded headers are used (`forwarded.ts`): none, all, or those from the listed addresses
   * and networks (`10.0.0.0/8`).
   */
  readonly trustProxy: boolean | readonly string[];
  readonly allowedOrigins: readonly string[];
  /** The limit of the memory tier. */
  readonly memoryTierMiB: number;
  /** The number of processes that answer requests on the port. */
  readonly workers: number;
}

export interface CompatOptions {
  readonly quotaRoot: "cacheQuotaConfiguration" | "gwcQuotaConfiguration" | "org.geowebcache.diskquota.DiskQuotaConfig";
  readonly quotaForm: "value-units" | "bytes";
  /** See `ServiceOptions.isCiteCompliant`. */
  readonly wmtsCiteCompliant: boolean;
}
