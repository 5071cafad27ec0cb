import * as z from "zod";
import { includesRole } from "../../../account/api-token.ts";
import { ROLES } from "../../../account/user.ts";
import { badField, conflict, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { withDetail } from "../../activity/activity-detail.ts";
import { type Caller, mayDo } from "../../auth/rights.ts";
import { documentAnswer, noContent, numberedOperation, operation } from "../api-operation.ts";
import { decoderOf } from "../json-body.ts";
import { answer } from "../openapi/openapi-parts.ts";

const NAME = "1 to 100 characters, no control character, no blank at an end";
const MOMENT = "a moment with its time zone, such as 2027-01-31T00:00:00Z";

/** The body of a POST to `/api/v1/tokens` without its null fields, which count as absent. */
export const tokenRequestSchema = z.strictObject({
  name: z
    .string({ error: NAME })
    .max(100, { error: NAME })
    .refine((name) => name !== "" && name === name.trim() && !/\p{Cc}/u.test(name), { error: NAME })
    .meta({ minLength: 1, description: "The owner's name for the token" }),
  role: z.enum(ROLES).meta({ description: "The role of the token, with no more rights than its owner" }),
  expiresAt: z.iso
    .datetime({ offset: true, error: MOMENT })
    .optional()
    .meta({ description: "The end of the token; absent: it has no end" }),
});

type UserCaller = Extract<Caller, { readonly kind: "user" }>;

export const tokenOperations = [
  operation(
    "GET /tokens",
    "listTokens",
    "Lists the caller's API tokens, for an administrator the tokens of all users",
    { answer: "Tokens" },
    async ({ operations }, { caller }) =>
      ok({ tokens: caller.kind === "user" ? await operations.apiTokens(ownerSeenBy(caller)) : [] }),
  ),
  operation(
    "POST /tokens",
    "createToken",
    "Creates an API token of the caller. Only this answer has the text of the token",
    {
      // Each account may make tokens, because a token has no more rights than the account.
      need: "none",
      body: { TokenRequest: tokenRequestSchema },
      answers: { 201: { ...answer("NewToken"), description: "Created" } },
      failures: [400, 403, 409, 413],
    },
    async ({ operations, clock }, { caller, body }) => {
      const person = personOf(caller);
      if (!person.ok) return person;
      const { name: user, roles } = person.value.user;
      const requested = await body(decoderOf(tokenRequestSchema, "token"));
      if (!requested.ok) return requested;
      const { name, role, expiresAt } = requested.value;
      if (!includesRole(roles, role)) {
        const message = `role: a token of ${JSON.stringify(user)} may have no more rights than its roles ${roles.join(", ")}, got ${role}`;
        return refuse({ code: "forbidden", message });
      }
      const expiresMs = expiresAt === undefined ? null : Date.parse(expiresAt);
      if (expiresMs !== null && expiresMs <= clock.now())
        return refuse(badField("expiresAt", "a moment in the future", expiresAt));
      const made = await operations.makeApiToken({ name, user, role, expiresMs });
      if (!made.ok) return made;
      const { text: token, view } = made.value;
      const reply = documentAnswer("NewToken", { ...view, token }, 201);
      return withDetail(reply, `token ${view.id}: made for ${user}, role ${role}`);
    },
  ),
  numberedOperation(
    "DELETE /tokens/{id}",
    "deleteToken",
    "Revokes an API token at once",
    { need: "none", failures: [403, 404, 409] },
    async ({ operations }, { key, caller }) => {
      const person = personOf(caller);
      if (!person.ok) return person;
      const deleted = await operations.deleteApiToken(key, ownerSeenBy(person.value));
      return deleted.ok ? noContent(`token ${key}: removed`) : deleted;
    },
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
