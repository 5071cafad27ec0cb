import { createHash } from "node:crypto";
import type { ServiceParts } from "../ledger/service-parts.ts";
import type { Random } from "../lib/random/random.ts";
import type { Clock } from "../lib/time/clock.ts";
import { type Database, type Row, text } from "../state/database.ts";
import { NO_LIMIT } from "../state/dialect.ts";
import { insert } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";

export const sessionTables: Tables = `
  CREATE TABLE session (
    token_digest BLOB PRIMARY KEY, user TEXT NOT NULL, account TEXT NOT NULL, csrf_token TEXT NOT NULL,
    made_ms INTEGER NOT NULL, used_ms INTEGER NOT NULL
  ) WITHOUT ROWID;`;

const HOUR_MS = 3_600_000;
/** A session ends after this time without a request. */
const IDLE_MS = 12 * HOUR_MS;
/** A session ends at this age, even if it is used. */
const LONGEST_MS = 7 * 24 * HOUR_MS;
/** Matches ended sessions. `endedBefore` returns the values of the placeholders. */
const ENDED = "used_ms < ? OR made_ms < ?";
const endedBefore = (now: number): [usedMs: number, madeMs: number] => [now - IDLE_MS, now - LONGEST_MS];
/** The most sessions in the database. A new session then ends the longest unused one of all accounts. */
const MOST_SESSIONS = 10_000;
/** The most sessions of one account. A new session then ends the longest unused one of the account. */
const MOST_OF_USER = 100;
/** The time of the last use is written at most once in this time. */
const USE_WRITTEN_MS = 60_000;

/** The data of a session, without the secret of its cookie. */
export interface Session {
  readonly user: string;
  /** Identifies the password with which the session was opened. Another password of the user ends the session. */
  readonly account: string;
  /** The token that a change must carry in a header. A page of another site cannot know it. */
  readonly csrfToken: string;
}

/** The sessions of people who signed in with a browser. They survive a restart of the server. */
export class SessionService {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor({ db, clock, random }: Pick<ServiceParts, "db" | "clock" | "random">) {
    this.#db = db;
    this.#clock = clock;
    this.#random = random;
  }

  /** Opens a session of a user who has signed in. Returns its token, of which only a digest is stored. */
  async openSession({
    user,
    account,
  }: Pick<Session, "user" | "account">): Promise<{ readonly token: string; readonly csrfToken: string }> {
    const token = randomToken(this.#random);
    const csrfToken = randomToken(this.#random);
    const now = this.#clock.now();
    this.#db.transaction(() => {
      this.#db.prepare(`DELETE FROM session WHERE ${ENDED}`).run(...endedBefore(now));
      this.#db
        .prepare(
          `DELETE FROM session WHERE token_digest IN (SELECT token_digest FROM session ORDER BY used_ms DESC LIMIT ${NO_LIMIT} OFFSET ?)`,
        )
        .run(MOST_SESSIONS - 1);
      this.#db
        .prepare(
          `DELETE FROM session WHERE token_digest IN (SELECT token_digest FROM session WHERE "user" = ? ORDER BY used_ms DESC LIMIT ${NO_LIMIT} OFFSET ?)`,
        )
        .run(user, MOST_OF_USER - 1);
      const times = { made_ms: now, used_ms: now };
      insert(this.#db, "session", { token_digest: digest(token), user, account, csrf_token: csrfToken, ...times });
    });
    return { token, csrfToken };
  }

  #row(key: Uint8Array, now: number): Row | undefined {
    return this.#db
      .prepare(`SELECT * FROM session WHERE token_digest = ? AND NOT (${ENDED})`)
      .get(key, ...endedBefore(now));
  }

  /** Returns whether a token has a session. Does not count as a use of the session. */
  async isSession(token: string): Promise<boolean> {
    return this.#row(digest(token), this.#clock.now()) !== undefined;
  }

  /** Returns the session of a token. Undefined if the token has no session, or its session has ended. */
  async session(token: string): Promise<Session | undefined> {
    const key = digest(token);
    const now = this.#clock.now();
    const row = this.#row(key, now);
    if (row === undefined) return undefined;
    if (Math.abs(now - Number(row["used_ms"])) > USE_WRITTEN_MS)
      this.#db.unsynced(() => this.#db.prepare("UPDATE session SET used_ms = ? WHERE token_digest = ?").run(now, key));
    return { user: text(row, "user"), account: text(row, "account"), csrfToken: text(row, "csrf_token") };
  }

  /** Ends the sessions of a user. Runs inside the caller's transaction. */
  endSessionsOf(user: string): void {
    this.#db.prepare('DELETE FROM session WHERE "user" = ?').run(user);
  }

  /** Ends the session of a token, if there is one. */
  async closeSession(token: string): Promise<void> {
    this.#db.transaction(() => this.#db.prepare("DELETE FROM session WHERE token_digest = ?").run(digest(token)));
  }
}

/** Returns 256 random bits. */
const randomToken = (random: Random): string => random.bytes(32).toString("base64url");

const digest = (token: string): Uint8Array => createHash("sha256").update(token).digest();
