import * as z from "zod";
import { ownVersion } from "../../../lib/process/version.ts";
import { conflict } from "../../../lib/refusal.ts";
import { ok, refuse } from "../../../lib/result.ts";
import { accountOf } from "../../auth/caller.ts";
import { type Caller, permissionsOf, refusalOfCheck } from "../../auth/rights.ts";
import { sessionCookie, sessionTokenOf } from "../../auth/session-cookie.ts";
import type { RouteOptions } from "../../resource.ts";
import { noContent, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { secretDecoderOf } from "../json-body.ts";

/** The most characters of a name or password that is checked. */
const MOST = 1_000;
const given = z.string({ error: `text of at most ${MOST} characters` }).max(MOST);

/** The body of a POST to `/api/v1/session`. */
export const signInSchema = z.strictObject({ name: given, password: given.meta({ format: "password" }) });

const FOR_ALL = { need: "none", account: "optional" } as const;

/** A session is a cookie. A change with this cookie must have the CSRF token. */
export const sessionOperations = [
  operation(
    "GET /session",
    "getSession",
    "Returns the account that is signed in. Needs no account",
    { ...FOR_ALL, answer: "Session" },
    async ({ users }, { caller }) => ok(sessionOf(caller, users)),
  ),
  operation(
    "POST /session",
    "signIn",
    "Opens a session. Its token is a cookie",
    { ...FOR_ALL, body: { SignIn: signInSchema }, answer: "Session", failures: [400, 401, 409, 413, 429] },
    async ({ operations, authenticator, users }, { body, base, address, signal }) => {
      const pair = await body(secretDecoderOf(signInSchema, "sign-in"));
      if (!pair.ok) return pair;
      if (!authenticator.usersConfigured())
        return refuse(conflict("No users are configured, so no sign-in is needed."));
      const checked = await authenticator.checkPair(pair.value, address, signal);
      if (checked.kind !== "user") return refuse(refusalOfCheck(checked, pair.value.name));
      const { user } = checked;
      const { token, csrfToken } = await operations.openSession({ user: user.name, account: accountOf(user) });
      return {
        ...ok(sessionOf({ kind: "user", user, csrfToken }, users)),
        headers: { "Set-Cookie": sessionCookie(base, token) },
        signedIn: user.name,
      };
    },
  ),
  operation(
    "DELETE /session",
    "signOut",
    "Ends the session, if there is one",
    { ...FOR_ALL, failures: [403] },
    async ({ operations }, { headers, base }) => {
      const token = sessionTokenOf(headers.cookie);
      if (token !== undefined) await operations.closeSession(token);
      return noContent(undefined, { "Set-Cookie": sessionCookie(base, undefined) });
    },
  ),
];

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
