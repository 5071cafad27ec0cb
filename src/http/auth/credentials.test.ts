import { scryptSync } from "node:crypto";
import bcrypt from "bcryptjs";
import { beforeAll, expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { QuickClock } from "../../../test/support/quick-clock.ts";
import { digestOfToken, newTokenText } from "../../account/api-token.ts";
import { hashPassword } from "../../account/password.ts";
import type { User } from "../../account/user.ts";
import { machineRandom } from "../../lib/random/machine-random.ts";
import { Authenticator, type Checked } from "./credentials.ts";
import { mayDo } from "./rights.ts";

const random = machineRandom;

/** The signal of a client that waits for its response. */
const stays = (): AbortSignal => new AbortController().signal;
const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
const users: User[] = [];
beforeAll(async () => {
  users.push({ name: "ann", passwordHash: await hashPassword("right"), roles: ["operator"] });
});
/** Returns a hash that takes almost no time to compare. */
const cheapHash = (password: string): string =>
  `scrypt:1:1:1:c2FsdHNhbHQ:${scryptSync(password, Buffer.from("c2FsdHNhbHQ", "base64"), 32, { N: 2, r: 1, p: 1 }).toString("base64url")}`;
const cheap = (): Authenticator =>
  new Authenticator([{ name: "ann", passwordHash: cheapHash("right"), roles: ["operator"] }], {
    clock: new QuickClock(),
    random,
  });
const kinds = (checked: readonly Checked[]) => checked.map((c) => c.kind);

test("a request without credentials is anonymous, the right pair is its user, anything else is wrong", async () => {
  const clock = new QuickClock();
  const authenticator = new Authenticator(users, { clock, random });
  expect(await authenticator.check(undefined, "a", stays())).toEqual({ kind: "anonymous" });
  expect(await authenticator.check(basic("ann", "right"), "a", stays())).toEqual({ kind: "user", user: users[0] });
  expect(clock.slept).toEqual([]);
  for (const header of [basic("ann", "wrong"), basic("bob", "right"), basic("", ""), "Bearer x", "Basic %"])
    expect(await authenticator.check(header, "a", stays()), header).toEqual({ kind: "wrong" });
});

test("wrong ones are answered more and more slowly, up to a second; absent ones are not counted", async () => {
  const clock = new QuickClock();
  const authenticator = new Authenticator(users, { clock, random });
  for (let i = 0; i < 7; i++) {
    await authenticator.check("Bearer x", "a", stays());
    await authenticator.check(undefined, "b", stays());
  }
  expect(clock.slept).toEqual([50, 100, 200, 400, 800, 1000, 1000]);
  await authenticator.check("Bearer x", "b", stays());
  expect(clock.slept.at(-1), "another address").toBe(50);
  clock.pass(600_001);
  await authenticator.check("Bearer x", "a", stays());
  expect(clock.slept.at(-1), "ten minutes later").toBe(50);
});

test("a bounded number of logins waits, by address and in all; more are refused with Retry-After", async () => {
  const clock = new ManualClock();
  const authenticator = new Authenticator(users, { clock, random });
  const flood = (address: string, count: number) =>
    Array.from({ length: count }, () => authenticator.check("Bearer x", address, stays()));
  const first = flood("a", 10);
  expect(kinds(await Promise.all(first.slice(8)))).toEqual(["throttled", "throttled"]);
  expect(await first[9]).toEqual({ kind: "throttled", retryAfterSeconds: 1 });
  const others = Array.from({ length: 31 }, (_, i) => flood(`b${i}`, 8)).flat();
  expect(clock.timers).toBe(256);
  expect(kinds(await Promise.all(flood("c", 1)))).toEqual(["throttled"]);
  expect(await authenticator.check(basic("ann", "right"), "a", stays()), "the right one meanwhile").toMatchObject({
    kind: "user",
  });
  clock.pass(1000);
  expect(new Set(kinds(await Promise.all([...first.slice(0, 8), ...others])))).toEqual(new Set(["wrong"]));
});

test("the right pair goes before a crowd of wrong ones of an address that failed before", async () => {
  const clock = new QuickClock();
  const authenticator = new Authenticator(users, { clock, random });
  await authenticator.check("Bearer x", "evil", stays());
  const order: string[] = [];
  const crowd = Array.from({ length: 8 }, (_, i) =>
    authenticator.check(basic("ann", `guess ${i}`), "evil", stays()).then(() => order.push("wrong")),
  );
  const right = authenticator.check(basic("ann", "right"), "good", stays()).then(() => order.push("right"));
  await Promise.all([...crowd, right]);
  // Two guesses are being hashed when the pair arrives, and two more may end before it: the pair does not wait for all
  // guesses.
  expect(order.indexOf("right")).toBeLessThanOrEqual(5);
});

test("a verified pair is believed for five minutes, and hashed again after that or a reload", async () => {
  const clock = new QuickClock();
  const authenticator = new Authenticator(users, { clock, random });
  const timed = async () => {
    const begin = performance.now();
    expect((await authenticator.check(basic("ann", "right"), "a", stays())).kind).toBe("user");
    return performance.now() - begin;
  };
  const hashed = await timed();
  const median = async () => {
    const times: number[] = [];
    for (let i = 0; i < 21; i++) times.push(await timed());
    return times.sort((a, b) => a - b)[10] ?? Number.NaN;
  };
  expect(await median(), "no hash takes so little").toBeLessThan(hashed / 4);
  clock.pass(300_001);
  expect(await timed()).toBeGreaterThan((await median()) * 4);
  authenticator.setUsers([{ name: "ann", passwordHash: await hashPassword("new"), roles: ["viewer"] }]);
  expect((await authenticator.check(basic("ann", "right"), "a", stays())).kind).toBe("wrong");
  expect(await authenticator.check(basic("ann", "new"), "a", stays())).toMatchObject({ user: { roles: ["viewer"] } });
  authenticator.setUsers([]);
  expect(authenticator.usersConfigured()).toBe(false);
  expect((await authenticator.check(basic("ann", "new"), "a", stays())).kind).toBe("wrong");
});

test("a burst of one pair is hashed once, however many come", async () => {
  const authenticator = new Authenticator(users, { clock: new QuickClock(), random });
  const burst = Array.from({ length: 200 }, () => authenticator.check(basic("ann", "right"), "a", stays()));
  expect(new Set(kinds(await Promise.all(burst)))).toEqual(new Set(["user"]));
});

test("an unknown name takes as long as a wrong password", async () => {
  const authenticator = new Authenticator(users, { clock: new QuickClock(), random });
  const median = async (name: string) => {
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const begin = performance.now();
      await authenticator.check(basic(name, `wrong ${i}`), name, stays());
      times.push(performance.now() - begin);
    }
    return times.sort((a, b) => a - b)[2] ?? 0;
  };
  const ratio = (await median("ann")) / (await median("bob"));
  expect(ratio).toBeGreaterThan(0.2);
  expect(ratio).toBeLessThan(5);
});

test("viewers read, operators run tasks, administrators do everything", () => {
  const may = (roles: User["roles"]) =>
    (["read", "operate", "administer"] as const).filter((need) => mayDo({ name: "x", passwordHash: "", roles }, need));
  expect(may(["viewer"])).toEqual(["read"]);
  expect(may(["operator"])).toEqual(["read", "operate"]);
  expect(may(["viewer", "admin"])).toEqual(["read", "operate", "administer"]);
  expect(may([])).toEqual([]);
});

test("a hashed wrong password is answered as wrong; too many logins of one address are refused before they are hashed", async () => {
  const authenticator = cheap();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => authenticator.check(basic("ann", `guess ${i}`), "evil", stays())),
  );
  expect(kinds(answers)).toEqual([...Array(32).fill("wrong"), ...Array(8).fill("throttled")]);
});

test("equal wrong pairs that come together cost one hash, and a bounded number of them waits", async () => {
  const clock = new ManualClock();
  const authenticator = new Authenticator(users, { clock, random });
  const answers = Array.from({ length: 20 }, () => authenticator.check(basic("ann", "guess"), "evil", stays()));
  expect(kinds(await Promise.all(answers.slice(9)))).toEqual(Array(11).fill("throttled"));
  clock.pass(1000);
  expect(kinds(await Promise.all(answers.slice(0, 9)))).toEqual(Array(9).fill("wrong"));
});

test("guesses from hundreds of addresses do not lock out the right pair", async () => {
  const authenticator = cheap();
  const crowd = Array.from({ length: 300 }, (_, i) => {
    const guess = basic("ann", `guess ${i}`);
    return authenticator.check(guess, `127.0.${i >> 8}.${i & 255}`, stays());
  });
  const right = await authenticator.check(basic("ann", "right"), "good", stays());
  expect(right.kind).toBe("user");
  expect(new Set(kinds(await Promise.all(crowd)))).toEqual(new Set(["wrong"]));
});

test("a bcrypt hash leaves the event loop to others", async () => {
  const passwordHash = await bcrypt.hash("right", 11);
  const authenticator = new Authenticator([{ name: "bob", passwordHash, roles: ["viewer"] }], {
    clock: new QuickClock(),
    random,
  });
  let isOver = false;
  let turns = 0;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const checked = await authenticator.check(basic("bob", "right"), "a", stays());
  isOver = true;
  expect(checked.kind).toBe("user");
  expect(turns, "computed in this thread, it is some five turns").toBeGreaterThan(100);
});

test("the time of a wrong password does not tell whether the name exists or of which kind its hash is", async () => {
  const authenticator = new Authenticator(
    [
      { name: "scrypt", passwordHash: cheapHash("right"), roles: ["viewer"] },
      { name: "bcrypt", passwordHash: await bcrypt.hash("right", 9), roles: ["viewer"] },
    ],
    { clock: new QuickClock(), random },
  );
  const names = ["scrypt", "bcrypt", "nobody"];
  const times = new Map(names.map((name): [string, number[]] => [name, []]));
  for (let i = 0; i < 11; i++)
    for (const name of names) {
      const begin = performance.now();
      await authenticator.check(basic(name, `wrong ${i}`), name, stays());
      times.get(name)?.push(performance.now() - begin);
    }
  const medians = [...times.values()].map((of) => of.sort((a, b) => a - b)[5] ?? 0);
  expect(Math.max(...medians) / Math.min(...medians)).toBeLessThan(2);
});

test("logins with the right password do not wait for the hashes of wrong passwords of the other kind", async () => {
  const authenticator = new Authenticator(
    [
      { name: "ann", passwordHash: cheapHash("right"), roles: ["viewer"] },
      { name: "bob", passwordHash: await bcrypt.hash("right", 9), roles: ["viewer"] },
    ],
    { clock: new QuickClock(), random },
  );
  let answered = 0;
  const crowd = Array.from({ length: 40 }, async (_, i) => {
    await authenticator.check(basic("ann", `guess ${i}`), `127.0.0.${i}`, stays());
    answered++;
  });
  const right = await authenticator.check(basic("ann", "right"), "good", stays());
  expect(right.kind).toBe("user");
  expect(answered, "guesses answered before").toBeLessThan(20);
  await Promise.all(crowd);
});

test("a pair that came while the same one of a client that leaves was waiting is looked at", async () => {
  const authenticator = new Authenticator(users, { clock: new QuickClock(), random });
  const held = [1, 2].map((n) => authenticator.check(basic("ann", `guess ${n}`), "other", stays()));
  const leaving = new AbortController();
  const left = authenticator.check(basic("ann", "right"), "a", leaving.signal);
  const right = authenticator.check(basic("ann", "right"), "a", stays());
  leaving.abort();
  expect((await left).kind).toBe("throttled");
  expect((await right).kind).toBe("user");
  await Promise.all(held);
});

test("a token has the user that it belongs to, until it ends, its user is gone, or it is revoked", async () => {
  const used: number[] = [];
  const clock = new QuickClock();
  const authenticator = new Authenticator(users, { clock, random }, (id) => used.push(id));
  const [text, expired] = [newTokenText(machineRandom), newTokenText(machineRandom)];
  const token = { id: 7, user: "ann", role: "viewer", digest: digestOfToken(text), expiresMs: null } as const;
  authenticator.setTokens([token, { ...token, id: 8, digest: digestOfToken(expired), expiresMs: clock.now() }]);
  const check = (header: string) => authenticator.check(header, "a", stays());
  expect(await check(`Bearer ${text}`)).toEqual({ kind: "user", user: { ...users[0], roles: ["viewer"] }, tokenId: 7 });
  expect(await check(`Bearer ${text}`)).toMatchObject({ kind: "user" });
  expect([used, clock.slept], "reported once, not delayed").toEqual([[7], []]);
  clock.pass(60_001);
  await check(`Bearer ${text}`);
  expect(used, "a minute later").toEqual([7, 7]);
  for (const header of [`Bearer ${expired}`, `Bearer ${newTokenText(machineRandom)}`, `Basic ${text}`])
    expect((await check(header)).kind, header).toBe("wrong");
  expect(clock.slept, "as wrong passwords").toEqual([50, 100, 200]);
  authenticator.setUsers([]);
  expect((await check(`Bearer ${text}`)).kind).toBe("wrong");
  authenticator.setUsers(users);
  authenticator.setTokens([]);
  expect((await check(`Bearer ${text}`)).kind).toBe("wrong");
});
