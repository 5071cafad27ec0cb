import type { Layer } from "../layer/layer.ts";
import type { QuotaConfiguration } from "../quota/quota-configuration.ts";

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
  readonly trustProxy: boolean;
  readonly allowedOrigins: readonly string[];
  /** Bytes of tiles kept in memory. */
  readonly memoryTierBytes: number;
}

export interface JobOptions {
  readonly maxRunningTasks: number;
  readonly maxThreadCount: number;
  readonly outageLimitSeconds: number;
  readonly historyDays: number;
}

export interface CompatOptions {
  readonly quotaRoot: "cacheQuotaConfiguration" | "gwcQuotaConfiguration" | "org.geowebcache.diskquota.DiskQuotaConfig";
  readonly quotaForm: "value-units" | "bytes";
}

/** Everything that one running server is built from: checked, defaults filled, plain data (it travels to the threads). */
export interface Configuration {
  /** The file it came from; undefined: the demo layers. */
  readonly file: string | undefined;
  readonly server: ServerOptions;
  /** Absolute. */
  readonly dataDir: string;
  readonly users: readonly User[];
  readonly layers: readonly Layer[];
  readonly jobs: JobOptions;
  readonly compat: CompatOptions;
  readonly store: { readonly fsync: boolean; readonly shared: boolean };
  /** The initial quota, while none is persisted. */
  readonly diskQuota: QuotaConfiguration;
  /** Told to the operator once, at start and reload. */
  readonly warnings: readonly string[];
}
