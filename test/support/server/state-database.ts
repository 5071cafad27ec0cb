import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = `import Sqlite from "libsql";
const [file, sql] = process.argv.slice(1);
console.log(new Sqlite(file).prepare(sql).run().changes);`;

const COUNT = `import Sqlite from "libsql";
const [file, ...tables] = process.argv.slice(1);
const database = new Sqlite(file);
const count = (table) => [table, database.prepare("SELECT count(*) AS n FROM " + table).get().n];
console.log(JSON.stringify(Object.fromEntries(tables.map(count))));`;

/**
 * Counts the rows of tables of a running server. Counts them in a copy, because the server keeps its database locked.
 * Returns undefined if the copy was made in the middle of a commit; the caller then tries again.
 */
export function countRows(dataDir: string, tables: readonly string[]): Readonly<Record<string, number>> | undefined {
  const copy = mkdtempSync(join(tmpdir(), "nuthatch-state-"));
  try {
    for (const name of ["state.db", "state.db-wal"])
      if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(copy, name));
    const parameters = ["--input-type=module", "-e", COUNT, join(copy, "state.db"), ...tables];
    return JSON.parse(execFileSync(process.execPath, parameters, { encoding: "utf8", stdio: "pipe" }));
  } catch {
    return undefined;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * Changes the state of a stopped server and returns the number of changed rows. Runs in a separate process, because a
 * connection locks the database until all of its statements have been garbage-collected.
 */
export function changeState(dataDir: string, sql: string): number {
  const parameters = ["--input-type=module", "-e", PROGRAM, join(dataDir, "state.db"), sql];
  return Number(execFileSync(process.execPath, parameters, { encoding: "utf8" }));
}
