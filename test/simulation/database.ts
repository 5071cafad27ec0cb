import { machineDisk } from "../../src/lib/file/machine-disk.ts";
import type { Database, Statement } from "../../src/state/database.ts";
import { openDatabase } from "../../src/state/embedded-database.ts";
import type { SimulatedProcess } from "./scheduler.ts";

/** The state database of one machine, which outlives its processes. A process that dies loses its open transaction. */
export class SimulatedDatabase {
  readonly #db = openDatabase(":memory:", machineDisk);
  /** Returns the code of an error that the next commit has. Undefined: it succeeds. */
  fault: () => string | undefined = () => undefined;

  close(): void {
    this.#db.close();
  }

  /** Returns the database as a process sees it. */
  seenBy(owner: SimulatedProcess): Database {
    const db = this.#db;
    let isInTransaction = false;
    const write = (): void => {
      owner.operation();
      const code = this.fault();
      if (code !== undefined) throw Object.assign(new Error(`${code}: injected`), { code });
    };
    const within =
      (run: Database["transaction"]): Database["transaction"] =>
      (body) => {
        owner.operation();
        isInTransaction = true;
        try {
          return run(() => {
            const result = body();
            write();
            return result;
          });
        } finally {
          isInTransaction = false;
        }
      };
    const statements = new Map<string, Statement>();
    const transaction = within((body) => db.transaction(body));
    return {
      dialect: db.dialect,
      prepare: (sql, options) => {
        const key = `${options?.bigints === true} ${sql}`;
        const known = statements.get(key);
        if (known !== undefined) return known;
        const statement = db.prepare(sql, options);
        const seen: Statement = {
          run(...values) {
            if (isInTransaction) owner.operation();
            else write();
            return statement.run(...values);
          },
          get(...values) {
            owner.operation();
            return statement.get(...values);
          },
          all(...values) {
            owner.operation();
            return statement.all(...values);
          },
        };
        statements.set(key, seen);
        return seen;
      },
      exec(sql) {
        if (isInTransaction) owner.operation();
        else write();
        db.exec(sql);
      },
      transaction,
      unsynced: within((body) => db.unsynced(body)),
      onRollback: (undo) => db.onRollback(undo),
      createTables: (all) => db.createTables(all),
      close() {},
    };
  }
}
