import { createHash } from "node:crypto";
import type { Client } from "pg";
import type { Clock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import { postgresTables } from "../tables.ts";
import { refused, unavailable } from "./faults.ts";
import type { PostgresTarget } from "./postgres-url.ts";
import type { Fault } from "./protocol.ts";

/** The lock of a server that has just ended becomes free within milliseconds, or when PostgreSQL notices the end. */
const LOCK_LOOK_MS = 100;
const LONGEST_LOCK_MS = 15_000;

/**
 * Settings of the session. The first three make PostgreSQL notice within seconds that this server's machine is gone, so
 * that it frees the lock. An acknowledged transaction must survive a kill of PostgreSQL, because this process
 * continues.
 */
const SETTINGS = `SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;
  SET idle_in_transaction_session_timeout = '60s'; SET statement_timeout = 0; SET lock_timeout = 0;
  SET client_min_messages = warning; SET standard_conforming_strings = on; SET bytea_output = 'hex';
  SET extra_float_digits = 1; SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'`;

const FACTS = `SELECT current_schema() AS schema, current_setting('server_encoding') AS encoding,
  current_setting('server_version_num')::int AS version, pg_is_in_recovery()::int AS standby`;
const OLDEST_VERSION = 120_000;

/** The session that holds the server's lock. */
const HOLDER = `SELECT pid, coalesce(state_change, 'epoch')::text AS seen, application_name AS name
  FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND classid = $1 AND objid = $2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * The last commit of the server that owns the database. After a lost connection the server recognizes the database by
 * it.
 */
const COMMIT_TABLE =
  "CREATE TABLE IF NOT EXISTS server_commit (id INTEGER PRIMARY KEY CHECK (id = 1), instance TEXT NOT NULL, number INTEGER NOT NULL)";

/**
 * The lease of the cluster's lead, and the nodes that joined and did not leave in order. `createTables` does not
 * create these tables, because nodes need them before a node leads.
 */
export const LEAD_TABLE = [
  `CREATE TABLE IF NOT EXISTS cluster_lead (id INTEGER PRIMARY KEY CHECK (id = 1), epoch BIGINT NOT NULL,
    instance TEXT NOT NULL, name TEXT NOT NULL, address TEXT NOT NULL, expires TIMESTAMPTZ NOT NULL)`,
  `INSERT INTO cluster_lead VALUES (1, 0, '', '', '', clock_timestamp() - interval '1 ms') ON CONFLICT (id) DO NOTHING`,
  `CREATE TABLE IF NOT EXISTS cluster_nodes (name TEXT PRIMARY KEY, instance TEXT NOT NULL, version TEXT NOT NULL,
    lost_ms DOUBLE PRECISION)`,
];
const HAS_LEAD_TABLE = "SELECT (to_regclass('cluster_lead') IS NOT NULL)::int AS found";
const LED = "SELECT name FROM cluster_lead WHERE expires > clock_timestamp()";

/** Who uses a connection: a server that runs alone, or the lead of a cluster, which has already taken the lease. */
export type SessionUse = "server" | "lead";
export const connectionName = (use: SessionUse): string => (use === "lead" ? "nuthatch lead" : "nuthatch");

export interface SessionOwner {
  readonly target: PostgresTarget;
  readonly use: SessionUse;
  /** Identifies this run of the server. */
  readonly instance: string;
  /** The PostgreSQL process of the lost connection. Undefined for the first connection. */
  readonly lostPid: number | undefined;
  readonly clock: Clock;
}

/**
 * Prepares a new connection: applies its settings and takes the lock that allows one server to use the database.
 * @returns why the database cannot be used; undefined on success
 */
export async function beginSession(client: Client, owner: SessionOwner): Promise<Fault | undefined> {
  const { target, use, lostPid } = owner;
  await client.query(SETTINGS);
  const facts = await client.query<{ schema: string | null; encoding: string; version: number; standby: number }>(
    FACTS,
  );
  const [{ schema, encoding, version, standby } = { schema: null, encoding: "", version: 0, standby: 0 }] = facts.rows;
  if (version < OLDEST_VERSION) return refused("", target, "PostgreSQL 12 or later is needed");
  // SQL_ASCII stores the bytes of a text as they are sent. This connection sends UTF-8.
  if (encoding !== "UTF8" && encoding !== "SQL_ASCII")
    return refused("", target, `its encoding is ${encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`);
  if (schema === null)
    return refused("3F000", target, "no schema of its search_path exists: create it, or name another in state.url");
  if (standby === 1) return unavailable("", target, "it is a standby, which takes no changes");
  const led = use === "server" && lostPid === undefined ? await leadName(client) : undefined;
  return led === undefined
    ? takeLock(client, owner, lockKeys(schema))
    : refused("", target, usedBy(`the cluster that ${led} leads`));
}

/** Returns the name of the node that leads a cluster on this database. Undefined if no node leads. */
async function leadName(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ found: number }>(HAS_LEAD_TABLE);
  if (rows[0]?.found !== 1) return undefined;
  return (await client.query<{ name: string }>(LED)).rows[0]?.name;
}

const usedBy = (who: string): string =>
  `${who} uses it: end that one, or give each server the key \`cluster:\` so that they work as one`;

/** The lock belongs to one schema, because several servers may share a database. */
function lockKeys(schema: string): readonly [number, number] {
  const digest = createHash("sha256").update(`nuthatch ${schema}`).digest();
  return [digest.readUInt32BE(0) >>> 1, digest.readUInt32BE(4) >>> 1];
}

async function takeLock(
  client: Client,
  { target, use, lostPid, clock }: SessionOwner,
  keys: readonly [number, number],
): Promise<Fault | undefined> {
  const until = clock.monotonicNow() + LONGEST_LOCK_MS;
  let first: { readonly pid: number; readonly seen: string } | undefined;
  for (;;) {
    const taken = await client.query<{ taken: number }>("SELECT pg_try_advisory_lock($1, $2)::int AS taken", [...keys]);
    if (taken.rows[0]?.taken === 1) return undefined;
    const { rows } = await client.query<{ pid: number; seen: string; name: string | null }>(HOLDER, [...keys]);
    const [holder] = rows;
    // This node has the lease. A former lead that still holds the lock has lost the lease, and hangs or has not noticed
    // it yet.
    const isFormerLead = use === "lead" && lostPid === undefined && holder?.name === connectionName("lead");
    if (holder !== undefined && (holder.pid === lostPid || isFormerLead))
      // Ends the session of the former lead or of this server's lost connection, if PostgreSQL has not noticed their
      // end.
      await client.query("SELECT pg_terminate_backend($1)", [holder.pid]);
    // A living server sends a statement each second.
    const isAlive = holder !== undefined && holder.pid === first?.pid && holder.seen !== first.seen;
    if (isAlive || clock.monotonicNow() > until) return refused("", target, usedBy("another Nuthatch"));
    if (holder !== undefined && first?.pid !== holder.pid) first = holder;
    await sleep(clock, LOCK_LOOK_MS);
  }
}

/** Marks the database as owned by this run of the server. */
export async function own(client: Client, instance: string): Promise<void> {
  await client.query(postgresTables(COMMIT_TABLE));
  await client.query(
    `INSERT INTO server_commit VALUES (1, $1, 0)
     ON CONFLICT (id) DO UPDATE SET instance = excluded.instance, number = 0`,
    [instance],
  );
}

/**
 * Returns the number of the last commit of this run of the server. Undefined if another server has used the database
 * since.
 */
export async function lastCommit(client: Client, instance: string): Promise<number | undefined> {
  const found = await client.query<{ number: number }>("SELECT number FROM server_commit WHERE instance = $1", [
    instance,
  ]);
  return found.rows[0]?.number;
}

/** Writes the number of a transaction. */
export const NUMBER_COMMIT = "UPDATE server_commit SET number = $1 WHERE id = 1";
