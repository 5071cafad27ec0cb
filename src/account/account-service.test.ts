import { expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { machineRandom } from "../lib/random/machine-random.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { type AccountParts, AccountService, type Accounts, accountTables } from "./account-service.ts";
import { SessionService, sessionTables } from "./session-service.ts";
import type { KeptUser } from "./user.ts";

const user = (name: string): KeptUser => ({
  name,
  passwordHash: "",
  roles: ["admin"],
  keptIn: { kind: "configuration", file: null },
});

function accounts(users: readonly KeptUser[]) {
  const real = openTestDatabase(":memory:");
  real.createTables([sessionTables, accountTables]);
  const state = { users, isFull: false, faults: 0, sent: [] as Accounts[] };
  const db: AccountParts["db"] = {
    ...real,
    transaction(body) {
      if (state.isFull) throw new Error("database or disk is full");
      return real.transaction(body);
    },
  };
  const service = new AccountService({
    db,
    clock: machineClock,
    random: machineRandom,
    sessions: new SessionService({ db, clock: machineClock, random: machineRandom }),
    configuredUsers: () => state.users,
    accountsChanged: (sent) => state.sent.push(sent),
    state: { fault: () => void state.faults++ },
  });
  return { service, state, db };
}

test("a full disk does not stop a reload that removes a user, and the tokens are deleted after it", async () => {
  const { service, state } = accounts([user("ann"), user("ben")]);
  for (const name of ["ann", "ben"])
    await service.makeApiToken({ name: "t", user: name, role: "viewer", expiresMs: null });
  state.users = [user("ann")];
  state.isFull = true;
  service.usersChanged();
  expect([state.faults, state.sent.at(-1)?.tokens.length]).toEqual([1, 2]);
  state.isFull = false;
  service.usersChanged();
  expect(state.sent.at(-1)?.tokens).toMatchObject([{ user: "ann" }]);
});

test("a start without users keeps the tokens, and a user has a limited number of them", async () => {
  const { service, state } = accounts([user("ann")]);
  const make = () => service.makeApiToken({ name: "t", user: "ann", role: "viewer", expiresMs: null });
  for (let n = 0; n < 100; n++) expect((await make()).ok).toBe(true);
  expect(await make()).toMatchObject({ ok: false, error: { code: "conflict" } });
  state.users = [];
  service.usersChanged();
  expect(state.sent.at(-1)?.tokens).toHaveLength(100);
});

test("a change of the own password does not undo the change that an administrator made meanwhile", async () => {
  const { service, state } = accounts([user("ann")]);
  await service.addUser({ name: "ben", passwordHash: "stolen", roles: ["viewer"] });
  expect(await service.changeUser("ben", { passwordHash: "new" })).toMatchObject({ ok: true });
  const late = await service.changeUser("ben", { ifPasswordHash: "stolen", passwordHash: "of the thief" });
  expect(late).toMatchObject({ ok: false, error: { code: "conflict" } });
  expect(state.sent.at(-1)?.users).toMatchObject([{ name: "ben", passwordHash: "new" }]);
  expect(await service.changeUser("ben", { ifPasswordHash: "new", roles: ["operator"] })).toMatchObject({ ok: true });
});

test("the database has no text of a token, with which its reader could sign in", async () => {
  const { service, db } = accounts([user("ann")]);
  const made = await service.makeApiToken({ name: "ci", user: "ann", role: "viewer", expiresMs: null });
  if (!made.ok) expect.fail("the token was not made");
  const rows = JSON.stringify(db.prepare("SELECT * FROM api_token").all());
  expect(rows).toContain("ann");
  expect(rows).not.toContain(made.value.text);
});
