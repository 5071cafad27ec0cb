import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import bcrypt from "bcryptjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { skippedOnNodes } from "../../support/cluster/balanced.ts";
import { inPostgres } from "../../support/postgres/test-database.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";

// `docs/reference/access.md`, sessions of browsers.
const configuration = (passwordOfView: string) => `
users:
  - { name: admin, password: "administrator", roles: [admin] }
  - { name: view, password: "${passwordOfView}", roles: [viewer] }
layers:
  - { name: a, source: { type: demo, dataset: states } }
`;
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ configuration: configuration("viewer-1") });
});
afterAll(() => server.close());
const at = (path: string): string => `${server.url}${path}`;

const session = (init: RequestInit = {}) => fetch(at("/api/v1/session"), init);
const signIn = (name: string, password: string, headers: Record<string, string> = {}) =>
  session({ method: "POST", body: JSON.stringify({ name, password }), headers });
const NOBODY = {
  user: null,
  csrfToken: null,
  needsSignIn: true,
  permissions: { read: false, operate: false, administer: false },
  keptIn: null,
  version: null,
};
const ALL = { read: true, operate: true, administer: true };
const VERSION = expect.stringMatching(/^\d+\.\d+\.\d+/);

interface SignedIn {
  readonly cookie: string;
  readonly csrfToken: string;
}

async function signedIn(name: string, password: string): Promise<SignedIn> {
  const response = await signIn(name, password);
  expect(response.status).toBe(200);
  const { csrfToken } = (await response.json()) as { readonly csrfToken: string };
  const [cookie = ""] = response.headers.getSetCookie();
  return { cookie: cookie.split(";")[0] ?? "", csrfToken };
}

test("without an account GET is 200 and names nobody, and everything else still needs credentials", async () => {
  const response = await session();
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual(NOBODY);
  const jobs = await fetch(at("/api/v1/jobs"), {
    headers: { "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin" },
  });
  expect([jobs.status, jobs.headers.get("www-authenticate")]).toEqual([401, null]);
});

test("a sign-in answers the user, the roles and a token, and sets a cookie that scripts and other sites do not get", async () => {
  const response = await signIn("admin", "administrator");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    user: { name: "admin", roles: ["admin"] },
    csrfToken: expect.stringMatching(/^[\w-]{43}$/),
    needsSignIn: false,
    permissions: ALL,
    keptIn: "configuration",
    version: VERSION,
  });
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^nuthatch_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
  const mounted = await fetch(at("/geowebcache/api/v1/session"), {
    method: "POST",
    body: '{"name":"admin","password":"administrator"}',
  });
  expect(mounted.headers.getSetCookie()[0]).toContain("; Path=/geowebcache;");
});

test("wrong pairs are 401, bad bodies 400, and neither sets a cookie", async () => {
  for (const [name, password] of [
    ["admin", "wrong"],
    ["nobody", "administrator"],
    ["", ""],
  ] as const) {
    const response = await signIn(name, password);
    expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
  }
  for (const [body, message] of [
    ["", /body: expected a JSON object/],
    ["[]", /body: expected a JSON object/],
    ['{"name":"admin"}', /^password: expected text/],
    ['{"name":1,"password":"x"}', /^name: expected text/],
    ['{"name":"admin","password":"x","role":"admin"}', /role: unknown field/],
  ] as const) {
    const response = await session({ method: "POST", body });
    const problem = (await response.json()) as { readonly detail: string };
    expect([response.status, response.headers.getSetCookie()], body).toEqual([400, []]);
    expect(problem.detail).toMatch(message);
  }
});

test("the cookie reads with the roles of its user, and a change with it needs the token", async () => {
  const { cookie, csrfToken } = await signedIn("admin", "administrator");
  const who = await session({ headers: { cookie } });
  expect(await who.json()).toMatchObject({ user: { name: "admin", roles: ["admin"] }, csrfToken, needsSignIn: false });
  expect((await fetch(at("/rest/seed.json"), { headers: { cookie } })).status).toBe(200);
  const put = (headers: Record<string, string>) =>
    fetch(at("/api/v1/quota"), { method: "PATCH", body: '{"enabled":false}', headers });
  const refused = await put({ cookie });
  expect(refused.status).toBe(403);
  expect(((await refused.json()) as { readonly detail: string }).detail).toContain("X-CSRF-Token");
  expect((await put({ cookie, "X-CSRF-Token": `${csrfToken.slice(1)}x` })).status).toBe(403);
  expect((await put({ cookie, "X-CSRF-Token": csrfToken, "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  expect((await put({ cookie, "X-CSRF-Token": csrfToken })).status).toBe(200);
  const viewer = await signedIn("view", "viewer-1");
  expect((await put({ cookie: viewer.cookie, "X-CSRF-Token": viewer.csrfToken })).status, "of a viewer").toBe(403);
  expect((await put({ cookie, "X-CSRF-Token": viewer.csrfToken })).status, "of another session").toBe(403);
});

test("DELETE signs out, with the token; the cookie is nobody's then", async () => {
  const { cookie, csrfToken } = await signedIn("admin", "administrator");
  expect((await session({ method: "DELETE", headers: { cookie } })).status).toBe(403);
  const out = await session({ method: "DELETE", headers: { cookie, "X-CSRF-Token": csrfToken } });
  expect(out.status).toBe(204);
  expect(out.headers.getSetCookie()[0]).toMatch(/^nuthatch_session=; .*Max-Age=0$/);
  expect(await (await session({ headers: { cookie } })).json()).toEqual(NOBODY);
  expect((await fetch(at("/api/v1/jobs"), { headers: { cookie } })).status).toBe(401);
});

test("Basic wins over a cookie, and needs no token", async () => {
  const { cookie } = await signedIn("view", "viewer-1");
  const authorization = `Basic ${Buffer.from("admin:administrator").toString("base64")}`;
  const changed = await fetch(at("/api/v1/quota"), {
    method: "PATCH",
    body: '{"enabled":false}',
    headers: { cookie, authorization },
  });
  expect(changed.status).toBe(200);
});

test("a session survives a restart and a reload, but not another password of its user", async () => {
  const { cookie } = await signedIn("view", "viewer-1");
  const reload = async (text: string) => {
    writeFileSync(join(server.dataDir, "nuthatch.yaml"), text);
    const authorization = `Basic ${Buffer.from("admin:administrator").toString("base64")}`;
    const response = await fetch(at("/api/v1/reload"), { method: "POST", headers: { authorization } });
    expect(response.status).toBe(200);
  };
  const isSignedIn = async () => {
    const response = await session({ headers: { cookie } });
    return ((await response.json()) as { readonly user: unknown }).user !== null;
  };
  server = await server.restart();
  expect(await isSignedIn(), "after a kill and a start").toBe(true);
  await reload(configuration("viewer-1"));
  expect(await isSignedIn(), "after a reload").toBe(true);
  await reload(configuration("viewer-2"));
  expect(await isSignedIn(), "after a change of the password").toBe(false);
  // Tests run in any order, and other tests sign in with the first password.
  await reload(configuration("viewer-1"));
});

test("a request learns what it may do, and which place names its user", async () => {
  const passwords = { ann: "operator", eve: "htpasswd", root: "environment" };
  const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-test-"));
  writeFileSync(join(dataDir, "htpasswd"), `eve:${bcrypt.hashSync(passwords.eve, 4)}\n`);
  const other = await startServer({
    dataDir,
    configuration: `
users: [{ name: ann, password: ${passwords.ann}, roles: [operator] }]
htpasswd: { file: "${join(dataDir, "htpasswd")}", roles: [viewer] }
`,
    env: { NUTHATCH_ADMIN_PASSWORD: passwords.root, NUTHATCH_ADMIN_USER: "root" },
  });
  try {
    const seen = [];
    for (const [name, password] of Object.entries(passwords)) {
      const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
      const response = await fetch(`${other.url}/api/v1/session`, { headers: { authorization } });
      const { permissions, keptIn } = (await response.json()) as Record<string, unknown>;
      seen.push([name, keptIn, permissions]);
    }
    expect(seen).toEqual([
      ["ann", "configuration", { ...ALL, administer: false }],
      ["eve", "htpasswd", { read: true, operate: false, administer: false }],
      ["root", "environment", ALL],
    ]);
  } finally {
    await other.close();
  }
});

test("a server without users needs no sign-in and says so", async () => {
  const open = await startServer();
  try {
    const who = await fetch(`${open.url}/api/v1/session`);
    expect(await who.json()).toEqual({ ...NOBODY, needsSignIn: false, permissions: ALL, version: VERSION });
    const response = await fetch(`${open.url}/api/v1/session`, {
      method: "POST",
      body: '{"name":"admin","password":"administrator"}',
    });
    expect(response.status).toBe(409);
  } finally {
    await open.close();
  }
});

/** Overwrites the page of the sessions in the database of a stopped server. */
function damageSessions(dataDir: string): void {
  const program = `import Sqlite from "libsql";
import { openSync, writeSync, closeSync } from "node:fs";
const db = new Sqlite(process.argv[1]);
const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'session'").get();
const { page_size } = db.prepare("PRAGMA page_size").get();
db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
db.close();
const file = openSync(process.argv[1], "r+");
writeSync(file, Buffer.alloc(page_size, 255), 0, page_size, (rootpage - 1) * page_size);
closeSync(file);`;
  execFileSync(process.execPath, ["--input-type=module", "-e", program, join(dataDir, "state.db")]);
}

// `test/engine/postgres/outages.test.ts` has the outages of PostgreSQL.
test.skipIf(inPostgres || skippedOnNodes("the damage is one of the file of an embedded state"))(
  "a session that cannot be read is 503, and credentials still work",
  async () => {
    let damaged = await startServer({ configuration: configuration("viewer-1") });
    try {
      await damaged.kill("SIGTERM");
      damageSessions(damaged.dataDir);
      damaged = await damaged.restart();
      const jobs = (headers: Readonly<Record<string, string>>) => fetch(`${damaged.url}/api/v1/jobs`, { headers });
      const response = await jobs({ cookie: `nuthatch_session=${"x".repeat(43)}` });
      expect([response.status, response.headers.get("retry-after"), await response.json()]).toEqual([
        503,
        "5",
        expect.objectContaining({ code: "unavailable", detail: expect.stringMatching(/cannot be used at present/) }),
      ]);
      expect(damaged.log()).toContain("a request failed by a fault of the disk");
      const authorization = `Basic ${Buffer.from("view:viewer-1").toString("base64")}`;
      expect((await jobs({ authorization })).status).toBe(200);
    } finally {
      await damaged.close();
    }
  },
);
