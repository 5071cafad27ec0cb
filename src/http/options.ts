export type Role = "admin" | "operator" | "viewer";

export interface User {
  readonly name: string;
  /** `scrypt:…` (our own form) or a bcrypt hash (`$2y$…`). */
  readonly passwordHash: string;
  readonly roles: readonly Role[];
}

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** Normalised: "/" or "/geowebcache" (no trailing slash), longest first. */
  readonly mounts: readonly string[];
  /** X-Forwarded-Host and -Proto name the address that was asked. */
  readonly trustProxy: boolean;
  readonly allowedOrigins: readonly string[];
  /** Bytes of tiles kept in memory. */
  readonly memoryTierBytes: number;
  /** Processes that answer requests, on one port. */
  readonly workers: number;
}

export interface CompatOptions {
  readonly quotaRoot: "cacheQuotaConfiguration" | "gwcQuotaConfiguration" | "org.geowebcache.diskquota.DiskQuotaConfig";
  readonly quotaForm: "value-units" | "bytes";
}
