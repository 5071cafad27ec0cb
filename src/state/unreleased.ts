import { machineClock } from "../lib/time/machine-clock.ts";
import { StateError } from "./data-directory.ts";
import { int, type Migrating, type Migrations, text } from "./database.ts";

/**
 * The number of steps of each module before its tables were created in one step. Databases with all these steps have
 * the current tables. This file can be deleted once no such database remains.
 */
const STEPS: ReadonlyMap<string, number> = new Map([
  ["access log", 2],
  ["account", 2],
  ["activity", 2],
  ["adoption", 1],
  ["clock", 1],
  ["configured_objects", 2],
  ["drops", 1],
  ["feeds", 1],
  ["grid_set_places", 1],
  ["jobs", 13],
  ["layer_stores", 1],
  ["ledger", 10],
  ["mass_truncations", 2],
  ["quota", 2],
  ["schedules", 3],
  ["session", 1],
  ["store_copies", 2],
  ["usage trend", 3],
  ["webhooks", 1],
]);

/** The last commit of Nuthatch that brings a database of an older build to the steps above. */
const LAST_COMMIT = "825144c1";

/** A job whose record has the earliest form, without the size of its metatiles or without some of its counts. */
const OLD_JOB = `(type <> 'truncate' AND request NOT LIKE '%"metatile":%')
  OR progress NOT LIKE '%"zooms":%' OR progress NOT LIKE '%"abortedBy":%' OR progress NOT LIKE '%"workedMs":%'
  OR (progress LIKE '%"zooms":[{%' AND progress NOT LIKE '%"unchanged":%')`;

/** Renames constraints and sequences that have the old name of a renamed table in PostgreSQL. */
const RENAMED = `ALTER TABLE selection_body RENAME CONSTRAINT job_selection_pkey TO selection_body_pkey;
  ALTER TABLE job_selection RENAME CONSTRAINT job_selection_pkey1 TO job_selection_pkey;
  ALTER SEQUENCE job_selection_job_seq RENAME TO selection_body_id_seq;
  ALTER SEQUENCE job_selection_job_seq1 RENAME TO job_selection_job_seq;`;

/** Tables whose rows belong to a job, by their column `job`. */
const OF_JOBS = ["task", "failed_tile", "job_key", "job_together", "job_hot", "job_selection", "job_event"];

/**
 * Converts a database of a build before the first release: records the first step of each module as done, and rewrites
 * rows to the form of this version. Does nothing in a new database.
 * @throws StateError when the database has other steps
 */
export function takeOver(
  { db, name, beforeSteps }: Migrating,
  migrations: readonly Migrations[],
  version: string,
): void {
  const found =
    db.dialect.engine === "sqlite"
      ? "SELECT 1 AS found FROM sqlite_master WHERE name = 'migration'"
      : "SELECT 1 AS found WHERE to_regclass('migration') IS NOT NULL";
  if (db.prepare(found).get() === undefined) return;
  const steps = new Map(
    db
      .prepare("SELECT floor, count(*) AS steps FROM migration GROUP BY floor")
      .all()
      .map((row) => [text(row, "floor"), int(row, "steps")]),
  );
  // The database belongs to a start that was killed before its first step.
  if (steps.size === 0) return;
  const others = [...new Set([...STEPS.keys(), ...steps.keys()])]
    .filter((module) => steps.get(module) !== STEPS.get(module))
    .map((module) => `${module} ${steps.get(module) ?? 0} instead of ${STEPS.get(module) ?? 0}`);
  if (others.length > 0)
    throw new StateError(
      "other_version",
      `the state database ${name} was written by a build before the first release, with other steps than the last one (${others.join(", ")}): start the commit ${LAST_COMMIT} with it once, and then this version`,
    );
  beforeSteps(version);
  db.transaction(() => {
    for (const { module } of migrations) db.prepare("INSERT INTO schema_step VALUES (?, 0)").run(module);
    db.exec("DROP TABLE access_batch");
    // Samples, times and sizes that older builds did not record.
    db.exec("DELETE FROM usage_sample WHERE allocated IS NULL OR tiles IS NULL");
    db.prepare("UPDATE quota_configuration SET set_ms = ? WHERE set_ms IS NULL").run(machineClock.now());
    // No disk has blocks of this size, so the next start counts the tiles again.
    db.exec("UPDATE ledger_boot SET block_bytes = -1 WHERE block_bytes IS NULL");
    // A wrong checksum makes the ledger count the block from the store when it reads the block.
    db.exec("UPDATE block SET checksum = -1 WHERE checksum IS NULL OR ages IS NULL");
    db.prepare("UPDATE block SET ages = ? WHERE ages IS NULL").run(new Uint8Array(1));
    // A digest that no area has: areas that were never compared are not shared.
    const digest = db.prepare("UPDATE selection SET digest = ? WHERE id = ?");
    for (const row of db.prepare("SELECT id FROM selection WHERE digest IS NULL").all())
      digest.run(new TextEncoder().encode(`selection ${int(row, "id")}`), int(row, "id"));
    db.exec(`DELETE FROM job WHERE ${OLD_JOB}`);
    for (const table of OF_JOBS) db.exec(`DELETE FROM ${table} WHERE job NOT IN (SELECT id FROM job)`);
    for (const table of ["selection", "selection_body"])
      db.exec(`DELETE FROM ${table} WHERE id NOT IN (SELECT selection FROM job_selection)`);
    const bytes = "SELECT sum(bytes) AS bytes FROM job UNION ALL SELECT sum(bytes) FROM selection";
    db.exec(`UPDATE job_history SET bytes = (SELECT coalesce(sum(bytes), 0) FROM (${bytes}) AS both_tables)`);
    if (db.dialect.engine === "postgres") db.exec(RENAMED);
    db.exec("DROP TABLE migration");
  });
}
