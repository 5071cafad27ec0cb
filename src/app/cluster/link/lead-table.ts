import type { Client } from "pg";
import { type HostPort, hostPortText, parseHostPort } from "../../../configuration/cluster-options.ts";
import { codeOf } from "../../../lib/error-code.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { newClient, type PostgresClient } from "../../../state/postgres/client.ts";
import { faultOfConnection, faultOfStatement, isLoss } from "../../../state/postgres/faults.ts";
import type { PostgresTarget } from "../../../state/postgres/postgres-url.ts";
import type { Fault } from "../../../state/postgres/protocol.ts";
import { LEAD_TABLE } from "../../../state/postgres/session.ts";

/** The row of the lease of the lead. */
export interface LeadRow {
  /** Increases by one with each new lead. */
  readonly epoch: number;
  /** The instance of the node that leads. */
  readonly instance: string;
  readonly name: string;
  /** The address at which the lead accepts nodes. Undefined if it does not accept nodes yet. */
  readonly address: HostPort | undefined;
  /** Whether the lease has ended by PostgreSQL's clock. */
  readonly isExpired: boolean;
  /** Whether the node that leads is connected to PostgreSQL. */
  readonly isConnected: boolean;
}

/** A row of the record of nodes that have joined and have not announced their leave. */
export interface KnownNode {
  readonly name: string;
  /** The instance of the node. */
  readonly instance: string;
  /** The version of the node's program. */
  readonly version: string;
  /** The time at which the node was lost, ms since 1970. Null if it was connected when the row was written. */
  readonly lostMs: number | null;
}

export interface Candidate {
  readonly instance: string;
  readonly name: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly disk: Pick<Disk, "readFileSync">;
}

/** The name of a node's connection to PostgreSQL, by which other nodes see whether the node is connected. */
const connectionName = (instance: string): string => `nuthatch node ${instance}`;

interface LookedUp {
  readonly epoch: number;
  readonly instance: string;
  readonly name: string;
  readonly address: string;
  readonly expired: number;
  readonly connected: number;
}

const LOOK = `SELECT epoch::int AS epoch, instance, name, address, expires < clock_timestamp() AS expired,
  EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = 'nuthatch node ' || instance) AS connected
  FROM cluster_lead WHERE id = 1`;
const TAKE = `UPDATE cluster_lead SET epoch = epoch + 1, instance = $2, name = $3, address = '',
  expires = clock_timestamp() + $4 * interval '1 ms'
  WHERE id = 1 AND epoch = $1 AND (expires < clock_timestamp() OR $5) RETURNING epoch::int AS epoch`;
const RENEW = `UPDATE cluster_lead SET address = $3, expires = clock_timestamp() + $4 * interval '1 ms'
  WHERE id = 1 AND epoch = $1 AND instance = $2`;
/** The lead that has an address renews the lease itself. */
const RENEW_AT_START = `UPDATE cluster_lead SET expires = clock_timestamp() + $3 * interval '1 ms'
  WHERE id = 1 AND epoch = $1 AND instance = $2 AND address = ''`;
const GIVE_BACK = `UPDATE cluster_lead SET expires = clock_timestamp() - interval '1 ms'
  WHERE id = 1 AND epoch = $1 AND instance = $2`;
const KNOWN_NODES = 'SELECT name, instance, version, lost_ms AS "lostMs" FROM cluster_nodes';
/**
 * Only the lead of this epoch may record nodes: a lead that has lost the lease must not restore a node that has left.
 */
const KEEP_NODE = `INSERT INTO cluster_nodes (name, instance, version, lost_ms)
  SELECT $2, $3, $4, $5 WHERE EXISTS (SELECT 1 FROM cluster_lead WHERE id = 1 AND epoch = $1)
  ON CONFLICT (name) DO UPDATE SET instance = excluded.instance, version = excluded.version, lost_ms = excluded.lost_ms`;
const FORGET_NODE = "DELETE FROM cluster_nodes WHERE name = $1 AND instance = $2";
/** A statement that is not answered within this part of the lease ends the connection. */
const ANSWERS_PER_LEASE = 3;
/** The errors if two nodes create the table at the same time: one is refused, and the table then exists. */
const CREATED_MEANWHILE: ReadonlySet<string> = new Set(["23505", "42P07"]);

/**
 * The lease of the lead and the record of the nodes, in PostgreSQL, on a separate connection. Each step is one
 * statement, so that no transaction stays open. Only PostgreSQL's clock counts.
 */
export class LeadTable {
  readonly #target: PostgresTarget;
  readonly #candidate: Candidate;
  #open: PostgresClient | undefined;
  #connecting: Promise<Result<PostgresClient, Fault>> | undefined;

  constructor(target: PostgresTarget, candidate: Candidate) {
    this.#target = target;
    this.#candidate = candidate;
  }

  look(): Promise<Result<LeadRow, Fault>> {
    return this.#run(async (client) => {
      const { rows } = await client.query<LookedUp>(LOOK);
      const [{ epoch = 0, instance = "", name = "", address = "", expired = 1, connected = 0 } = {}] = rows;
      return {
        epoch,
        instance,
        name,
        address: parseHostPort(address),
        isExpired: expired === 1,
        isConnected: connected === 1,
      };
    });
  }

  /**
   * Takes the lease from an epoch. `isDead` says that its lead is known to have ended. Undefined if another node was
   * faster.
   */
  take(seen: number, isDead: boolean): Promise<Result<number | undefined, Fault>> {
    const { instance, name, leaseMs } = this.#candidate;
    return this.#run(async (client) => {
      const { rows } = await client.query<{ epoch: number }>(TAKE, [seen, instance, name, leaseMs, isDead]);
      return rows[0]?.epoch;
    });
  }

  /** Renews the lease. Returns false if another node has taken it. */
  renew(epoch: number, address: HostPort): Promise<Result<boolean, Fault>> {
    const { instance, leaseMs } = this.#candidate;
    return this.#run(async (client) => {
      const { rowCount } = await client.query(RENEW, [epoch, instance, hostPortText(address), leaseMs]);
      return rowCount === 1;
    });
  }

  /** Renews the lease of a lead that begins. False: it has begun, or another node has taken the lease. */
  renewAtStart(epoch: number): Promise<Result<boolean, Fault>> {
    const { instance, leaseMs } = this.#candidate;
    return this.#run(async (client) => {
      const { rowCount } = await client.query(RENEW_AT_START, [epoch, instance, leaseMs]);
      return rowCount === 1;
    });
  }

  /** Ends the lease at once, after the lead has ended in order. */
  giveBack(epoch: number): Promise<Result<null, Fault>> {
    return this.#run(async (client) => {
      await client.query(GIVE_BACK, [epoch, this.#candidate.instance]);
      return null;
    });
  }

  /** Returns the nodes that have joined and have not announced their leave. */
  knownNodes(): Promise<Result<readonly KnownNode[], Fault>> {
    return this.#run(async (client) => (await client.query<KnownNode>(KNOWN_NODES)).rows);
  }

  /** Records a node on behalf of the lead of an epoch. Does nothing if another node has taken the lease. */
  keepNode(epoch: number, { name, instance, version, lostMs }: KnownNode): Promise<Result<null, Fault>> {
    return this.#run(async (client) => {
      await client.query(KEEP_NODE, [epoch, name, instance, version, lostMs]);
      return null;
    });
  }

  /** Removes a node from the record. Does nothing if the node has restarted. */
  forgetNode({ name, instance }: Pick<KnownNode, "name" | "instance">): Promise<Result<null, Fault>> {
    return this.#run(async (client) => {
      await client.query(FORGET_NODE, [name, instance]);
      return null;
    });
  }

  async #run<T>(work: (client: Client) => Promise<T>): Promise<Result<T, Fault>> {
    const connected = this.#open === undefined ? await this.#connectOnce() : ok(this.#open);
    if (!connected.ok) return connected;
    const open = connected.value;
    const { destroy } = open;
    const late = this.#candidate.clock.after(this.#candidate.leaseMs / ANSWERS_PER_LEASE, () =>
      destroy(new Error("PostgreSQL does not answer")),
    );
    try {
      return ok(await work(open.client));
    } catch (error) {
      if (isLoss(error)) this.close();
      return refuse(faultOfStatement(error, this.#target));
    } finally {
      late.cancel();
    }
  }

  /** Connects. Concurrent statements share the connection. */
  #connectOnce(): Promise<Result<PostgresClient, Fault>> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<Result<PostgresClient, Fault>> {
    let made: PostgresClient | undefined;
    try {
      made = newClient(this.#target, connectionName(this.#candidate.instance), this.#candidate.disk);
      const { client } = made;
      client.on("error", () => {});
      client.once("end", () => {
        if (this.#open === made) this.#open = undefined;
      });
      await client.connect();
      for (const statement of LEAD_TABLE)
        await client.query(statement).catch((error: unknown) => {
          if (!CREATED_MEANWHILE.has(codeOf(error))) throw error;
        });
      this.#open = made;
      return ok(made);
    } catch (error) {
      made?.destroy(new Error("not used"));
      return refuse(faultOfConnection(error, this.#target));
    }
  }

  close(): void {
    this.#open?.destroy(new Error("closed"));
    this.#open = undefined;
  }
}
