import { createHash } from "node:crypto";
import type { Random } from "../lib/random/random.ts";
import { ROLES, type Role } from "./user.ts";

/** The part of an API token that every process needs to check requests. */
export interface ApiToken {
  readonly id: number;
  /** The owner of the token. The token has the owner's rights, limited by its role. */
  readonly user: string;
  readonly role: Role;
  /** The SHA-256 of the token's text, in base64url. The text itself is stored nowhere. */
  readonly digest: string;
  /** The time at which the token expires, ms since 1970. Null if it never expires. */
  readonly expiresMs: number | null;
}

const PREFIX = "nht_";
const FORM = new RegExp(`^bearer +(${PREFIX}[\\w-]{43}) *$`, "i");

/** Returns the text of a new token: 256 random bits behind a prefix by which scanners for leaked secrets find it. */
export const newTokenText = (random: Random): string => PREFIX + random.bytes(32).toString("base64url");

/** Returns the text of the token in `Authorization: Bearer TOKEN` (RFC 6750); undefined for anything else. */
export const bearerToken = (header: string): string | undefined => FORM.exec(header)?.[1];

export const digestOfToken = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Returns whether a user with these roles may do all that a role allows. The roles are ordered by their rights. */
export const includesRole = (roles: readonly Role[], role: Role): boolean =>
  ROLES.slice(0, ROLES.indexOf(role) + 1).some((stronger) => roles.includes(stronger));

/** Returns the roles that a token grants: its own role, or the user's roles if they grant less. */
export const rolesOfToken = (roles: readonly Role[], role: Role): readonly Role[] =>
  includesRole(roles, role) ? [role] : roles;
