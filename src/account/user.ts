import type { Branded } from "../lib/brand.ts";

/** The roles. Each role has more rights than the next one. */
export const ROLES = ["admin", "operator", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** Returns whether a text may be a user's name. In Basic credentials the name ends at the first colon (RFC 7617). */
export const isUserName = (name: string): boolean =>
  name !== "" && name.length <= 100 && !name.includes(":") && !/\p{Cc}/u.test(name);

/** The least length of a new password, in characters. */
export const LEAST_PASSWORD = 8;

/** A hash of a password, or another text that a configuration has in its place. */
export type PasswordHash = Branded<string, "password hash">;
export const asPasswordHash = (hash: string): PasswordHash => hash as PasswordHash;

export interface User {
  readonly name: string;
  /** `scrypt:…` (our own form) or a bcrypt hash (`$2y$…`). */
  readonly passwordHash: PasswordHash;
  readonly roles: readonly Role[];
}

/**
 * The kinds of places that name users. `environment`: the variables NUTHATCH_ADMIN_USER and NUTHATCH_ADMIN_PASSWORD.
 * `database`: the user was added over HTTP.
 */
export const USER_PLACES = ["configuration", "htpasswd", "environment", "database"] as const;

/** A user, and the place that names the user. */
export interface KeptUser extends User {
  readonly keptIn: UserPlace;
}

export interface UserPlace {
  readonly kind: (typeof USER_PLACES)[number];
  /** The absolute path of the file that names the user. Null if the user is not in a file. */
  readonly file: string | null;
}

/**
 * Returns the users of the configuration, then the users of the database whose names the configuration does not use.
 */
export function allUsers(configured: readonly KeptUser[], stored: readonly User[]): readonly KeptUser[] {
  const names = new Set(configured.map(({ name }) => name));
  const keptIn: UserPlace = { kind: "database", file: null };
  return [...configured, ...stored.filter(({ name }) => !names.has(name)).map((user) => ({ ...user, keptIn }))];
}

/** Returns a description of the place for messages. */
export function placeText({ kind, file }: UserPlace): string {
  if (kind === "environment") return "the variables NUTHATCH_ADMIN_USER and NUTHATCH_ADMIN_PASSWORD";
  if (kind === "database") return "the state database";
  return file ?? "the configuration";
}
