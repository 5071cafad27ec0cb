import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { User } from "../../account/user.ts";
import type { ServerOptions } from "../../configuration/fields/server-schema.ts";
import type { Operations } from "../../coordinator/operations.ts";
import { type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { isOwnHost } from "../own-host.ts";
import { clientAddress } from "../request.ts";
import type { Authenticator } from "./credentials.ts";
import { type Caller, forbiddenTo, type Need, refusalOfHeader } from "./rights.ts";
import { sessionTokenOf } from "./session-cookie.ts";

/**
 * Whether a path needs an account. `optional`: the resource answers requests without an account too. `none`: the path
 * belongs to no resource, so its 404 needs no credentials.
 */
export type AccountUse = "needed" | "optional" | "none";

interface CallerParts {
  readonly authenticator: Authenticator;
  readonly operations: Pick<Operations, "session">;
  readonly server: ServerOptions;
}

/**
 * Returns the caller of a request: by its credentials, else by the cookie of a session. Refuses wrong or missing
 * credentials. On a server without users, refuses a Host that is not this server's.
 */
export async function callerOf(
  request: IncomingMessage,
  use: AccountUse,
  parts: CallerParts,
  gone: AbortSignal,
): Promise<Result<Caller, Refusal>> {
  const { authenticator, server } = parts;
  const { host, authorization } = request.headers;
  if (use === "none") return ok({ kind: "nobody" });
  if (!authenticator.usersConfigured()) {
    if (isOwnHost(host, server)) return ok({ kind: "local" });
    const message = `Host: expected localhost, 127.0.0.1, [::1], server.host or the host of one of server.allowedOrigins, as no users are configured, got ${shown(host)}`;
    return refuse({ code: "forbidden", message });
  }
  const signedIn = await callerOfSession(request, parts);
  if (signedIn !== undefined) return ok(signedIn);
  const checked = await authenticator.check(authorization, clientAddress(request, server), gone);
  if (checked.kind === "user") return ok(checked);
  if (checked.kind === "anonymous" && use === "optional") return ok({ kind: "nobody" });
  return refuse(refusalOfHeader(checked, authorization));
}

/**
 * Returns the user of a session. Undefined if the session does not exist, the user or the password has changed, or the
 * request has credentials, which take precedence over the session.
 */
export async function callerOfSession(
  { headers }: IncomingMessage,
  { authenticator, operations }: Pick<CallerParts, "authenticator" | "operations">,
): Promise<Caller | undefined> {
  const token = headers.authorization === undefined ? sessionTokenOf(headers.cookie) : undefined;
  const session = token === undefined ? undefined : await operations.session(token);
  const user = session === undefined ? undefined : authenticator.userOf(session.user);
  if (session === undefined || user === undefined || accountOf(user) !== session.account) return undefined;
  return { kind: "user", user, csrfToken: session.csrfToken };
}

/**
 * Returns whether a caller still has a right, although its account, its API token or its roles may have changed. Does
 * not check whether a session was closed.
 */
export function isStillPermitted(
  caller: Caller,
  need: Need,
  authenticator: Pick<Authenticator, "presentUser" | "usersConfigured">,
): boolean {
  switch (caller.kind) {
    case "nobody":
      return need === "none";
    case "local":
      return !authenticator.usersConfigured();
    case "user": {
      const user = authenticator.presentUser(caller.user, caller.tokenId);
      return user !== undefined && forbiddenTo({ kind: "user", user }, need) === undefined;
    }
  }
}

/** Returns a value by which a session recognizes the password of its user. The value reveals nothing about the hash. */
export const accountOf = ({ passwordHash }: User): string =>
  createHash("sha256").update(`session ${passwordHash}`).digest("base64");
