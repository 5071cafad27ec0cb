import type { LayerName } from "../layer/tile-set.ts";
import type { Logger } from "../lib/process/logger.ts";
import { Slices } from "../lib/process/slices.ts";
import type { Clock } from "../lib/time/clock.ts";
import { StateError } from "../state/data-directory.ts";
import type { Database } from "../state/database.ts";
import type { Ledger } from "./ledger.ts";

/** The methods with which the state writer saves jobs. */
interface SavedJobs {
  readonly needsSave: boolean;
  /** Runs inside the caller's transaction. */
  saveChanges(): void;
  saveInSlices(): Promise<void>;
  /** Reports the saved jobs after a commit. */
  report(): void;
}

/** A database on another machine counts as available again if no write has failed for this time. */
const SETTLED_MS = 3_000;
/** The most failures that are logged between two successes. */
const MOST_LOGGED = 20;

/**
 * Writes the state of the coordinator: the changes of the ledger and of the jobs, in transactions. Remembers whether
 * the database can be written.
 */
export class StateWriter {
  readonly #db: Database;
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #log: Logger;
  #jobs: SavedJobs | undefined;
  #failure: string | undefined;
  /**
   * The failures that were logged since the last success. An unavailable database causes several different ones in
   * turn.
   */
  readonly #logged = new Set<string>();
  /** The time of the last failed write to a database on another machine, ms of the monotonic clock. */
  #awayMs = Number.NEGATIVE_INFINITY;
  /** Completes the interrupted truncations of a layer. */
  #complete: (layer: LayerName) => void = () => {};
  #commit: Promise<void> | undefined;

  constructor(parts: {
    readonly db: Database;
    readonly ledger: Ledger;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#db = parts.db;
    this.#ledger = parts.ledger;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** Makes the state writer save jobs, too. Called once: the job runner is built later than the state writer. */
  attach(jobs: SavedJobs): void {
    this.#jobs = jobs;
  }

  /** Sets the function that completes the interrupted truncations of a layer before a writer may write. Called once. */
  completeBefore(complete: (layer: LayerName) => void): void {
    this.#complete = complete;
  }

  /** Whether the ledger or a job has unwritten changes. */
  get hasChanges(): boolean {
    return this.#ledger.needsFlush || this.#jobs?.needsSave === true;
  }

  /** Writes the changes of the ledger and the statements of `also` in one transaction. Then reports the saved jobs. */
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

  /** Writes as `write` does, with the changes of the jobs. */
  writeAll(also?: () => void): void {
    this.write(() => {
      this.saveJobs();
      also?.();
    });
  }

  /**
   * Writes as `writeAll` does, in one transaction per time slice. The changes of one job are in one transaction, and so
   * are the blocks and the sum of one zoom of a tile set.
   */
  async writeInSlices(): Promise<void> {
    const zooms = this.#ledger.changedZooms();
    const slices = new Slices(this.#clock);
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
   * Saves the counts of the jobs, then calls `read` in the same turn. Counts that a client has seen must survive a kill
   * (`docs/reference/wire-format.md`, Durability).
   */
  async readSaved<T>(read: () => T): Promise<T> {
    try {
      if (this.#jobs?.needsSave) await this.writeInSlices();
      if (this.#jobs?.needsSave) this.writeAll();
    } catch {
      // `write` has recorded the failure. The list is answered even if its counts could not be saved.
    }
    return read();
  }

  /**
   * Resolves when writers of a layer may write: its interrupted truncations are complete, and the new marks are
   * committed. Writers of one turn of the event loop share one commit.
   */
  async marksCommitted(layer: LayerName): Promise<void> {
    this.#complete(layer);
    await this.#commitMarks();
  }

  #commitMarks(): Promise<void> {
    this.#commit ??= new Promise((resolve, reject) => {
      this.#clock.soon(() => {
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

  /**
   * Clears the last failure once writes succeed. On a full disk of PostgreSQL some writes succeed while others keep
   * failing.
   */
  #succeeded(): void {
    if (this.#clock.monotonicNow() - this.#awayMs < SETTLED_MS) return;
    this.#failure = undefined;
    this.#logged.clear();
  }

  /** Records that the database could not be written. Logs each failure once. */
  fault(error: unknown): void {
    if (error instanceof StateError) this.#awayMs = this.#clock.monotonicNow();
    const failure = `the state database cannot be written: ${String(error)}`;
    this.#failure = failure;
    if (this.#logged.has(failure) || this.#logged.size >= MOST_LOGGED) return;
    this.#logged.add(failure);
    this.#log.error("the state database cannot be written", { error: String(error) });
  }

  /**
   * Returns why the state cannot be written. Undefined if it can. After a failure, writes again to find out whether the
   * database has recovered.
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
