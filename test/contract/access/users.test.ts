import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { severalNodes } from "../../support/cluster/balanced.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";

// `docs/reference/access.md`, users that are added over HTTP.
const configuration = (more = "") => `
users:
  - { name: root, password: "password of root", roles: [admin] }
  - { name: op, password: "password of op", roles: [operator] }
${more}layers: [{ name: a, source: { type: demo, dataset: states } }]
server: { workers: ${severalNodes ? 1 : 2} }
`;
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ configuration: configuration() });
});
afterAll(() => server.close());

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown> & { readonly detail: string };
}

const basic = (name: string, password = `password of ${name}`): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
/** Sends a request on a separate connection, so that both processes get requests. */
async function send(
  authorization: string,
  method: string,
  path: string,
  document?: unknown,
  more: Record<string, string> = {},
): Promise<Answer> {
  const headers = { ...(authorization === "" ? {} : { authorization }), connection: "close", ...more };
  const body = document === undefined ? null : JSON.stringify(document);
  const response = await fetch(`${server.url}/api/v1${path}`, { method, body, headers });
  const text = await response.text();
  return { status: response.status, json: text === "" ? {} : JSON.parse(text) };
}
const root = (method: string, path: string, document?: unknown) => send(basic("root"), method, path, document);
const add = (name: string, roles: readonly string[]) =>
  root("POST", "/users", { name, roles, password: `password of ${name}` });
/** Returns the statuses of requests for the jobs on several connections. */
async function statuses(authorization: string): Promise<ReadonlySet<number>> {
  const answers = await Promise.all(Array.from({ length: 6 }, () => send(authorization, "GET", "/jobs")));
  return new Set(answers.map(({ status }) => status));
}

async function signIn(name: string): Promise<Record<string, string>> {
  const response = await fetch(`${server.url}/api/v1/session`, {
    method: "POST",
    body: JSON.stringify({ name, password: `password of ${name}` }),
  });
  const { csrfToken } = (await response.json()) as { readonly csrfToken: string };
  const [cookie = ""] = response.headers.getSetCookie();
  return { cookie: cookie.split(";")[0] ?? "", "x-csrf-token": csrfToken };
}

test("a user is added, logs in at every process, survives a kill, and is gone with tokens and sessions after a DELETE", async () => {
  const { status, json } = await add("ann", ["viewer", "viewer"]);
  expect([status, json]).toEqual([201, { name: "ann", roles: ["viewer"], keptIn: "database" }]);
  expect(await statuses(basic("ann"))).toEqual(new Set([200]));
  expect((await send(basic("ann"), "POST", "/jobs", { layer: "a" })).status).toBe(403);
  server = await server.restart();
  expect(await statuses(basic("ann"))).toEqual(new Set([200]));
  const { users } = (await root("GET", "/users")).json;
  expect(users).toContainEqual({ name: "ann", roles: ["viewer"], keptIn: "database" });
  expect((await send(basic("ann"), "GET", "/session")).json["keptIn"]).toBe("database");
  const token = (await send(basic("ann"), "POST", "/tokens", { name: "t", role: "viewer" })).json["token"];
  const session = await signIn("ann");
  expect((await send("", "GET", "/jobs", undefined, session)).status).toBe(200);
  expect((await root("DELETE", "/users/ann")).status).toBe(204);
  expect(await statuses(basic("ann"))).not.toContain(200);
  expect((await add("ann", ["viewer"])).status).toBe(201);
  expect((await send("", "GET", "/jobs", undefined, session)).status, "the session of before").toBe(401);
  expect(await statuses(`Bearer ${String(token)}`), "the token of before").not.toContain(200);
  expect((await root("DELETE", "/users/ann")).status).toBe(204);
  expect((await root("DELETE", "/users/ann")).json["code"]).toBe("unknown_user");
  expect((await root("PATCH", "/users/ann", { roles: ["viewer"] })).status).toBe(404);
  expect(server.log()).not.toContain("password of ann");
});

test("a change of roles or password counts at once and ends the user's sessions", async () => {
  await add("ben", ["viewer"]);
  const session = await signIn("ben");
  const changed = await root("PATCH", "/users/ben", { roles: ["operator"] });
  expect([changed.status, changed.json]).toEqual([200, { name: "ben", roles: ["operator"], keptIn: "database" }]);
  expect((await send("", "GET", "/jobs", undefined, session)).status).toBe(401);
  expect((await send(basic("ben"), "POST", "/jobs", { layer: "a", zoomStop: 0 })).status).toBe(201);
  expect((await root("PATCH", "/users/ben", { password: "another password" })).status).toBe(200);
  expect(await statuses(basic("ben", "another password"))).toEqual(new Set([200]));
  expect(await statuses(basic("ben"))).not.toContain(200);
  await root("DELETE", "/users/ben");
});

test("people change their own password with the present one, and nothing else", async () => {
  await add("eve", ["viewer"]);
  const change = (document: unknown, name = "eve") => send(basic("eve"), "PATCH", `/users/${name}`, document);
  const password = "a better password";
  for (const [document, status, detail] of [
    [{ password }, 400, "currentPassword: expected the present password"],
    [{ password, currentPassword: "guess" }, 403, 'currentPassword: expected the present password of "eve"'],
    [{ roles: ["admin"], currentPassword: "password of eve" }, 403, 'The account "eve" may not do this'],
    [{ currentPassword: "password of eve" }, 400, "body: expected at least one of password, roles"],
  ] as const) {
    const answer = await change(document);
    expect([answer.status, answer.json.detail]).toEqual([status, expect.stringContaining(detail)]);
  }
  expect((await change({ password, currentPassword: "password of eve" }, "op")).status, "of another").toBe(403);
  expect((await send(basic("eve"), "DELETE", "/users/eve")).status).toBe(403);
  expect((await send(basic("eve"), "POST", "/users", {})).status).toBe(403);
  expect((await change({ password, currentPassword: "password of eve" })).status).toBe(200);
  expect(await statuses(basic("eve", password))).toEqual(new Set([200]));
  await root("DELETE", "/users/eve");
});

test("users of the configuration are read-only, and the refusal names the file", async () => {
  const file = join(server.dataDir, "nuthatch.yaml");
  for (const [method, document] of [
    ["PATCH", { roles: ["viewer"] }],
    ["DELETE", undefined],
  ] as const) {
    const { status, json } = await root(method, "/users/op", document);
    expect([status, json.detail]).toEqual([409, `The user "op" is in ${file}, and can be changed only there.`]);
  }
  const taken = await add("op", ["admin"]);
  expect([taken.status, taken.json.detail]).toEqual([409, `The user "op" already exists, in ${file}.`]);
});

test("the last administrator stays", async () => {
  const env = { NUTHATCH_ADMIN_PASSWORD: "password of boot", NUTHATCH_ADMIN_USER: "boot" };
  const viewers = "users: [{ name: view, password: password of view, roles: [viewer] }]\n";
  let other = await startServer({ configuration: viewers, env });
  const before = server;
  server = other;
  try {
    await send(basic("boot"), "POST", "/users", { name: "ann", roles: ["admin"], password: "password of ann" });
    // The administrator of the variables is removed.
    await other.kill("SIGTERM");
    other = await startServer({ configuration: viewers, dataDir: other.dataDir });
    server = other;
    for (const [method, document] of [
      ["PATCH", { roles: ["operator"] }],
      ["DELETE", undefined],
    ] as const) {
      const { status, json } = await send(basic("ann"), method, "/users/ann", document);
      expect([status, json.detail]).toEqual([409, expect.stringContaining("is the last administrator")]);
    }
    await send(basic("ann"), "POST", "/users", { name: "ben", roles: ["admin"], password: "password of ben" });
    expect((await send(basic("ann"), "DELETE", "/users/ann")).status).toBe(204);
  } finally {
    server = before;
    await other.close();
  }
});

test("a user that the configuration names later is the one of the configuration", async () => {
  await add("kim", ["viewer"]);
  const file = join(server.dataDir, "nuthatch.yaml");
  writeFileSync(file, configuration('  - { name: kim, password: "configured password", roles: [operator] }\n'));
  expect((await root("POST", "/reload")).status).toBe(200);
  expect(await statuses(basic("kim", "configured password"))).toEqual(new Set([200]));
  expect(await statuses(basic("kim"))).not.toContain(200);
  writeFileSync(file, configuration());
  expect((await root("POST", "/reload")).status).toBe(200);
  expect(await statuses(basic("kim"))).toEqual(new Set([200]));
  await root("DELETE", "/users/kim");
});

test("a token changes no accounts", async () => {
  const { token } = (await root("POST", "/tokens", { name: "t", role: "admin" })).json;
  for (const [method, path] of [
    ["POST", "/users"],
    ["PATCH", "/users/op"],
    ["DELETE", "/users/op"],
  ] as const)
    expect((await send(`Bearer ${String(token)}`, method, path, method === "DELETE" ? undefined : {})).status).toBe(
      403,
    );
});

describe("a bad request is refused with the field and the value:", () => {
  test.each([
    [{}, "name: expected 1 to 100 characters, no colon, no control character, got null"],
    [
      { name: "a:b", password: "12345678", roles: ["viewer"] },
      'name: expected 1 to 100 characters, no colon, no control character, got "a:b"',
    ],
    [{ name: "a", password: "1234567", roles: ["viewer"] }, "password: expected 8 to 1000 characters"],
    [
      { name: "a", password: "12345678" },
      "roles: expected a list of at least one of admin, operator, viewer, got null",
    ],
    [
      { name: "a", password: "12345678", roles: [] },
      "roles: expected a list of at least one of admin, operator, viewer, got []",
    ],
    [{ name: "a", password: "12345678", roles: ["root"] }, "roles[0]: expected one of admin, operator, viewer"],
    [{ name: "a", password: "12345678", roles: ["viewer"], hash: "x" }, "hash: unknown field"],
  ])("%o", async (document, detail) => {
    const { status, json } = await root("POST", "/users", document);
    expect([status, json.detail]).toEqual([400, expect.stringContaining(detail)]);
  });
});

test("nobody adds the first user of a server without users over HTTP", async () => {
  const open = await startServer();
  try {
    const body = JSON.stringify({ name: "me", password: "my password", roles: ["admin"] });
    const response = await fetch(`${open.url}/api/v1/users`, { method: "POST", body });
    const { detail } = (await response.json()) as { readonly detail: string };
    expect([response.status, detail]).toEqual([409, expect.stringContaining("NUTHATCH_ADMIN_PASSWORD")]);
  } finally {
    await open.close();
  }
});

test("a password that is refused is in no answer, no activity and no line of the log", async () => {
  const given = ["swrdfsh", `swordfish${"h".repeat(1_000)}`, 47_110_815];
  for (const password of given) {
    const { status, json } = await send(basic("root"), "POST", "/users", { name: "new", password, roles: ["viewer"] });
    expect([status, json.detail]).toEqual([400, expect.stringMatching(/^password: expected .* got "\*\*\*"$/)]);
  }
  const unclosed = '{"name":"root","password":swordfish';
  for (const path of ["/users", "/session"]) {
    const headers = { authorization: basic("root") };
    const response = await fetch(`${server.url}/api/v1${path}`, { method: "POST", body: unclosed, headers });
    expect([response.status, await response.text()]).toEqual([400, expect.not.stringContaining("swordfish")]);
  }
  const { json } = await send(basic("op"), "GET", "/activity?limit=50");
  expect(JSON.stringify(json)).toContain("password: expected");
  expect(JSON.stringify(json) + server.log()).not.toMatch(/swrdfsh|swordfish|47110815/);
});

async function streamOf(authorization: string): Promise<{ readonly ended: Promise<true>; readonly stop: () => void }> {
  const aborter = new AbortController();
  const response = await fetch(`${server.url}/api/v1/events?types=job,activity`, {
    headers: { authorization, connection: "close" },
    signal: aborter.signal,
  });
  expect(response.status).toBe(200);
  const ended = (async () => {
    for await (const _ of response.body ?? []);
    return true as const;
  })();
  ended.catch(() => {});
  return { ended, stop: () => aborter.abort() };
}

test("the event streams of a user end with the user, the password and the roles", async () => {
  const add = (name: string) =>
    send(basic("root"), "POST", "/users", { name, password: `password of ${name}`, roles: ["operator"] });
  for (const name of ["gone", "changed", "kept"]) expect((await add(name)).status).toBe(201);
  const streams = { gone: await streamOf(basic("gone")), changed: await streamOf(basic("changed")) };
  const kept = await streamOf(basic("kept"));
  expect((await send(basic("root"), "DELETE", "/users/gone")).status).toBe(204);
  expect(await streams.gone.ended).toBe(true);
  const change = { password: "another password" };
  expect((await send(basic("root"), "PATCH", "/users/changed", change)).status).toBe(200);
  expect(await streams.changed.ended).toBe(true);
  // A role that still may read does not end a stream.
  expect((await send(basic("root"), "PATCH", "/users/kept", { roles: ["viewer"] })).status).toBe(200);
  expect(await Promise.race([kept.ended, send(basic("root"), "GET", "/users").then(() => "goes on")])).toBe("goes on");
  kept.stop();
});
