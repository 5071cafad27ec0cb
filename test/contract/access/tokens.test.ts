import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { severalNodes } from "../../support/cluster/balanced.ts";
import { schemaOf, sharedPostgres } from "../../support/postgres/postgres.ts";
import { inPostgres } from "../../support/postgres/test-database.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";

// `docs/reference/access.md`, API tokens.
const USERS: Readonly<Record<string, string>> = { root: "admin", op: "operator", view: "viewer" };
const configuration = (users: readonly string[], more = "") => `
users:
${users.map((name) => `  - { name: ${name}, password: "password of ${name}", roles: [${USERS[name]}] }`).join("\n")}
layers:
  - { name: open, source: { type: demo, dataset: states } }
  - { name: closed, secured: true, source: { type: demo, dataset: states } }
${more}`;
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ configuration: configuration(Object.keys(USERS)) });
});
afterAll(() => server.close());

interface Token {
  readonly id: number;
  readonly name: string;
  readonly user: string;
  readonly role: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}
interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown> & { readonly tokens: readonly Token[]; readonly detail: string };
}

const basic = (name: string): string => `Basic ${Buffer.from(`${name}:password of ${name}`).toString("base64")}`;
const bearer = (token: string): string => `Bearer ${token}`;
/** Sends a request on a separate connection, so that each process of a server gets requests. */
async function send(authorization: string, method: string, path: string, document?: unknown): Promise<Answer> {
  const headers = { authorization, connection: "close" };
  const body = document === undefined ? null : JSON.stringify(document);
  const response = await fetch(`${server.url}/api/v1${path}`, { method, body, headers });
  const text = await response.text();
  return { status: response.status, json: text === "" ? {} : JSON.parse(text) };
}
const make = (user: string, document: unknown) => send(basic(user), "POST", "/tokens", document);
async function made(user: string, role: string): Promise<{ readonly id: number; readonly token: string }> {
  const { status, json } = await make(user, { name: `of ${user}`, role });
  expect(status).toBe(201);
  return { id: Number(json["id"]), token: String(json["token"]) };
}

/** Returns the tokens in the state database. */
function storedState(dataDir: string): string {
  if (inPostgres || severalNodes)
    return sharedPostgres().sql(`SELECT t::text FROM ${schemaOf(dataDir)}.api_token AS t`);
  return ["state.db", "state.db-wal"].map((file) => readFileSync(join(dataDir, file), "latin1")).join("");
}

test("a token is shown once, is stored as a digest, and has the rights of its role where Basic has them", async () => {
  const { status, json } = await make("op", { name: "nightly seeds", role: "operator", expiresAt: null });
  expect([status, json]).toEqual([
    201,
    {
      id: expect.any(Number),
      name: "nightly seeds",
      user: "op",
      role: "operator",
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      expiresAt: null,
      lastUsedAt: null,
      token: expect.stringMatching(/^nht_[\w-]{43}$/),
    },
  ]);
  const token = String(json["token"]);
  expect(JSON.stringify((await send(basic("op"), "GET", "/tokens")).json)).not.toContain("nht_");
  const session = await send(bearer(token), "GET", "/session");
  expect(session.json).toMatchObject({
    user: { name: "op", roles: ["operator"] },
    csrfToken: null,
    permissions: { read: true, operate: true, administer: false },
    keptIn: "configuration",
  });
  const job = await send(bearer(token), "POST", "/jobs", { layer: "open", zoomStop: 0 });
  expect([job.status, job.json["createdBy"]]).toEqual([201, "op"]);
  expect((await send(bearer(token), "PATCH", "/quota", { enabled: false })).status).toBe(403);
  const classic = await fetch(`${server.url}/rest/seed.json`, { headers: { authorization: bearer(token) } });
  expect(classic.status).toBe(200);
  const tile = (authorization?: string) =>
    fetch(`${server.url}/xyz/closed/0/0/0.png`, { headers: authorization === undefined ? {} : { authorization } });
  expect([(await tile()).status, (await tile(bearer(token))).status]).toEqual([401, 200]);
  await until("its use is recorded", async () => {
    const { tokens } = (await send(basic("op"), "GET", "/tokens")).json;
    return tokens.find(({ name }) => name === "nightly seeds")?.lastUsedAt ?? undefined;
  });
  expect(storedState(server.dataDir)).not.toContain(token);
  expect(server.log()).not.toContain(token.slice(4));
});

test("a token has no more rights than its owner, and its owner may give it fewer", async () => {
  const above = await make("op", { name: "a", role: "admin" });
  expect([above.status, above.json.detail]).toEqual([
    403,
    'role: a token of "op" may have no more rights than its roles operator, got admin',
  ]);
  const { token } = await made("root", "viewer");
  expect((await send(bearer(token), "GET", "/jobs")).status).toBe(200);
  expect((await send(bearer(token), "POST", "/jobs", { layer: "open", zoomStop: 0 })).status).toBe(403);
  // A token with the role of a viewer cannot read all data of its owner, an administrator.
  const seen = (await send(bearer(token), "GET", "/tokens")).json.tokens.map(({ user }) => user);
  expect(new Set(seen)).toEqual(new Set(["root"]));
});

test("people see and revoke their own tokens, administrators all", async () => {
  const [mine, other] = [await made("view", "viewer"), await made("op", "viewer")];
  const seenBy = async (user: string) => (await send(basic(user), "GET", "/tokens")).json.tokens.map(({ id }) => id);
  expect(await seenBy("view")).toEqual(expect.arrayContaining([mine.id]));
  expect(await seenBy("view")).not.toContain(other.id);
  expect(await seenBy("root")).toEqual(expect.arrayContaining([mine.id, other.id]));
  const foreign = await send(basic("view"), "DELETE", `/tokens/${other.id}`);
  expect([foreign.status, foreign.json["code"]]).toEqual([404, "unknown_token"]);
  expect((await send(bearer(other.token), "GET", "/jobs")).status).toBe(200);
  expect((await send(basic("root"), "DELETE", `/tokens/${other.id}`)).status).toBe(204);
  expect((await send(bearer(other.token), "GET", "/jobs")).status).toBe(401);
  expect((await send(basic("view"), "DELETE", `/tokens/${mine.id}`)).status).toBe(204);
  expect((await send(basic("view"), "DELETE", `/tokens/${mine.id}`)).status).toBe(404);
});

test("a token makes and deletes no tokens", async () => {
  const { id, token } = await made("root", "admin");
  expect((await send(bearer(token), "POST", "/tokens", { name: "b", role: "viewer" })).status).toBe(403);
  expect((await send(bearer(token), "DELETE", `/tokens/${id}`)).status).toBe(403);
});

test("wrong tokens are 401, more and more slowly, and are in the log without their text", async () => {
  const wrong = `nht_${"A".repeat(43)}`;
  const response = await fetch(`${server.url}/api/v1/jobs`, { headers: { authorization: bearer(wrong) } });
  expect(response.status).toBe(401);
  const flood = await Promise.all(Array.from({ length: 30 }, () => send(bearer(wrong), "GET", "/jobs")));
  expect(new Set(flood.map(({ status }) => status))).toEqual(new Set([401, 429]));
  await until("it is in the log", async () => (server.log().includes("a log-in was refused") ? true : undefined));
  expect(server.log()).not.toContain("AAAAA");
});

test("a token ends at its time", async () => {
  // A busy machine may take longer for the request than the token lives.
  for (let lifeMs = 1_500; ; lifeMs *= 2) {
    const expiresAt = new Date(Date.now() + lifeMs).toISOString();
    const { json } = await make("op", { name: "short", role: "viewer", expiresAt });
    expect(json["expiresAt"]).toBe(expiresAt);
    const status = async () => (await send(bearer(String(json["token"])), "GET", "/jobs")).status;
    const first = await status();
    if (first === 401 && Date.now() > Date.parse(expiresAt)) continue;
    expect(first).toBe(200);
    await until("it has expired", async () => ((await status()) === 401 ? true : undefined));
    return;
  }
});

describe("a bad request is refused with the field and the value:", () => {
  test.each([
    [{}, "name: expected 1 to 100 characters"],
    [
      { name: " a", role: "viewer" },
      'name: expected 1 to 100 characters, no control character, no blank at an end, got " a"',
    ],
    [{ name: "a" }, "role: expected one of admin, operator, viewer, got null"],
    [{ name: "a", role: "root" }, 'role: expected one of admin, operator, viewer, got "root"'],
    [
      { name: "a", role: "viewer", expiresAt: "2027-01-01" },
      'expiresAt: expected a moment with its time zone, such as 2027-01-31T00:00:00Z, got "2027-01-01"',
    ],
    [
      { name: "a", role: "viewer", expiresAt: "2020-01-01T00:00:00Z" },
      'expiresAt: expected a moment in the future, got "2020-01-01T00:00:00Z"',
    ],
    [{ name: "a", role: "viewer", days: 3 }, "days: unknown field"],
  ])("%o", async (document, detail) => {
    const { status, json } = await make("op", document);
    expect([status, json.detail]).toEqual([400, expect.stringContaining(detail)]);
  });
});

test("tokens survive a kill and a reload, and die with their user", async () => {
  const [kept, lost] = [await made("op", "operator"), await made("view", "viewer")];
  server = await server.restart();
  const status = async (token: string) => (await send(bearer(token), "GET", "/jobs")).status;
  expect([await status(kept.token), await status(lost.token)]).toEqual([200, 200]);
  const reload = async (users: readonly string[]) => {
    writeFileSync(join(server.dataDir, "nuthatch.yaml"), configuration(users));
    expect((await send(basic("root"), "POST", "/reload")).status).toBe(200);
  };
  await reload(["root", "op"]);
  await reload(Object.keys(USERS));
  expect([await status(kept.token), await status(lost.token)]).toEqual([200, 401]);
});

test("with several processes a token is made and revoked in all of them before the answer", async () => {
  const many = await startServer({ configuration: configuration(["root"], "server: { workers: 2 }") });
  const before = server;
  server = many;
  try {
    for (let round = 0; round < 3; round++) {
      const { id, token } = await made("root", "viewer");
      const all = () => Promise.all(Array.from({ length: 8 }, () => send(bearer(token), "GET", "/jobs")));
      expect(new Set((await all()).map(({ status }) => status))).toEqual(new Set([200]));
      expect((await send(basic("root"), "DELETE", `/tokens/${id}`)).status).toBe(204);
      expect((await all()).map(({ status }) => status)).not.toContain(200);
    }
  } finally {
    server = before;
    await many.close();
  }
});

test("a server without users has no tokens", async () => {
  const open = await startServer();
  try {
    const post = await fetch(`${open.url}/api/v1/tokens`, { method: "POST", body: '{"name":"a","role":"admin"}' });
    expect(post.status).toBe(409);
    expect(await (await fetch(`${open.url}/api/v1/tokens`)).json()).toEqual({ tokens: [] });
  } finally {
    await open.close();
  }
});

test("the event stream of a token ends when the token is deleted", async () => {
  const { id, token } = await made("op", "viewer");
  const headers = { authorization: bearer(token), connection: "close" };
  const response = await fetch(`${server.url}/api/v1/events`, { headers });
  expect(response.status).toBe(200);
  const ended = (async () => {
    for await (const _ of response.body ?? []);
    return true;
  })();
  expect((await send(basic("op"), "DELETE", `/tokens/${id}`)).status).toBe(204);
  expect(await ended).toBe(true);
});
