import type { Resource, RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";

/** `users`: GET lists the accounts of the server with their roles. */
export const usersResource = ({ users }: Pick<RouteOptions, "users">): Resource =>
  reader(async () => documentAnswer("Users", { users: users().map(userDocument) }));

const userDocument = ({ name, roles, keptIn }: ReturnType<RouteOptions["users"]>[number]) => ({
  name,
  roles,
  keptIn: keptIn.kind,
});
