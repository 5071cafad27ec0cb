import { includesRole } from "../../../account/api-token.ts";
import { badField, conflict, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { withDetail } from "../../activity-detail.ts";
import { type Caller, mayDo } from "../../auth/rights.ts";
import { anybody, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { numberedOperation, operation } from "../api-operation.ts";
import { parseObject, withoutNulls } from "../json-body.ts";
import { answer, gone } from "../openapi/openapi-parts.ts";
import { tokenRequestSchema } from "./token-document.ts";

type UserCaller = Extract<Caller, { readonly kind: "user" }>;

type Parts = Pick<RouteOptions, "operations">;

export const tokenOperations = [
  operation(
    "GET /tokens",
    "listTokens",
    "Lists the caller's API tokens, for an administrator the tokens of all users",
    { answers: "Tokens" },
    ({ operations }: Parts) =>
      reader(async ({ caller }) => {
        const tokens = caller.kind === "user" ? await operations.apiTokens(ownerSeenBy(caller)) : [];
        return documentAnswer("Tokens", { tokens });
      }),
  ),
  operation(
    "POST /tokens",
    "createToken",
    "Creates an API token of the caller. Only this answer has the text of the token",
    {
      body: "TokenRequest",
      answers: { 201: { ...answer("NewToken"), description: "Created" } },
      failures: [400, 403, 409, 413],
    },
    // Each account may make tokens, because a token has no more rights than the account.
    ({ operations }: Parts) =>
      anybody(async ({ caller, body }) => {
        const person = personOf(caller);
        if (!person.ok) return person;
        const { name: user, roles } = person.value.user;
        const requested = await body((bytes) => {
          const object = parseObject(bytes, "token");
          return object.ok ? decodeBy(tokenRequestSchema, withoutNulls(object.value)) : object;
        });
        if (!requested.ok) return requested;
        const { name, role, expiresAt } = requested.value;
        if (!includesRole(roles, role)) {
          const message = `role: a token of ${JSON.stringify(user)} may have no more rights than its roles ${roles.join(", ")}, got ${role}`;
          return refuse({ code: "forbidden", message });
        }
        const expiresMs = expiresAt === undefined ? null : Date.parse(expiresAt);
        if (expiresMs !== null && expiresMs <= machineClock.now())
          return refuse(badField("expiresAt", "a moment in the future", expiresAt));
        const made = await operations.makeApiToken({ name, user, role, expiresMs });
        if (!made.ok) return made;
        const { text: token, view } = made.value;
        const reply = documentAnswer("NewToken", { ...view, token }, 201);
        return withDetail(reply, `token ${view.id}: made for ${user}, role ${role}`);
      }),
  ),
  numberedOperation(
    "DELETE /tokens/{id}",
    "deleteToken",
    "Revokes an API token at once",
    { answers: gone, failures: [403, 404, 409] },
    ({ operations }: Parts, id) =>
      anybody(async ({ caller }) => {
        const person = personOf(caller);
        if (!person.ok) return person;
        const deleted = await operations.deleteApiToken(id, ownerSeenBy(person.value));
        return deleted.ok ? { status: 204, body: "", detail: `token ${id}: removed` } : deleted;
      }),
  ),
];

/** Returns the only user whose tokens the caller may see. Undefined if the caller may see all tokens. */
const ownerSeenBy = ({ user }: UserCaller): string | undefined => (mayDo(user, "administer") ? undefined : user.name);

/**
 * Returns a caller that has signed in. Refuses tokens, because a leaked token must not be able to make or revoke
 * tokens.
 */
function personOf(caller: Caller): Result<UserCaller, Refusal> {
  if (caller.kind !== "user") return refuse(conflict("No users are configured, so there are no tokens."));
  if (caller.tokenId === undefined) return ok(caller);
  const message = "An API token makes and deletes no tokens: sign in, or send a name and a password.";
  return refuse({ code: "forbidden", message });
}
