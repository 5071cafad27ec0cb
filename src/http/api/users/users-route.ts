import PQueue from "p-queue";
import * as z from "zod";
import { hashPassword } from "../../../account/password.ts";
import { isUserName, LEAST_PASSWORD, type PasswordHash, ROLES, type Role } from "../../../account/user.ts";
import type { Operations } from "../../../coordinator/operations.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, refuse } from "../../../lib/result.ts";
import { differences, withDetail } from "../../activity/activity-detail.ts";
import { type Caller, forbiddenTo, refusalOfCheck } from "../../auth/rights.ts";
import type { Exchange, Reply, RouteOptions } from "../../resource.ts";
import { documentAnswer, noContent, type Outcome, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { secretDecoderOf, withoutNulls } from "../json-body.ts";
import { answer } from "../openapi/openapi-parts.ts";

const NAME = "1 to 100 characters, no colon, no control character";
const MOST_PASSWORD = 1_000;
const PASSWORD = `${LEAST_PASSWORD} to ${MOST_PASSWORD} characters, no control character`;
const ROLES_EXPECTED = `a list of at least one of ${ROLES.join(", ")}`;

const password = z
  .string({ error: PASSWORD })
  .max(MOST_PASSWORD, { error: PASSWORD })
  .refine((given) => [...given].length >= LEAST_PASSWORD && !/\p{Cc}/u.test(given), { error: PASSWORD })
  .meta({ format: "password", minLength: LEAST_PASSWORD });
const roles = z
  .array(z.enum(ROLES), { error: ROLES_EXPECTED })
  .min(1, { error: ROLES_EXPECTED })
  .transform((given): readonly Role[] => [...new Set(given)]);

/** The body of a POST to `/api/v1/users`. */
export const userRequestSchema = z.strictObject({
  name: z
    .string({ error: NAME })
    .refine((name) => isUserName(name), { error: NAME })
    .meta({ minLength: 1, maxLength: 100 }),
  password,
  roles,
});

/** The body of a PATCH of a user without its null fields, which count as absent. */
export const userChangeSchema = z.strictObject({
  password: password.exactOptional(),
  roles: roles.exactOptional(),
  currentPassword: z
    .string({ error: "text" })
    .max(MOST_PASSWORD)
    .exactOptional()
    .meta({ format: "password", description: "Required for a user who is not an administrator" }),
});

/**
 * Hashes one password at a time. Any user may send many changes of their own password, whose hashes would occupy all
 * threads of libuv, which also read the tiles.
 */
const hashing = new PQueue({ concurrency: 1 });
const hashed = (password: string): Promise<PasswordHash> => hashing.add(() => hashPassword(password));

type UserParts = Pick<RouteOptions, "users" | "authenticator"> & {
  readonly operations: Pick<Operations, "changeUser" | "deleteUser">;
};

export const userOperations = [
  operation(
    "GET /users",
    "listUsers",
    "Lists the accounts of the server with their roles",
    { answer: "Users" },
    async ({ users }) => ok({ users: users().map(userDocument) }),
  ),
  operation(
    "POST /users",
    "addUser",
    "Adds a user to the state database",
    {
      need: "administer",
      body: { UserRequest: userRequestSchema },
      answers: { 201: { ...answer("User"), description: "Created" } },
      failures: [400, 403, 409, 413],
    },
    ({ operations }, call) => addUser(operations, call),
  ),
  operation(
    "PATCH /users/{name}",
    "changeUser",
    "Changes the password or roles of a user in the state database, and ends the user's sessions",
    // Any user may change their own password.
    { need: "none", body: { UserChange: userChangeSchema }, answer: "User", failures: [400, 403, 404, 409, 413, 429] },
    (parts, call) => changeUser(parts, call.key, call),
  ),
  operation(
    "DELETE /users/{name}",
    "deleteUser",
    "Removes a user from the state database, with the user's tokens and sessions",
    { need: "administer", failures: [403, 404, 409] },
    async ({ operations }, { key, caller }) => {
      if (isToken(caller)) return refuse(PERSON_NEEDED);
      const deleted = await operations.deleteUser(key);
      return deleted.ok ? noContent(`user ${key}: removed`) : deleted;
    },
  ),
];

export async function addUser(
  operations: Pick<Operations, "addUser">,
  { caller, body }: Pick<Exchange, "caller" | "body">,
): Promise<Reply> {
  if (isToken(caller)) return refuse(PERSON_NEEDED);
  const requested = await body(secretDecoderOf(userRequestSchema, "user"));
  if (!requested.ok) return requested;
  const { name, password, roles } = requested.value;
  const added = await operations.addUser({ name, roles, passwordHash: await hashed(password) });
  if (!added.ok) return added;
  const reply = documentAnswer("User", { name, roles, keptIn: "database" }, 201);
  return withDetail(reply, `user ${name}: made, roles ${roles.join(", ")}`);
}

async function changeUser(parts: UserParts, name: string, exchange: Exchange): Promise<Outcome<Documents["User"]>> {
  const { caller, body } = exchange;
  const forbidden = forbiddenTo(caller, "administer");
  if (forbidden !== undefined && !(caller.kind === "user" && caller.user.name === name)) return refuse(forbidden);
  if (isToken(caller)) return refuse(PERSON_NEEDED);
  const requested = await body(secretDecoderOf(z.preprocess(withoutNulls, userChangeSchema), "user"));
  if (!requested.ok) return requested;
  const { password, roles, currentPassword } = requested.value;
  if (forbidden !== undefined && roles !== undefined) return refuse(forbidden);
  if (password === undefined && roles === undefined)
    return refuse({ code: "malformed", message: "body: expected at least one of password, roles" });
  if (forbidden !== undefined && currentPassword === undefined)
    return refuse(badField("currentPassword", "the present password, as the account is no administrator", null));
  if (currentPassword !== undefined) {
    const refusal = await refusalOfPassword(parts, exchange, currentPassword);
    if (refusal !== undefined) return refuse(refusal);
  }
  const before = parts.users().find((user) => user.name === name);
  const changed = await parts.operations.changeUser(name, {
    // While the new password waits to be hashed, an administrator may replace a stolen password. So the old hash must
    // still be the same.
    ...(caller.kind === "user" && caller.user.name === name ? { ifPasswordHash: caller.user.passwordHash } : {}),
    ...(password === undefined ? {} : { passwordHash: await hashed(password) }),
    ...(roles === undefined ? {} : { roles }),
  });
  if (!changed.ok) return changed;
  const changes = [
    ...(roles === undefined ? [] : [differences({ roles: before?.roles }, { roles: changed.value.roles })]),
    ...(password === undefined ? [] : ["a new password"]),
  ];
  return { ...ok({ ...changed.value, keptIn: "database" }), detail: `user ${name}: ${changes.join("; ")}` };
}

/** Returns the refusal of a caller's wrong password. Undefined if it is right. Wrong ones count as failed log-ins. */
async function refusalOfPassword(
  { authenticator }: UserParts,
  { caller, address, signal }: Exchange,
  password: string,
): Promise<Refusal | undefined> {
  if (caller.kind !== "user") return undefined;
  const { name } = caller.user;
  const checked = await authenticator.checkPair({ name, password }, address, signal);
  if (checked.kind === "user") return undefined;
  const refusal = refusalOfCheck(checked, name);
  if (refusal.code !== "unauthorized") return refusal;
  // Not a 401, because the request itself is authenticated.
  const message = `currentPassword: expected the present password of ${JSON.stringify(name)}`;
  return { code: "forbidden", message, logIn: name };
}

const isToken = (caller: Caller): boolean => caller.kind === "user" && caller.tokenId !== undefined;

/** A leaked token must not be able to create an account with a password. */
const PERSON_NEEDED: Refusal = {
  code: "forbidden",
  message: "An API token changes no accounts: sign in, or send a name and a password.",
};

const userDocument = ({ name, roles, keptIn }: ReturnType<RouteOptions["users"]>[number]) => ({
  name,
  roles,
  keptIn: keptIn.kind,
});
