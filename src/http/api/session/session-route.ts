import { refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { accountOf } from "../../auth/caller.ts";
import { type Caller, refusalOfCheck } from "../../auth/rights.ts";
import { sessionCookie, sessionTokenOf } from "../../auth/session-cookie.ts";
import { anybody, type Resource, type RouteOptions } from "../../resource.ts";
import { documentAnswer } from "../api-answer.ts";
import { parseObject } from "../json-body.ts";
import { signInSchema } from "./session-document.ts";

type SessionParts = Pick<RouteOptions, "operations" | "authenticator">;

/**
 * `session`: POST signs in with a name and a password, GET tells who is signed in, DELETE signs out. The session is a
 * cookie; a change that is sent with it must carry the CSRF token.
 */
export const sessionResource = ({ operations, authenticator }: SessionParts): Resource => ({
  account: "optional",
  methods: {
    GET: anybody(async ({ caller }) => documentAnswer("Session", sessionOf(caller))),

    POST: anybody(async ({ body, base, address, signal }) => {
      const pair = await body((bytes) => {
        const object = parseObject(bytes, "sign-in");
        return object.ok ? decodeBy(signInSchema, object.value) : object;
      });
      if (!pair.ok) return pair;
      if (!authenticator.usersConfigured())
        return refuse({ code: "conflict", message: "No users are configured, so nobody needs to sign in." });
      const checked = await authenticator.checkPair(pair.value, address, signal);
      if (checked.kind !== "user") return refuse(refusalOfCheck(checked, pair.value.name));
      const { user } = checked;
      const { token, csrfToken } = await operations.openSession(user.name, accountOf(user));
      const opened = documentAnswer("Session", sessionOf({ kind: "user", user, csrfToken }), 200, {
        "Set-Cookie": sessionCookie(base, token),
      });
      return { ...opened, signedIn: user.name };
    }),

    DELETE: anybody(async ({ headers, base }) => {
      const token = sessionTokenOf(headers.cookie);
      if (token !== undefined) await operations.closeSession(token);
      return { status: 204, body: "", headers: { "Set-Cookie": sessionCookie(base, undefined) } };
    }),
  },
});

const sessionOf = (caller: Caller) =>
  caller.kind === "user"
    ? {
        user: { name: caller.user.name, roles: caller.user.roles },
        csrfToken: caller.csrfToken ?? null,
        needsSignIn: false,
      }
    : { user: null, csrfToken: null, needsSignIn: caller.kind === "nobody" };
