import { signal } from "@preact/signals";
import { asProblem, credentials, type Doc, get, send } from "./api.ts";

/**
 * `unknown`: the server has not answered yet. `refused`: the server refuses all requests of this page, for example
 * because of its host name. `open`: the server has no users, and everybody on this machine has all rights.
 */
export type Session =
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "signIn" }
  | { readonly kind: "open" }
  | ({ readonly kind: "user"; readonly keptIn: Doc<"Session">["keptIn"] } & NonNullable<Doc<"Session">["user"]>);

export type Right = keyof Doc<"Session">["permissions"];

export const session = signal<Session>({ kind: "unknown" });
/** The permissions of the account. A view hides controls whose requests the server would refuse. */
const permissions = signal<Doc<"Session">["permissions"]>({ read: false, operate: false, administer: false });

export const may = (right: Right): boolean => permissions.value[right];

function take(document: Doc<"Session">): void {
  const { user, csrfToken, needsSignIn } = document;
  credentials.csrfToken = csrfToken ?? undefined;
  permissions.value = document.permissions;
  if (user !== null) session.value = { kind: "user", keptIn: document.keptIn, ...user };
  else session.value = { kind: needsSignIn ? "signIn" : "open" };
}

credentials.signInNeeded = () => {
  session.value = { kind: "signIn" };
};

export async function readSession(): Promise<void> {
  try {
    take(await get("Session", "session"));
  } catch (error) {
    session.value = { kind: "refused", message: asProblem(error).message };
  }
}

/** @throws Problem if the name or the password is wrong */
export const signIn = async (name: string, password: string): Promise<void> =>
  take(await send<Doc<"Session">>({ method: "POST", path: "session", body: { name, password } }));

export async function signOut(): Promise<void> {
  await send({ method: "DELETE", path: "session" });
  await readSession();
}
