import type { Client } from "pg";
import type { Disk } from "../../lib/file/disk.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { deadline } from "../../lib/time/deadline.ts";
import type { SqlValue } from "../../state/database.ts";
import { newClient, type PostgresClient, runQuery } from "../../state/postgres/client.ts";
import type { QueryResult } from "../../state/postgres/protocol.ts";
import type { ChangesDatabase } from "./changes-database.ts";
import { OUTBOX_COLUMNS, type OutboxRow, outboxRow } from "./outbox-row.ts";
import { identifier } from "./outbox-sql.ts";

/** A statement without an answer for this time means that the connection is lost. */
const ANSWER_MS = 30_000;

export interface OutboxMachine {
  readonly clock: Clock;
  readonly disk: Pick<Disk, "readFileSync">;
}

/** A connection to a database with an outbox. A connection that has failed is replaced by a new one. */
export class OutboxConnection {
  readonly #database: ChangesDatabase;
  readonly #clock: Clock;
  readonly #connection: PostgresClient;
  readonly #lost = new AbortController();

  private constructor(database: ChangesDatabase, { clock, disk }: OutboxMachine, notified: () => void) {
    this.#database = database;
    this.#clock = clock;
    this.#connection = newClient(database.target, "nuthatch changes", disk);
    const { client } = this.#connection;
    client.on("error", (error) => this.#lose(error));
    client.on("end", () => this.#lose(new Error("the connection has ended")));
    client.on("notification", notified);
  }

  /**
   * Connects, and listens to the channel.
   * @param notified called when the outbox may have new rows, and when the connection is lost
   */
  static async open(
    database: ChangesDatabase,
    machine: OutboxMachine,
    notified: () => void,
    signal: AbortSignal,
  ): Promise<OutboxConnection> {
    const connection = new OutboxConnection(database, machine, notified);
    const { lost } = connection;
    lost.addEventListener("abort", notified, { once: true });
    try {
      await connection.#answered(connection.#client.connect(), signal);
      await connection.#run(`LISTEN ${identifier(database.channel)}`, [], signal);
      return connection;
    } catch (error) {
      connection.#lose(error);
      throw error;
    }
  }

  get #client(): Client {
    return this.#connection.client;
  }

  /** Fires when the connection is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Reads up to `most` rows, the oldest first, without removing them. */
  async read(most: number, signal: AbortSignal): Promise<readonly OutboxRow[]> {
    const text = `SELECT ${Object.keys(OUTBOX_COLUMNS).join(", ")} FROM ${tableName(this.#database)} ORDER BY id LIMIT ${most}`;
    return (await this.#run(text, [], signal)).rows.map(outboxRow);
  }

  /**
   * Removes rows that were read. Only these rows: a transaction that commits later may have smaller ids, so no id
   * separates old rows from new ones.
   */
  async remove(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void> {
    const text = `DELETE FROM ${tableName(this.#database)} WHERE id = ANY($1::bigint[])`;
    await this.#run(text, [`{${rows.map(({ id }) => id).join(",")}}`], signal);
  }

  #run(text: string, values: readonly SqlValue[], signal: AbortSignal): Promise<QueryResult> {
    return this.#answered(runQuery(this.#client, { text, values, name: "" }), signal);
  }

  /** Waits for an answer. @throws the reason of the signal, or of the loss of the connection */
  async #answered<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
    const over = AbortSignal.any([signal, this.lost, deadline(this.#clock, ANSWER_MS)]);
    return new Promise<T>((resolve, reject) => {
      const end = (): void => reject(over.reason);
      if (over.aborted) end();
      over.addEventListener("abort", end, { once: true });
      void answer.then(resolve, reject).finally(() => over.removeEventListener("abort", end));
    });
  }

  #lose(reason: unknown): void {
    if (this.lost.aborted) return;
    this.#lost.abort(reason);
    this.#connection.destroy(new Error("the connection is closed"));
  }

  close(): void {
    this.#lose(new Error("the connection is closed"));
  }
}

const tableName = ({ table }: ChangesDatabase): string => table.split(".").map(identifier).join(".");
