import { errorMessage } from "../../lib/error-code.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { Slices } from "../../lib/process/slices.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { pause } from "../../lib/time/sleep.ts";
import type { ChangeSourceView } from "../change-documents.ts";
import type { LayerChanges } from "../layer-changes.ts";
import { SourceProgress } from "../source-progress.ts";
import { type SourceReader, SourceReaders } from "../source-readers.ts";
import type { ChangesDatabase } from "./changes-database.ts";
import { IGNORED_REASONS, type IgnoredReason, OutboxChanges, type OutboxChangesParts } from "./outbox-changes.ts";
import { OutboxConnection, type OutboxMachine } from "./outbox-connection.ts";

export interface OutboxesParts extends OutboxChangesParts {
  readonly changes: Pick<LayerChanges, "apply">;
  readonly databases: () => readonly ChangesDatabase[];
  readonly machine: OutboxMachine;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The rows without an effect of one database since the start. */
export interface IgnoredChanges {
  readonly database: string;
  readonly reason: IgnoredReason;
  readonly count: number;
}

/** The most rows of one batch, which takes a few MiB. */
const BATCH = 10_000;
/** Without a notification the table is read after this time. */
const POLL_MS = 10_000;
/** Changes that are notified within this time after a batch are read together. */
const GATHER_MS = 300;
/** The pause after a failure. */
const RETRY_MS = 2_000;

/**
 * Reads the changes of databases: rows that triggers write into an outbox. A notification only wakes the reader: the
 * rows are what has changed. They are removed after their effect on the tiles, so a change is handled at least once.
 */
export class Outboxes extends SourceReaders<ChangesDatabase, OutboxReader> {
  readonly #parts: OutboxesParts;

  constructor(parts: OutboxesParts) {
    super();
    this.#parts = parts;
  }

  protected sources(): ReadonlyMap<string, ChangesDatabase> {
    return new Map(this.#parts.databases().map((database) => [database.id, database]));
  }

  protected open(database: ChangesDatabase): OutboxReader {
    return new OutboxReader(database, this.#parts);
  }

  /** Returns the first database that has not been reached since the start. Undefined if all have been reached. */
  health(): string | undefined {
    return this.readers()
      .map(([, reader]) => reader.notReached())
      .find((reason) => reason !== undefined);
  }

  metrics(): readonly IgnoredChanges[] {
    return this.readers().flatMap(([database, { changes }]) =>
      IGNORED_REASONS.map((reason) => ({ database, reason, count: changes.ignored[reason] })),
    );
  }
}

/** Reads the outbox of one database until it is closed. Connects again after each failure. */
class OutboxReader implements SourceReader {
  readonly #database: ChangesDatabase;
  readonly changes: OutboxChanges;
  readonly #parts: OutboxesParts;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  readonly #progress: SourceProgress;
  /** Ends the current wait for changes. */
  #wake = new AbortController();
  #isReached = false;
  /** The last failure that was logged. Undefined after a success. */
  #fault: string | undefined;
  /** Why the last changes were not rendered again by a job. Undefined if they were. */
  #refused: string | undefined;

  constructor(database: ChangesDatabase, parts: OutboxesParts) {
    this.#database = database;
    this.#parts = parts;
    this.changes = new OutboxChanges(parts, database.id);
    this.#progress = new SourceProgress(parts.clock);
    this.#ended = this.#run();
  }

  view(): ChangeSourceView {
    const { unknown_topic, unknown_srid } = this.changes.ignored;
    return {
      type: "postgres",
      source: this.#database.id,
      ignored: unknown_topic + unknown_srid,
      ...this.#progress.view(),
    };
  }

  /** Returns why the outbox has not been read since the start. Undefined if it has been read. */
  notReached(): string | undefined {
    if (this.#isReached) return undefined;
    return `the database ${JSON.stringify(this.#database.id)} of changes cannot be read: ${this.#fault ?? "it has not answered yet"}`;
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#read();
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(errorMessage(error));
      }
      await pause(clock, RETRY_MS, signal);
    }
  }

  async #read(): Promise<void> {
    const { machine, clock } = this.#parts;
    const { signal } = this.#closing;
    const connection = await OutboxConnection.open(this.#database, machine, () => this.#wake.abort(), signal);
    try {
      for (;;) {
        // Before the rows are read, so that a notification during the read is not lost.
        this.#wake = new AbortController();
        const isFull = await this.#readBatch(connection);
        if (isFull) continue;
        await pause(clock, GATHER_MS, signal);
        await pause(clock, POLL_MS - GATHER_MS, AbortSignal.any([signal, this.#wake.signal]));
        signal.throwIfAborted();
        connection.lost.throwIfAborted();
      }
    } finally {
      connection.close();
    }
  }

  /** Handles the oldest rows. Returns whether there may be more rows. */
  async #readBatch(connection: OutboxConnection): Promise<boolean> {
    const { clock, log, changes } = this.#parts;
    const { signal } = this.#closing;
    const { id: database } = this.#database;
    const rows = await connection.read(BATCH, signal);
    this.#isReached = true;
    if (rows.length > 0) {
      this.#progress.begun();
      const collected = await this.changes.collect(rows, new Slices(clock, signal));
      const { jobIds, refused } = await changes.apply(collected, signal);
      await connection.remove(rows, signal);
      this.#progress.handled(rows.length, refused);
      if (jobIds.length > 0) log.info("changes were read", { database, rows: rows.length, jobIds });
      if (refused !== undefined && refused !== this.#refused)
        log.warn("changed tiles are not rendered again by a job", { database, error: refused });
      this.#refused = refused;
    }
    this.#succeeded();
    const isFull = rows.length === BATCH;
    if (!isFull) this.#progress.rested();
    return isFull;
  }

  #succeeded(): void {
    if (this.#fault !== undefined)
      this.#parts.log.info("the changes of a database are read again", { database: this.#database.id });
    this.#fault = undefined;
  }

  /** Logs each failure once. */
  #failed(error: string): void {
    this.#progress.failed(error);
    if (this.#fault === error) return;
    this.#fault = error;
    this.#parts.log.warn("the changes of a database cannot be read", { database: this.#database.id, error });
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the server is closing"));
    await this.#ended;
  }
}
