import type { JobSaver } from "../jobs/record/job-saver.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../lib/process/logger.ts";
import { Slices } from "../lib/process/slices.ts";
import type { Database } from "../state/database.ts";
import { isStateAway } from "../state/state-wait.ts";

/** The records of jobs, as the state writer saves them. */
type SavedJobs = Pick<JobSaver, "needsSave" | "saveChanges" | "saveInSlices" | "report">;

/** A database on another machine can be written again when no write has failed for this time. */
const SETTLED_MS = 3_000;
/** Failures that are logged between two successes. */
const MOST_LOGGED = 20;

/**
 * Writes the state of the coordinator: the changes of the ledger and of the jobs, in transactions. Remembers whether
 * the database can be written.
 */
export class StateWriter {
  readonly #db: Database;
  readonly #ledger: Ledger;
  readonly #log: Logger;
  #jobs: SavedJobs | undefined;
  #failure: string | undefined;
  /** The failures that were logged since the last success: while a database is away, several take turns. */
  readonly #logged = new Set<string>();
  /** When a database on another machine could not be written the last time, by the monotonic clock. */
  #awayMs = Number.NEGATIVE_INFINITY;
  /** Completes the interrupted truncations of a layer. */
  #complete: (layer: string) => void = () => {};
  #commit: Promise<void> | undefined;

  constructor(parts: { readonly db: Database; readonly ledger: Ledger; readonly log: Logger }) {
    this.#db = parts.db;
    this.#ledger = parts.ledger;
    this.#log = parts.log;
  }

  /** Saves the records of jobs from now on. Called once: the job runner is built later than the state writer. */
  attach(jobs: SavedJobs): void {
    this.#jobs = jobs;
  }

  /** Has a function called with the layer before a writer may write there. Called once, as `attach`. */
  completeBefore(complete: (layer: string) => void): void {
    this.#complete = complete;
  }

  /** Whether the ledger or a job has changes that are not written yet. */
  get hasChanges(): boolean {
    return this.#ledger.needsFlush || this.#jobs?.needsSave === true;
  }

  /** Writes the changes of the ledger and those that `also` makes, in one transaction. Then reports the saved jobs. */
  write(also?: () => void): void {
    this.#persist(() => {
      this.#ledger.writeAll();
      also?.();
    });
  }

  #persist(body: () => void): void {
    try {
      this.#db.transaction(body);
      this.#succeeded();
      this.#jobs?.report();
    } catch (error) {
      this.fault(error);
      throw error;
    }
  }

  /** Writes the state like `write`, with the changes of the jobs. */
  writeAll(also?: () => void): void {
    this.write(() => {
      this.saveJobs();
      also?.();
    });
  }

  /**
   * Writes as `writeAll` does, in as many transactions as the time slices need. The changes of one job are written together, and so
   * are the blocks and the sum of one zoom of a tile set.
   */
  async writeInSlices(): Promise<void> {
    const zooms = this.#ledger.changedZooms();
    const slices = new Slices();
    for (let next = 0; next < zooms.length; ) {
      this.#persist(() => {
        do {
          const zoom = zooms[next++];
          if (zoom !== undefined) this.#ledger.writeZoom(zoom);
        } while (next < zooms.length && !slices.isOver);
      });
      if (slices.isOver) await slices.next();
    }
    await this.#jobs?.saveInSlices();
  }

  /** Saves the changes of the jobs. Must run inside a transaction. */
  saveJobs(): void {
    this.#jobs?.saveChanges();
  }

  /**
   * Saves the counts of the jobs, then reads them. A kill must not take back what was read
   * (`docs/reference/wire-format.md`, Durability), so the last changes are saved in the same turn as the read.
   */
  async readSaved<T>(read: () => T): Promise<T> {
    try {
      if (this.#jobs?.needsSave) await this.writeInSlices();
      if (this.#jobs?.needsSave) this.writeAll();
    } catch {
      // `write` has recorded the failure. A list is answered even when its counts could not be saved.
    }
    return read();
  }

  /**
   * Resolves when a writer of a layer may write: its interrupted truncations are complete, and the new marks are
   * committed. Writers of the same turn of the event loop share one commit.
   */
  async marksCommitted(layer: string): Promise<void> {
    this.#complete(layer);
    await this.#commitMarks();
  }

  #commitMarks(): Promise<void> {
    this.#commit ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#commit = undefined;
        try {
          this.#db.transaction(() => this.#ledger.writeMarks());
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return this.#commit;
  }

  /** Clears the last failure. On a full disk of PostgreSQL some writes succeed, and others fail again and again. */
  #succeeded(): void {
    if (performance.now() - this.#awayMs < SETTLED_MS) return;
    this.#failure = undefined;
    this.#logged.clear();
  }

  /** Records that the database could not be written. Logs each failure once. */
  fault(error: unknown): void {
    if (isStateAway(error)) this.#awayMs = performance.now();
    const failure = `the state database cannot be written: ${String(error)}`;
    this.#failure = failure;
    if (this.#logged.has(failure) || this.#logged.size >= MOST_LOGGED) return;
    this.#logged.add(failure);
    this.#log.error("the state database cannot be written", { error: String(error) });
  }

  /**
   * Returns why the state cannot be written; undefined: it can. Writes after a failure, to find out whether it has
   * passed.
   */
  health(): string | undefined {
    try {
      if (this.#failure !== undefined) this.write();
    } catch {
      // `write` has recorded the failure.
    }
    return this.#failure;
  }
}
