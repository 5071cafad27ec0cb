import type { IncomingHttpHeaders } from "node:http";
import type { Role, User } from "../../account/user.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { type Checked, decodeBasic } from "./credentials.ts";

/** The rights that roles grant: to read, to run tasks, to administer. */
const RIGHTS = ["read", "operate", "administer"] as const;
type Right = (typeof RIGHTS)[number];
/** The right that a handler needs. */
export type Need = "none" | Right;

const MAY: Readonly<Record<Role, readonly Right[]>> = {
  admin: ["read", "operate", "administer"],
  operator: ["read", "operate"],
  viewer: ["read"],
};

/** The caller of a request. */
export type Caller =
  /** The server has no users, and the Host header names this server. */
  | { readonly kind: "local" }
  /**
   * `csrfToken`: the caller has a session, and a change must have this token. `tokenId`: the caller has sent an API
   * token. Without both, the caller has sent Basic credentials.
   */
  | { readonly kind: "user"; readonly user: User; readonly csrfToken?: string; readonly tokenId?: number }
  /** The server has users, and the request is not authenticated: the caller has no right to any resource. */
  | { readonly kind: "nobody" };

export const mayDo = (user: User, right: Right): boolean => user.roles.some((role) => MAY[role].includes(right));

const CREDENTIALS_NEEDED: Refusal = {
  code: "unauthorized",
  message: "Credentials are needed: HTTP Basic with a user of this server.",
};

/**
 * Returns the refusal of invalid credentials.
 * @param name the given name, for the log; null if the credentials contain no readable name
 */
export function refusalOfCheck({ kind }: Exclude<Checked, { readonly kind: "user" }>, name: string | null): Refusal {
  switch (kind) {
    case "anonymous":
      return CREDENTIALS_NEEDED;
    case "wrong":
      return { ...CREDENTIALS_NEEDED, logIn: name };
    case "throttled":
      return { code: "too_many_attempts", message: "Too many wrong credentials; try again later.", logIn: name };
  }
}

/** Returns the refusal of an `Authorization` header. */
export const refusalOfHeader = (
  checked: Exclude<Checked, { readonly kind: "user" }>,
  header: string | undefined,
): Refusal => refusalOfCheck(checked, decodeBasic(header ?? "")?.name ?? null);

/**
 * Returns why a caller must not use a handler. Undefined if it may. A handler without a known need is refused to
 * everybody.
 */
export function forbiddenTo(caller: Caller, need: Need): Refusal | undefined {
  if (need === "none") return undefined;
  if (!RIGHTS.includes(need)) return { code: "forbidden", message: "This resource names no right that it needs." };
  switch (caller.kind) {
    case "local":
      return undefined;
    case "nobody":
      return CREDENTIALS_NEEDED;
    case "user": {
      const { name, roles } = caller.user;
      if (mayDo(caller.user, need)) return undefined;
      const message = `The account ${JSON.stringify(name)} may not do this; its roles are: ${roles.join(", ")}.`;
      return { code: "forbidden", message };
    }
  }
}

/** Returns for each right whether a caller has the right. */
export const permissionsOf = (caller: Caller): Readonly<Record<Right, boolean>> => ({
  read: forbiddenTo(caller, "read") === undefined,
  operate: forbiddenTo(caller, "operate") === undefined,
  administer: forbiddenTo(caller, "administer") === undefined,
});

/**
 * Returns the headers of a 401. Only a navigation, and a client other than a browser, get a challenge for Basic. For a
 * script of a page the browser would open its own dialogue over the page.
 */
export function challengeOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const mode = headers["sec-fetch-mode"];
  return mode === undefined || mode === "navigate" ? { "WWW-Authenticate": 'Basic realm="Nuthatch"' } : {};
}
