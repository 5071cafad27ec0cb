/** The roles, each with more rights than the next. */
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
