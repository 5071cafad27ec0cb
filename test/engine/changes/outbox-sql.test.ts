import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { hasPostgres, type Postgres, removePostgres, startPostgres } from "../../support/postgres/postgres.ts";
import { runProgram } from "../../support/server/run-program.ts";

/* `nuthatch changes sql`: the outbox and the triggers, in a real PostgreSQL. */

if (!hasPostgres) console.warn("SKIPPED: test/engine/changes/outbox-sql.test.ts needs Debian's postgresql");

const directory = mkdtempSync(join(tmpdir(), "nuthatch-outbox-sql-"));
// Beside it: the account of PostgreSQL may not enter a temporary directory of root.
const postgresDirectory = `${directory}-server`;
let postgres: Postgres;

beforeAll(async () => {
  if (!hasPostgres) return;
  postgres = startPostgres(postgresDirectory);
  postgres.sql("CREATE TABLE \"Plans of 'a'\" (id int PRIMARY KEY, area box)");
  const { code, stdout } = await runProgram(
    ["changes", "sql", "--table", "Plans of 'a'", "--geometry", "area", "--srid", "25832"],
    { cwd: directory },
  );
  expect(code).toBe(0);
  // A second run changes nothing.
  for (const _ of [1, 2]) postgres.sql(stdout);
});
beforeEach(() => {
  // The triggers write a row for the truncation, which goes too.
  if (hasPostgres) postgres.sql(`TRUNCATE "Plans of 'a'"; TRUNCATE nuthatch_changes`);
});
afterAll(() => {
  if (hasPostgres) removePostgres(postgresDirectory);
  rmSync(directory, { recursive: true });
});

const rows = (): string => {
  const found = postgres.sql(
    "SELECT coalesce(string_agg(concat_ws(' ', srid, minx, miny, maxx, maxy), ',' ORDER BY minx), '') FROM nuthatch_changes",
  );
  postgres.sql("DELETE FROM nuthatch_changes");
  return found;
};

test.skipIf(!hasPostgres)("each statement writes its old and its new boxes, and TRUNCATE a row without a box", () => {
  postgres.sql(`INSERT INTO "Plans of 'a'" VALUES (1, '(1,2),(3,4)'), (2, '(5,5),(6,6)'), (3, NULL)`);
  expect(rows()).toBe("25832 1 2 3 4,25832 5 5 6 6");
  postgres.sql(`UPDATE "Plans of 'a'" SET area = '(10,10),(11,11)' WHERE id = 1`);
  expect(rows()).toBe("25832 1 2 3 4,25832 10 10 11 11");
  postgres.sql(`DELETE FROM "Plans of 'a'" WHERE id = 2`);
  expect(rows()).toBe("25832 5 5 6 6");
  postgres.sql(`DELETE FROM "Plans of 'a'" WHERE id = 99`);
  expect(rows()).toBe("");
  postgres.sql(`TRUNCATE "Plans of 'a'"`);
  expect(postgres.sql("SELECT topic, srid, minx FROM nuthatch_changes")).toMatch(/^public\.Plans of 'a'\W*$/);
});

test.skipIf(!hasPostgres)("a statement that changes many rows writes a few boxes, which cover all of them", () => {
  postgres.sql(`INSERT INTO "Plans of 'a'"
    SELECT i, box(point(i % 1000, i / 1000), point(i % 1000 + 1, i / 1000 + 1)) FROM generate_series(0, 19999) i`);
  const [count, ...box] = postgres
    .sql("SELECT concat_ws(' ', count(*), min(minx), min(miny), max(maxx), max(maxy)) FROM nuthatch_changes")
    .split(" ");
  expect(Number(count)).toBeGreaterThan(10);
  expect(Number(count)).toBeLessThan(1_000);
  expect(box).toEqual(["0", "0", "1000", "20"]);
});

test("wrong names and codes are refused", async () => {
  const run = async (...words: readonly string[]) => {
    const { code, stderr } = await runProgram(["changes", "sql", ...words], { cwd: directory });
    return [code, stderr];
  };
  expect(await run("--table", "a.b.c", "--geometry", "g")).toEqual([2, expect.stringContaining("SCHEMA.TABLE")]);
  expect(await run("--table", "a", "--geometry", 'g"')).toEqual([2, expect.stringContaining("name of a column")]);
  expect(await run("--table", "a", "--geometry", "g", "--srid", "x")).toEqual([2, expect.stringContaining("EPSG")]);
});
