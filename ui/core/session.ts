import { computed, signal } from "@preact/signals";
import { asProblem, credentials, type Doc, get, send } from "./api.ts";

/**
 * `unknown`: not asked yet. `refused`: the server does not talk to this page, such as under a foreign name. `open`: the
 * server has no users, and everybody on this machine may do everything.
 */
export type Session =
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "signIn" }
  | { readonly kind: "open" }
  | { readonly kind: "user"; readonly name: string; readonly roles: readonly string[] };

export type Right = "read" | "operate" | "administer";

export const session = signal<Session>({ kind: "unknown" });

const RIGHTS: Readonly<Record<string, readonly Right[]>> = {
  admin: ["read", "operate", "administer"],
  operator: ["read", "operate"],
  viewer: ["read"],
};

/** The rights of the account. A view shows no control that the server would refuse. */
export const rights = computed((): ReadonlySet<Right> => {
  switch (session.value.kind) {
    case "open":
      return new Set<Right>(["read", "operate", "administer"]);
    case "user":
      return new Set(session.value.roles.flatMap((role) => RIGHTS[role] ?? []));
    default:
      return new Set<Right>();
  }
});

export const may = (right: Right): boolean => rights.value.has(right);

function take({ user, csrfToken, needsSignIn }: Doc<"Session">): void {
  credentials.csrfToken = csrfToken ?? undefined;
  if (user !== null) session.value = { kind: "user", name: user.name, roles: user.roles };
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
