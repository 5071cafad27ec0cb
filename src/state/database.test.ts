import { expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";

test("a statement of a closed database throws: to read nothing would look like an empty table", () => {
  const db = openTestDatabase(":memory:");
  db.exec("CREATE TABLE one (a INTEGER); INSERT INTO one VALUES (1)");
  const select = db.prepare("SELECT a FROM one");
  expect(select.get()).toEqual({ a: 1 });
  db.close();
  expect(() => select.get()).toThrow("The database connection is not open");
  expect(() => select.all()).toThrow("The database connection is not open");
  expect(() => db.prepare("DELETE FROM one").run()).toThrow("The database connection is not open");
});
