import { errorMessage } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import type { Random } from "../../lib/random/random.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import { newClient, type PostgresClient, runQuery } from "./client.ts";
import { faultOfConnection, faultOfStatement, isLoss, unavailable } from "./faults.ts";
import type { PostgresTarget } from "./postgres-url.ts";
import type { Batch, BatchResult, Fault, Query, QueryResult } from "./protocol.ts";
import { beginSession, connectionName, lastCommit, NUMBER_COMMIT, own, type SessionUse } from "./session.ts";

/**
 * After a loss, a request waits this long for a new connection. Requests after that time fail at once until there is a
 * connection.
 */
const RECONNECT_WAIT_MS = 2_000;
/**
 * A commit without an answer waits longer, counted from the time it was sent, because only a new connection can tell
 * its outcome. The server reports after ten seconds that the coordinator does not answer.
 */
const DOUBT_WAIT_MS = 7_000;
/** The pause between two attempts to reconnect. */
const PAUSE_MS = 200;
/** If statements have no answer for this time, a second connection checks whether PostgreSQL is working on them. */
const SILENT_MS = 3_000;
/** The most times that a transaction is sent. It is repeated only if PostgreSQL certainly carried out no part of it. */
const MOST_ATTEMPTS = 3;

/** The parts of the machine that a connection uses. */
export interface PostgresMachine {
  readonly clock: Clock;
  readonly disk: Pick<Disk, "readFileSync">;
  readonly random: Pick<Random, "uuid">;
}

interface Open extends PostgresClient {
  readonly kind: "open";
  readonly pid: number;
}

/** `#state` is `closed` until `open` succeeds, then `open`. It is `lost` between a loss and the next connection. */
type State = { readonly kind: "closed" } | Open | { readonly kind: "lost"; readonly sinceMs: number; fault: Fault };

/** The results of a batch up to the first error or the loss, and the first error. */
interface Sent {
  readonly results: readonly (QueryResult | undefined)[];
  readonly error: unknown;
  /** Whether the connection was lost before the last answer. */
  readonly isLost: boolean;
}

/**
 * The connection of one server to its database. Reconnects after a loss. Each transaction writes its number, so that
 * the connection can tell after a loss whether the last commit was carried out.
 */
export class PostgresConnection {
  readonly #target: PostgresTarget;
  readonly #use: SessionUse;
  readonly #machine: PostgresMachine;
  readonly #instance: string;
  #state: State = { kind: "closed" };
  /** The connection of the transaction that a batch has begun. Undefined if no transaction is open. */
  #inTransaction: Open | undefined;
  /** The last acknowledged commit, and the later commit that has no answer yet. */
  #lastCommit = 0;
  #doubted: number | undefined;
  #diverged: Fault | undefined;
  readonly #changed = new Set<() => void>();
  #isClosing = false;

  constructor(target: PostgresTarget, use: SessionUse, machine: PostgresMachine) {
    this.#machine = machine;
    this.#instance = machine.random.uuid();
    this.#target = target;
    this.#use = use;
  }

  /** Connects for the first time. Returns why this failed; undefined on success. */
  async open(): Promise<Fault | undefined> {
    if (this.#state.kind === "open") return undefined;
    const opened = await this.#connect(undefined);
    if (opened.kind !== "open") return opened;
    try {
      await own(opened.client, this.#instance);
      this.#become(opened);
      return undefined;
    } catch (error) {
      opened.destroy(new Error("not used"));
      return faultOfStatement(error, this.#target);
    }
  }

  async #connect(lostPid: number | undefined): Promise<Open | Fault> {
    let made: PostgresClient | undefined;
    try {
      made = newClient(this.#target, connectionName(this.#use), this.#machine.disk);
      const { client, destroy } = made;
      // Without a listener, a loss of the connection would be an uncaught error. The handler of "end" changes the
      // state.
      client.on("error", () => {});
      await client.connect();
      const fault = await beginSession(client, {
        target: this.#target,
        use: this.#use,
        instance: this.#instance,
        lostPid,
        clock: this.#machine.clock,
      });
      if (fault !== undefined) {
        destroy(new Error("not used"));
        return fault;
      }
      const pid = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      return { kind: "open", client, destroy, pid: pid.rows[0]?.pid ?? 0 };
    } catch (error) {
      made?.destroy(new Error("not used"));
      return faultOfConnection(error, this.#target);
    }
  }

  #become(next: State): void {
    this.#state = next;
    if (next.kind === "open") next.client.once("end", () => this.#lost(next, "the connection has ended"));
    for (const notify of [...this.#changed]) notify();
  }

  #lost(open: Open, why: string): void {
    if (this.#state !== open) return;
    this.#become({
      kind: "lost",
      sinceMs: this.#machine.clock.monotonicNow(),
      fault: unavailable("", this.#target, why),
    });
    if (!this.#isClosing) void this.#connectAgain(open.pid);
  }

  async #connectAgain(lostPid: number): Promise<void> {
    while (!this.#isClosing && this.#diverged === undefined) {
      const opened = await this.#connect(lostPid);
      if (opened.kind === "open" && (await this.#recognizes(opened))) {
        this.#become(opened);
        return;
      }
      if (opened.kind !== "open" && this.#state.kind === "lost") this.#state.fault = opened;
      await sleep(this.#machine.clock, PAUSE_MS);
    }
    for (const notify of [...this.#changed]) notify();
  }

  /**
   * Determines whether the last transaction was committed. This server already holds the lock, so the process of the
   * lost connection has ended and cannot commit any more. Returns false if the database could not be reached, or is not
   * as this server left it.
   */
  async #recognizes({ client, destroy }: Open): Promise<boolean> {
    try {
      const found = await lastCommit(client, this.#instance);
      if (found !== undefined && found === this.#doubted) this.#lastCommit = found;
      if (found === this.#lastCommit) return true;
      this.#diverged = {
        kind: "diverged",
        code: "",
        message: `the state database in PostgreSQL (${this.#target.name}) is not as this server has left it: another server has changed it, it has lost commits, or it has a commit that this server took for lost`,
      };
      destroy(new Error("not used"));
      return false;
    } catch {
      // The connection was lost again. The next attempt reports its own fault.
      destroy(new Error("not used"));
      return false;
    }
  }

  /** Returns the connection, or why there is no connection. Waits for a connection until `waitMs` after the loss. */
  async #opened(waitMs: number): Promise<Open | Fault> {
    for (;;) {
      const state = this.#state;
      if (this.#diverged !== undefined) return this.#diverged;
      if (state.kind === "open") return state;
      if (state.kind === "closed") return unavailable("", this.#target, "it is not connected");
      const leftMs = state.sinceMs + waitMs - this.#machine.clock.monotonicNow();
      if (leftMs <= 0) return state.fault;
      await new Promise<void>((resolve) => {
        const timer = this.#machine.clock.after(leftMs, done);
        const changed = this.#changed;
        function done(): void {
          timer.cancel();
          changed.delete(done);
          resolve();
        }
        changed.add(done);
      });
    }
  }

  /** Returns why the database cannot be used at present. Undefined if it answers. */
  async check(): Promise<Fault | undefined> {
    const opened = await this.#opened(0);
    if (opened.kind !== "open") return opened;
    const { error } = await this.#send(opened, [{ text: "SELECT 1", name: undefined, values: [] }]);
    return error === undefined ? undefined : faultOfStatement(error, this.#target);
  }

  async run(batch: Batch): Promise<BatchResult> {
    const beganMs = this.#machine.clock.monotonicNow();
    for (let attempt = 1; ; attempt++) {
      const open = batch.transaction === "continue" ? this.#inTransaction : await this.#opened(RECONNECT_WAIT_MS);
      if (open === undefined || open.kind !== "open")
        return { ok: false, fault: open ?? unavailable("", this.#target, "the connection was lost in a transaction") };
      const { commit, transaction } = batch;
      if (transaction === "begin") this.#inTransaction = open;
      if (commit !== undefined) this.#doubted = commit;
      const sent = await this.#send(open, statementsOf(batch));
      const results = transaction === "begin" ? sent.results.slice(1) : sent.results;
      if (!sent.isLost) return this.#answered(open, batch, { ...sent, results });
      this.#inTransaction = undefined;
      if (commit !== undefined) {
        const again = await this.#opened(
          Math.max(RECONNECT_WAIT_MS, beganMs + DOUBT_WAIT_MS - this.#machine.clock.monotonicNow()),
        );
        if (again.kind !== "open") return { ok: false, fault: again };
        this.#doubted = undefined;
        if (this.#lastCommit === commit) return { ok: true, results: results.slice(0, batch.queries.length) };
      }
      // PostgreSQL carried out nothing of the batch, so it may be sent again, unless the transaction has earlier parts.
      if (transaction === "continue" || attempt === MOST_ATTEMPTS)
        return { ok: false, fault: faultOfStatement(sent.error, this.#target) };
    }
  }

  async #answered(open: Open, { commit, queries }: Batch, { results, error }: Sent): Promise<BatchResult> {
    if (commit !== undefined) {
      this.#doubted = undefined;
      this.#inTransaction = undefined;
      if (error === undefined) this.#lastCommit = commit;
    } else if (error !== undefined) await this.rollback();
    if (error !== undefined) {
      if (isLoss(error)) open.destroy(new Error("not used"));
      return { ok: false, fault: faultOfStatement(error, this.#target) };
    }
    return { ok: true, results: results.slice(0, queries.length) };
  }

  /** Rolls back the transaction that a batch has begun, if it is still open. */
  async rollback(): Promise<void> {
    const open = this.#inTransaction;
    this.#inTransaction = undefined;
    if (open === undefined || this.#state !== open) return;
    const { error } = await this.#send(open, [{ text: "ROLLBACK", name: undefined, values: [] }]);
    if (error !== undefined) open.destroy(new Error("the transaction could not be ended"));
  }

  /** Sends all statements at once. Closes the connection if PostgreSQL neither answers nor works on them. */
  async #send(open: Open, queries: readonly Query[]): Promise<Sent> {
    const { client } = open;
    const watch = this.#machine.clock.every(SILENT_MS, () => void this.#lookAt(open));
    try {
      const settled = await Promise.allSettled(queries.map((query) => runQuery(client, query)));
      const failed = settled.find((one) => one.status === "rejected");
      const isLost = settled.some((one) => one.status === "rejected" && isLoss(one.reason));
      if (isLost) {
        open.destroy(new Error("not used"));
        this.#lost(open, errorMessage(failed?.reason));
      }
      return {
        results: settled.map((one) => (one.status === "fulfilled" ? one.value : undefined)),
        error: failed?.reason,
        isLost,
      };
    } finally {
      watch.cancel();
    }
  }

  /** Checks over a second connection whether PostgreSQL is working on the sent statements. */
  async #lookAt(open: Open): Promise<void> {
    const other = newClient(this.#target, "nuthatch, looking at a silent connection", this.#machine.disk);
    other.client.on("error", () => {});
    const late = this.#machine.clock.after(SILENT_MS / 2, () => other.destroy(new Error("no answer")));
    let isWorking = false;
    try {
      await other.client.connect();
      const found = await other.client.query<{ state: string }>("SELECT state FROM pg_stat_activity WHERE pid = $1", [
        open.pid,
      ]);
      isWorking = found.rows[0]?.state === "active";
      await other.client.end();
    } catch {
      // The second connection does not get an answer either.
    } finally {
      late.cancel();
      other.destroy(new Error("not used"));
    }
    if (!isWorking) open.destroy(new Error("PostgreSQL does not answer"));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#state.kind !== "open") return;
    const { client, destroy } = this.#state;
    const late = this.#machine.clock.after(RECONNECT_WAIT_MS, () => destroy(new Error("no answer")));
    // The last transaction has ended, so a connection that breaks now loses nothing.
    await client.end().catch(() => {});
    late.cancel();
  }
}

const command = (text: string): Query => ({ text, name: undefined, values: [] });

/** Returns the statements of a batch, including the statements that begin and end its transaction. */
const statementsOf = ({ transaction, commit, queries }: Batch): readonly Query[] => [
  ...(transaction === "begin" ? [command("BEGIN")] : []),
  ...queries,
  ...(commit === undefined ? [] : [{ text: NUMBER_COMMIT, name: "number", values: [commit] }, command("COMMIT")]),
];
