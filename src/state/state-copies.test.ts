import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase } from "./embedded-database.ts";
import { copiedAtMs, stamp } from "./state-copies.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-copies-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("a database is a copy once it is stamped, with the time in minutes", () => {
  const file = join(directory, "state.db");
  const db = openDatabase(file);
  db.exec("CREATE TABLE one (a)");
  db.close();
  expect(copiedAtMs(file)).toBeUndefined();
  const before = Date.now();
  stamp(file);
  const copied = copiedAtMs(file) ?? 0;
  expect(copied).toBeGreaterThan(before - 60_000);
  expect(copied).toBeLessThanOrEqual(Date.now());
});

test("a file that is no database is no copy, whatever its bytes are", () => {
  const file = join(directory, "noise.db");
  writeFileSync(file, new Uint8Array(4096).fill(7));
  expect(copiedAtMs(file)).toBeUndefined();
  writeFileSync(file, "SQLite format 3\0");
  expect(copiedAtMs(file), "cut off").toBeUndefined();
});
