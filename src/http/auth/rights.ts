import type { Role, User } from "../options.ts";

/** What a request needs: to read, to run tasks, or everything. */
export type Need = "read" | "operate" | "administer";

const MAY: Readonly<Record<Role, readonly Need[]>> = {
  admin: ["read", "operate", "administer"],
  operator: ["read", "operate"],
  viewer: ["read"],
};

/** On whose behalf a request is answered. */
export type Caller =
  /** No users are configured, and the request came to the server under its own name. */
  | { readonly kind: "local" }
  | { readonly kind: "user"; readonly user: User }
  /** Users are configured, and nobody has shown to be one: has no right to any resource. */
  | { readonly kind: "nobody" };

export const mayDo = (user: User, need: Need): boolean => user.roles.some((role) => MAY[role].includes(need));
