import { execFileSync } from "node:child_process";
import { join } from "node:path";

const PROGRAM = `import Sqlite from "libsql";
const [file, sql] = process.argv.slice(1);
console.log(new Sqlite(file).prepare(sql).run().changes);`;

/**
 * Changes the state of a server that is down, in a process of its own: a connection holds the database until all of its
 * statements have been collected. @returns how many rows
 */
export function changeState(dataDir: string, sql: string): number {
  const parameters = ["--input-type=module", "-e", PROGRAM, join(dataDir, "state.db"), sql];
  return Number(execFileSync(process.execPath, parameters, { encoding: "utf8" }));
}
