import { CLIENT_VARIABLES } from "../../lib/process/client-variables.ts";
import { CommandFailure, EXIT } from "../exit.ts";

export interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** The user name for a password that is given without one. */
const USUAL_NAME = "admin";

/**
 * Returns the user and password for a server, from the environment. Returns undefined if it has no password and no user
 * was named. Requests then carry no credentials.
 * @throws CommandFailure for a name without a password
 */
export function findCredentials(user: string | undefined): Credentials | undefined {
  const name = user ?? (process.env[CLIENT_VARIABLES.user] || undefined);
  const password = process.env[CLIENT_VARIABLES.password];
  if (password !== undefined) return { name: name ?? USUAL_NAME, password };
  if (name === undefined) return undefined;
  throw new CommandFailure(`the password of ${name} is expected in ${CLIENT_VARIABLES.password}`, EXIT.usage);
}
