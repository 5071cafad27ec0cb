import type { ServiceParts } from "../ledger/service-parts.ts";
import type { StateWriter } from "../ledger/state-writer.ts";
import { conflict, type Refusal, unknownToken, unknownUser } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { isoTime, isoTimeOrNull } from "../lib/time/iso-time.ts";
import { type Database, int, intOrNull, type Row, text } from "../state/database.ts";
import { insert } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";
import type { ApiTokenView } from "./account-documents.ts";
import { type ApiToken, digestOfToken, newTokenText } from "./api-token.ts";
import type { SessionService } from "./session-service.ts";
import { allUsers, asPasswordHash, type KeptUser, placeText, ROLES, type Role, type User } from "./user.ts";

export const accountTables: Tables = `
  CREATE TABLE api_token (
    id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL UNIQUE, name TEXT NOT NULL, user TEXT NOT NULL,
    role TEXT NOT NULL, made_ms INTEGER NOT NULL, expires_ms INTEGER, used_ms INTEGER
  );
  CREATE TABLE user (name TEXT PRIMARY KEY, password_hash TEXT NOT NULL, roles TEXT NOT NULL) WITHOUT ROWID;`;

/** The most tokens of one user. */
const MOST_TOKENS = 100;
/** An expired token is listed for this time. */
const EXPIRED_LISTED_MS = 30 * 86_400_000;

/** The accounts of the state database. Every process that answers requests has a copy. */
export interface Accounts {
  readonly users: readonly User[];
  readonly tokens: readonly ApiToken[];
}

export const NO_ACCOUNTS: Accounts = { users: [], tokens: [] };

export interface AccountParts extends Pick<ServiceParts, "db" | "clock" | "random"> {
  readonly state: Pick<StateWriter, "fault">;
  readonly sessions: Pick<SessionService, "endSessionsOf">;
  /** Returns the users that the configuration names. They cannot be changed here. */
  readonly configuredUsers: () => readonly KeptUser[];
  /** Called with the accounts after each change, before the change is answered. */
  readonly accountsChanged: (accounts: Accounts) => void;
}

/** The fields of a token that a client requests. */
export interface NewToken extends Pick<ApiToken, "user" | "role" | "expiresMs"> {
  readonly name: string;
}

/** A change of a user. Absent fields keep their values. */
export interface UserChange extends Partial<Pick<User, "passwordHash" | "roles">> {
  /** Refuses the change if the user has another hash now. */
  readonly ifPasswordHash?: string;
}

/**
 * Stores the users that were added over HTTP, and API tokens. Every process that answers requests learns of each change
 * before the change is answered.
 */
export class AccountService {
  readonly #parts: AccountParts;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  /**
   * Sends the accounts to all processes, without the tokens of deleted users. Called at the start and after a reload.
   */
  usersChanged(): void {
    const { db, accountsChanged, state } = this.#parts;
    const gone = [...new Set(this.#tokens().map(({ user }) => user))].filter((user) => !this.#hasUser(user));
    // An open server has no users, and accepts no token. The tokens stay in the database for the next configuration.
    if (gone.length > 0 && this.#allUsers().length > 0)
      try {
        db.transaction(() => {
          for (const user of gone) db.prepare('DELETE FROM api_token WHERE "user" = ?').run(user);
        });
      } catch (error) {
        // A full disk does not stop a reload: a token without its user is refused, and the next call deletes it.
        state.fault(error);
      }
    accountsChanged(this.#accounts());
  }

  #hasUser(name: string): boolean {
    return this.#allUsers().some((user) => user.name === name);
  }

  #allUsers(): readonly KeptUser[] {
    return allUsers(this.#parts.configuredUsers(), this.#users());
  }

  #accounts(): Accounts {
    return storedAccounts(this.#parts.db);
  }

  #users(): readonly User[] {
    return storedUsers(this.#parts.db);
  }

  #tokens(): readonly ApiToken[] {
    return storedTokens(this.#parts.db);
  }

  /** Makes a change in a transaction, and sends the accounts. */
  #change(write: () => void): void {
    this.#parts.db.transaction(write);
    this.#parts.accountsChanged(this.#accounts());
  }

  /**
   * Adds a user. Refuses a name that is taken. Refuses the first user of an open server, because any client could add
   * that user.
   */
  async addUser(user: User): Promise<Result<null, Refusal>> {
    const { db } = this.#parts;
    if (this.#allUsers().length === 0)
      return refuse(
        conflict(
          "No users are configured: name the first administrator in the configuration file (nuthatch user add), or set NUTHATCH_ADMIN_PASSWORD.",
        ),
      );
    const before = this.#allUsers().find(({ name }) => name === user.name);
    if (before !== undefined)
      return refuse(conflict(`The user ${JSON.stringify(user.name)} already exists, in ${placeText(before.keptIn)}.`));
    const { name, passwordHash, roles } = user;
    this.#change(() => insert(db, "user", { name, password_hash: passwordHash, roles: JSON.stringify(roles) }));
    return ok(null);
  }

  /** Changes the given fields of a user and ends the user's sessions. */
  async changeUser(
    name: string,
    { ifPasswordHash, ...change }: UserChange,
  ): Promise<Result<Pick<User, "name" | "roles">, Refusal>> {
    const user = this.#changeable(name);
    if (!user.ok) return user;
    if (ifPasswordHash !== undefined && user.value.passwordHash !== ifPasswordHash)
      return refuse(conflict(`The password of ${JSON.stringify(name)} has been changed since the request was sent.`));
    const { passwordHash, roles } = { ...user.value, ...change };
    if (!roles.includes("admin") && this.#isLastAdministrator(name)) return refuse(lastAdministrator(name));
    const { db, sessions } = this.#parts;
    this.#change(() => {
      db.prepare('UPDATE "user" SET password_hash = ?, roles = ? WHERE name = ?').run(
        passwordHash,
        JSON.stringify(roles),
        name,
      );
      sessions.endSessionsOf(name);
    });
    return ok({ name, roles });
  }

  /** Deletes a user with the user's tokens and sessions. */
  async deleteUser(name: string): Promise<Result<null, Refusal>> {
    const user = this.#changeable(name);
    if (!user.ok) return user;
    if (this.#isLastAdministrator(name)) return refuse(lastAdministrator(name));
    const { db, sessions } = this.#parts;
    this.#change(() => {
      db.prepare('DELETE FROM "user" WHERE name = ?').run(name);
      db.prepare('DELETE FROM api_token WHERE "user" = ?').run(name);
      sessions.endSessionsOf(name);
    });
    return ok(null);
  }

  /** Returns a user of the database. Refuses a user of the configuration: the refusal names the file or variable. */
  #changeable(name: string): Result<User, Refusal> {
    const user = this.#allUsers().find((one) => one.name === name);
    if (user === undefined) return refuse(unknownUser(name));
    if (user.keptIn.kind === "database") return ok(user);
    const place = placeText(user.keptIn);
    return refuse(conflict(`The user ${JSON.stringify(name)} is in ${place}, and can be changed only there.`));
  }

  #isLastAdministrator(name: string): boolean {
    const administrators = this.#allUsers().filter(({ roles }) => roles.includes("admin"));
    return administrators.length === 1 && administrators[0]?.name === name;
  }

  /**
   * Returns tokens, the newest first.
   * @param user the owner; undefined for the tokens of all users
   */
  async apiTokens(user: string | undefined): Promise<readonly ApiTokenView[]> {
    return this.#parts.db
      .prepare('SELECT * FROM api_token WHERE CAST(? AS TEXT) IS NULL OR "user" = ? ORDER BY id DESC')
      .all(user ?? null, user ?? null)
      .map(viewOf);
  }

  /** Makes a token. Returns its text, of which only a digest is stored. */
  async makeApiToken({
    name,
    user,
    role,
    expiresMs,
  }: NewToken): Promise<Result<{ readonly text: string; readonly view: ApiTokenView }, Refusal>> {
    const { db, clock, random } = this.#parts;
    // A reload may have removed the user since the request was permitted.
    if (!this.#hasUser(user)) return refuse(conflict(`The user ${JSON.stringify(user)} no longer exists.`));
    const nowMs = clock.now();
    const made = db.prepare(
      'SELECT count(*) AS n FROM api_token WHERE "user" = ? AND (expires_ms IS NULL OR expires_ms >= ?)',
    );
    const count = made.get(user, nowMs - EXPIRED_LISTED_MS)?.["n"];
    if (Number(count) >= MOST_TOKENS)
      return refuse(conflict(`A user has at most ${MOST_TOKENS} tokens; delete an unused token first.`));
    const tokenText = newTokenText(random);
    this.#change(() => {
      db.prepare("DELETE FROM api_token WHERE expires_ms < ?").run(nowMs - EXPIRED_LISTED_MS);
      const digest = digestOfToken(tokenText);
      insert(db, "api_token", { digest, name, user, role, made_ms: nowMs, expires_ms: expiresMs });
    });
    const row = db.prepare("SELECT * FROM api_token WHERE digest = ?").get(digestOfToken(tokenText));
    if (row === undefined) throw new Error("a token that was made is not there");
    return ok({ text: tokenText, view: viewOf(row) });
  }

  /**
   * Deletes a token.
   * @param user the owner; undefined to delete the token of any user
   */
  async deleteApiToken(id: number, user: string | undefined): Promise<Result<null, Refusal>> {
    const { db } = this.#parts;
    const row = db.prepare('SELECT "user" FROM api_token WHERE id = ?').get(id);
    if (row === undefined || (user !== undefined && text(row, "user") !== user)) return refuse(unknownToken(id));
    this.#change(() => db.prepare("DELETE FROM api_token WHERE id = ?").run(id));
    return ok(null);
  }

  /** Records that a token is in use. */
  async apiTokenUsed(id: number): Promise<void> {
    const { db, clock } = this.#parts;
    db.unsynced(() => db.prepare("UPDATE api_token SET used_ms = ? WHERE id = ?").run(clock.now(), id));
  }
}

/**
 * Returns the accounts of the database.
 * @throws an error of the database, also if it lacks a table of this version
 */
export const storedAccounts = (db: Database): Accounts => ({ users: storedUsers(db), tokens: storedTokens(db) });

const storedUsers = (db: Database): readonly User[] =>
  db.prepare('SELECT * FROM "user" ORDER BY name').all().map(userOf);

const storedTokens = (db: Database): readonly ApiToken[] => db.prepare("SELECT * FROM api_token").all().map(tokenOf);

const lastAdministrator = (name: string): Refusal =>
  conflict(`The user ${JSON.stringify(name)} is the last administrator; give another user the role admin first.`);

const userOf = (row: Row): User => ({
  name: text(row, "name"),
  passwordHash: asPasswordHash(text(row, "password_hash")),
  // `addUser` or `changeUser` has written the text, so it needs no validation.
  roles: JSON.parse(text(row, "roles")),
});

const tokenOf = (row: Row): ApiToken => ({
  id: int(row, "id"),
  user: text(row, "user"),
  role: roleOf(row),
  digest: text(row, "digest"),
  expiresMs: intOrNull(row, "expires_ms"),
});

function viewOf(row: Row): ApiTokenView {
  const { id, user, role, expiresMs } = tokenOf(row);
  return {
    id,
    name: text(row, "name"),
    user,
    role,
    createdAt: isoTime(int(row, "made_ms")),
    expiresAt: isoTimeOrNull(expiresMs),
    lastUsedAt: isoTimeOrNull(intOrNull(row, "used_ms")),
  };
}

function roleOf(row: Row): Role {
  const given = text(row, "role");
  const role = ROLES.find((known) => known === given);
  if (role === undefined) throw new TypeError(`the database holds the role ${given} of an account`);
  return role;
}
