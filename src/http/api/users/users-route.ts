import PQueue from "p-queue";
import { hashPassword } from "../../../account/password.ts";
import type { PasswordHash } from "../../../account/user.ts";
import type { Operations } from "../../../coordinator/operations.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import { decodeBy } from "../../../lib/schema.ts";
import { differences, withDetail } from "../../activity-detail.ts";
import { type Caller, forbiddenTo, refusalOfCheck } from "../../auth/rights.ts";
import { administering, anybody, type Exchange, type Handler, type Reply, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { operation } from "../api-operation.ts";
import { parseSecretObject, withoutNulls } from "../json-body.ts";
import { answer, gone } from "../openapi/openapi-parts.ts";
import { userChangeSchema, userRequestSchema } from "./user-document.ts";

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
    { answers: "Users" },
    ({ users }: Pick<RouteOptions, "users">) =>
      reader(async () => documentAnswer("Users", { users: users().map(userDocument) })),
  ),
  operation(
    "POST /users",
    "addUser",
    "Adds a user to the state database",
    {
      body: "UserRequest",
      answers: { 201: { ...answer("User"), description: "Created" } },
      failures: [400, 403, 409, 413],
    },
    ({ operations }) => addingHandler(operations),
  ),
  operation(
    "PATCH /users/{name}",
    "changeUser",
    "Changes the password or roles of a user in the state database, and ends the user's sessions",
    { body: "UserChange", answers: "User", failures: [400, 403, 404, 409, 413, 429] },
    // Any user may change their own password.
    (parts: UserParts, name) => anybody((exchange) => changeUser(parts, name, exchange)),
  ),
  operation(
    "DELETE /users/{name}",
    "deleteUser",
    "Removes a user from the state database, with the user's tokens and sessions",
    { answers: gone, failures: [403, 404, 409] },
    ({ operations }: Pick<UserParts, "operations">, name) =>
      administering(async ({ caller }) => {
        if (isToken(caller)) return refuse(PERSON_NEEDED);
        const deleted = await operations.deleteUser(name);
        return deleted.ok ? { status: 204, body: "", detail: `user ${name}: removed` } : deleted;
      }),
  ),
];

export const addingHandler = (operations: Pick<Operations, "addUser">): Handler =>
  administering(async ({ caller, body }) => {
    if (isToken(caller)) return refuse(PERSON_NEEDED);
    const requested = await body((bytes) => {
      const object = parseSecretObject(bytes, "user");
      return object.ok ? decodeBy(userRequestSchema, object.value) : object;
    });
    if (!requested.ok) return requested;
    const { name, password, roles } = requested.value;
    const added = await operations.addUser({ name, roles, passwordHash: await hashed(password) });
    return added.ok
      ? withDetail(
          documentAnswer("User", { name, roles, keptIn: "database" }, 201),
          `user ${name}: made, roles ${roles.join(", ")}`,
        )
      : added;
  });

async function changeUser(parts: UserParts, name: string, exchange: Exchange): Promise<Reply> {
  const { caller, body } = exchange;
  const forbidden = forbiddenTo(caller, "administer");
  if (forbidden !== undefined && !(caller.kind === "user" && caller.user.name === name)) return refuse(forbidden);
  if (isToken(caller)) return refuse(PERSON_NEEDED);
  const requested = await body((bytes) => {
    const object = parseSecretObject(bytes, "user");
    return object.ok ? decodeBy(userChangeSchema, withoutNulls(object.value)) : object;
  });
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
  const reply = documentAnswer("User", { ...changed.value, keptIn: "database" });
  return withDetail(reply, `user ${name}: ${changes.join("; ")}`);
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
