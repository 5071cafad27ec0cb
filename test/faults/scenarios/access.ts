import type { Scenario } from "../scenario.ts";
import type { Trial } from "../trial.ts";
import { change, isDone } from "./change.ts";
import { layersOf } from "./layers.ts";

const USERS = `users:
  - { name: root, password: "password of root", roles: [admin] }
`;
const basic = (name: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`,
});
const ROOT = basic("root", "password of root");
const options = layersOf(["a"], USERS);
const as = (trial: Trial, method: string, path: string, body?: object) => {
  trial.headers = ROOT;
  return trial.send(method, `/api/v1${path}`, body);
};
const user = { name: "op", roles: ["operator"], password: "password of op" };
/** The passwords with which the user is let in. */
const statusOf = (password: string) => async (trial: Trial) => {
  const { status } = await trial.send("GET", "/api/v1/jobs", undefined, basic("op", password));
  return status === 200 ? "in" : status === 401 ? "out" : String(status);
};

const addUser = change({
  name: "add a user",
  options,
  request: (trial) => as(trial, "POST", "/users", user),
  state: statusOf("password of op"),
  before: "out",
  after: "in",
});
const changePassword = change({
  name: "change a password",
  options,
  prepare: (trial) => as(trial, "POST", "/users", user),
  request: (trial) => as(trial, "PATCH", "/users/op", { password: "another password" }),
  state: async (trial) => `${await statusOf("password of op")(trial)}, ${await statusOf("another password")(trial)}`,
  before: "in, out",
  after: "out, in",
});
const deleteUser = change({
  name: "delete a user",
  options,
  prepare: (trial) => as(trial, "POST", "/users", user),
  request: (trial) => as(trial, "DELETE", "/users/op"),
  state: statusOf("password of op"),
  before: "in",
  after: "out",
});

/** A session that was answered is one after the restart, until the sign-out is answered. */
const signIn: Scenario = {
  name: "sign in and out",
  options,
  begin: (trial) => {
    let cookie = "";
    let csrf = "";
    let isOut = false;
    const state = async (): Promise<string | null> => {
      const session = await trial.get<{ user: { name: string } | null }>("/api/v1/session", { cookie });
      return session?.user?.name ?? null;
    };
    trial.headers = ROOT;
    return {
      act: async () => {
        const answer = await trial.send("POST", "/api/v1/session", { name: "root", password: "password of root" });
        if (!isDone(answer)) return;
        cookie = answer.cookie;
        ({ csrfToken: csrf } = JSON.parse(answer.text));
        const out = await trial.send("DELETE", "/api/v1/session", undefined, { cookie, "x-csrf-token": csrf });
        isOut = isDone(out);
      },
      check: async () => {
        if (cookie === "") return [];
        const name = await state();
        if (isOut && name !== null) return [`the session is signed out, and is of ${name}`];
        if (name !== null && name !== "root") return [`the session is of ${name}`];
        return [];
      },
    };
  },
};

/** A token that was answered is valid, until its end is answered. */
const token: Scenario = {
  name: "make and revoke a token",
  options,
  begin: (trial) => {
    let made: { readonly id: number; readonly token: string } | undefined;
    let revoked: "asked" | "answered" | undefined;
    return {
      act: async () => {
        const answer = await as(trial, "POST", "/tokens", { name: "t", role: "operator" });
        if (!isDone(answer)) return;
        made = JSON.parse(answer.text);
        revoked = "asked";
        if (isDone(await as(trial, "DELETE", `/tokens/${made?.id}`))) revoked = "answered";
      },
      check: async () => {
        if (made === undefined) return [];
        const { status } = await trial.send("GET", "/api/v1/jobs", undefined, {
          Authorization: `Bearer ${made.token}`,
        });
        const allowed = revoked === "answered" ? [401] : [200, 401];
        return allowed.includes(status) ? [] : [`the token is answered with ${status}, revoked: ${revoked}`];
      },
    };
  },
};

export const ACCESS: readonly Scenario[] = [addUser, changePassword, deleteUser, signIn, token];
