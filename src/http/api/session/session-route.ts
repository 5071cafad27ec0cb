import { ownVersion } from "../../../lib/process/version.ts";
import { refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { accountOf } from "../../auth/caller.ts";
import { type Caller, permissionsOf, refusalOfCheck } from "../../auth/rights.ts";
import { sessionCookie, sessionTokenOf } from "../../auth/session-cookie.ts";
import { anybody, type RouteOptions } from "../../resource.ts";
import { documentAnswer } from "../api-answer.ts";
import { type ApiOperation, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { parseSecretObject } from "../json-body.ts";
import { gone } from "../openapi/openapi-parts.ts";
import { withoutQuery } from "../query-fields.ts";
import { signInSchema } from "./session-document.ts";

type SessionParts = Pick<RouteOptions, "operations" | "authenticator" | "users">;

/** A session is a cookie. A change with this cookie must have the CSRF token. */
export const sessionOperations: readonly ApiOperation[] = [
  operation(
    "GET /session",
    "getSession",
    "Returns the account that is signed in. Needs no account",
    { answers: "Session" },
    ({ users }: SessionParts) =>
      anybody(withoutQuery(async ({ caller }) => documentAnswer("Session", sessionOf(caller, users)))),
  ),
  operation(
    "POST /session",
    "signIn",
    "Opens a session. Its token is a cookie",
    { body: "SignIn", answers: "Session", failures: [400, 401, 409, 413, 429] },
    ({ operations, authenticator, users }: SessionParts) =>
      anybody(async ({ body, base, address, signal }) => {
        const pair = await body((bytes) => {
          const object = parseSecretObject(bytes, "sign-in");
          return object.ok ? decodeBy(signInSchema, object.value) : object;
        });
        if (!pair.ok) return pair;
        if (!authenticator.usersConfigured())
          return refuse({ code: "conflict", message: "No users are configured, so no sign-in is needed." });
        const checked = await authenticator.checkPair(pair.value, address, signal);
        if (checked.kind !== "user") return refuse(refusalOfCheck(checked, pair.value.name));
        const { user } = checked;
        const { token, csrfToken } = await operations.openSession({ user: user.name, account: accountOf(user) });
        const opened = documentAnswer("Session", sessionOf({ kind: "user", user, csrfToken }, users), 200, {
          "Set-Cookie": sessionCookie(base, token),
        });
        return { ...opened, signedIn: user.name };
      }),
  ),
  operation(
    "DELETE /session",
    "signOut",
    "Ends the session, if there is one",
    { answers: gone, failures: [403] },
    ({ operations }: SessionParts) =>
      anybody(async ({ headers, base }) => {
        const token = sessionTokenOf(headers.cookie);
        if (token !== undefined) await operations.closeSession(token);
        return { status: 204, body: "", headers: { "Set-Cookie": sessionCookie(base, undefined) } };
      }),
  ),
].map((one) => ({ ...one, account: "optional" }));

/** Returns the account and the permissions of a caller. Omits the version for a caller that must sign in. */
function sessionOf(caller: Caller, users: RouteOptions["users"]): Documents["Session"] {
  const user = caller.kind === "user" ? caller.user : undefined;
  return {
    user: user === undefined ? null : { name: user.name, roles: user.roles },
    csrfToken: caller.kind === "user" ? (caller.csrfToken ?? null) : null,
    needsSignIn: caller.kind === "nobody",
    permissions: permissionsOf(caller),
    keptIn: users().find(({ name }) => name === user?.name)?.keptIn.kind ?? null,
    version: caller.kind === "nobody" ? null : ownVersion(),
  };
}
