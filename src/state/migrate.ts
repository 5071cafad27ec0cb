import { ownVersion } from "../lib/process/version.ts";
import { StateError } from "./data-directory.ts";
import { int, type Migrating, type Migrations, text } from "./database.ts";
import { postgresStep, replacing, sqliteStep } from "./dialect.ts";
import { takeOver } from "./unreleased.ts";

interface Step {
  readonly module: string;
  readonly step: number;
}

/**
 * Runs the steps that the database has not had yet, in one transaction.
 * @throws StateError when the database was written by a newer version, or by a build before the first release that this
 * version does not know
 */
export function migrate(migrating: Migrating, migrations: readonly Migrations[]): void {
  const { db, beforeSteps } = migrating;
  const translated = db.dialect.engine === "sqlite" ? sqliteStep : postgresStep;
  db.exec(translated("CREATE TABLE IF NOT EXISTS schema_step (module TEXT, step INTEGER, PRIMARY KEY (module, step))"));
  db.exec(
    translated("CREATE TABLE IF NOT EXISTS written_by (id INTEGER PRIMARY KEY CHECK (id = 1), version TEXT NOT NULL)"),
  );
  const version = ownVersion();
  const row = db.prepare("SELECT version FROM written_by").get();
  const lastVersion = row === undefined ? undefined : text(row, "version");
  if (stepsOf(db).length === 0) takeOver(migrating, migrations, version);
  const done = stepsOf(db);
  refuseNewer(done, migrations, { ...migrating, lastVersion, version });
  const isDone = new Set(done.map(({ module, step }) => `${module} ${step}`));
  const missing = migrations.flatMap(({ module, steps }) =>
    steps.map((sql, step) => ({ module, step, sql })).filter(({ step }) => !isDone.has(`${module} ${step}`)),
  );
  if (missing.length > 0) {
    if (done.length > 0) beforeSteps(version);
    const record = db.prepare("INSERT INTO schema_step VALUES (?, ?)");
    db.transaction(() => {
      for (const { module, step, sql } of missing) {
        db.exec(translated(sql));
        record.run(module, step);
      }
    });
  }
  if (lastVersion !== version)
    db.prepare(`INSERT INTO written_by VALUES (1, ?) ${replacing(["id"], ["version"])}`).run(version);
}

/** Returns the steps that the database has had. */
const stepsOf = (db: Migrating["db"]): readonly Step[] =>
  db
    .prepare("SELECT module, step FROM schema_step ORDER BY module, step")
    .all()
    .map((row) => ({ module: text(row, "module"), step: int(row, "step") }));

interface Versions extends Pick<Migrating, "name" | "copy"> {
  /** The version that opened the database last; undefined: it did not record itself. */
  readonly lastVersion: string | undefined;
  readonly version: string;
}

/**
 * Refuses a database of a newer version. A version that does not know a step would write data that the newer version
 * does not expect.
 * @throws StateError
 */
function refuseNewer(
  done: readonly Step[],
  migrations: readonly Migrations[],
  { name, copy: latestCopy, lastVersion, version }: Versions,
): void {
  const known = new Map(migrations.map(({ module, steps }) => [module, steps.length]));
  const unknown = done
    .filter(({ module, step }) => step >= (known.get(module) ?? 0))
    .map(({ module, step }) => `${module} ${step}`);
  if (unknown.length === 0) return;
  const last = lastVersion === undefined ? "" : `, last written by Nuthatch ${lastVersion}`;
  const copy = latestCopy();
  const older = copy === undefined ? "a copy of this version" : `a copy of this version (such as ${copy})`;
  throw new StateError(
    "other_version",
    `the state database ${name} was written by a newer version of Nuthatch (steps unknown to this one, Nuthatch ${version}: ${unknown.join(", ")}${last}): start that version, or put ${older} in its place`,
  );
}
