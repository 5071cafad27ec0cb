export const ROLES = ["admin", "operator", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export interface User {
  readonly name: string;
  /** `scrypt:…` (our own form) or a bcrypt hash (`$2y$…`). */
  readonly passwordHash: string;
  readonly roles: readonly Role[];
}

/** The kinds of places that name users. `environment`: the variables NUTHATCH_ADMIN_USER and NUTHATCH_ADMIN_PASSWORD. */
export const USER_PLACES = ["configuration", "htpasswd", "environment"] as const;

/** A user, and the place that names the user. */
export interface KeptUser extends User {
  readonly keptIn: UserPlace;
}

export interface UserPlace {
  readonly kind: (typeof USER_PLACES)[number];
  /** The file, as an absolute path; null: no file names the user. */
  readonly file: string | null;
}

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** Normalized: "/" or a path such as "/geowebcache" without trailing slash; the longest comes first. */
  readonly mounts: readonly string[];
  /**
   * Which connections are of a proxy whose headers count (`forwarded.ts`): none, all, or those from the listed
   * addresses and networks (`10.0.0.0/8`).
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
}
