import type { Role, User } from "../options.ts";

/** The right that a request needs: to read, to run tasks, or to administer. */
export type Need = "read" | "operate" | "administer";

const MAY: Readonly<Record<Role, readonly Need[]>> = {
  admin: ["read", "operate", "administer"],
  operator: ["read", "operate"],
  viewer: ["read"],
};

/** The caller of a request. */
export type Caller =
  /** No users are configured, and the Host header names this server. */
  | { readonly kind: "local" }
  | { readonly kind: "user"; readonly user: User }
  /** Users are configured, and the request is not authenticated: it has no right to any resource. */
  | { readonly kind: "nobody" };

export const mayDo = (user: User, need: Need): boolean => user.roles.some((role) => MAY[role].includes(need));
