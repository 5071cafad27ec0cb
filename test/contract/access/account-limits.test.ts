import bcrypt from "bcryptjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";

// The limits of one account: its sessions and streams of events do not reduce another account's limits.
const ACCOUNT_LIMIT = 100;
const NAMES = ["ann", "bob"] as const;
type Name = (typeof NAMES)[number];
const users = NAMES.map((name) => ({ name, passwordHash: bcrypt.hashSync(`secret of ${name}`, 4), roles: ["viewer"] }));
let server: TestServer;
beforeAll(async () => {
  const layers = [{ name: "a", source: { type: "demo", dataset: "states" } }];
  server = await startServer({ configuration: JSON.stringify({ users, layers }) });
});
afterAll(() => server.close());

async function signedIn(name: Name): Promise<string> {
  const body = JSON.stringify({ name, password: `secret of ${name}` });
  const response = await fetch(`${server.url}/api/v1/session`, { method: "POST", body });
  expect(response.status).toBe(200);
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}
async function isOpen(cookie: string): Promise<boolean> {
  const response = await fetch(`${server.url}/api/v1/session`, { headers: { cookie } });
  return ((await response.json()) as { readonly user: unknown }).user !== null;
}

test("a sign-in above the limit of an account ends its own oldest session alone", async () => {
  const other = await signedIn("bob");
  const first = await signedIn("ann");
  const second = await signedIn("ann");
  for (let i = 2; i < ACCOUNT_LIMIT; i++) await signedIn("ann");
  expect([await isOpen(first), await isOpen(second), await isOpen(other)]).toEqual([true, true, true]);
  const last = await signedIn("ann");
  const open = await Promise.all([first, second, last, other].map(isOpen));
  expect(open).toEqual([false, true, true, true]);
});

test("a stream of events above the limit of an account is 503 while another account's opens", async () => {
  const all = new AbortController();
  const status = async (name: Name): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`${name}:secret of ${name}`).toString("base64")}`;
    const response = await fetch(`${server.url}/api/v1/events`, { headers: { authorization }, signal: all.signal });
    return response.status;
  };
  try {
    const streams = await Promise.all(Array.from({ length: ACCOUNT_LIMIT }, () => status("ann")));
    expect(new Set(streams)).toEqual(new Set([200]));
    expect([await status("ann"), await status("bob")]).toEqual([503, 200]);
  } finally {
    all.abort();
  }
});
