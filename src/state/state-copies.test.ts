import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { machineDisk } from "../lib/file/machine-disk.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { openDatabase } from "./embedded-database.ts";
import { copiedAtMs, stamp } from "./state-copies.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-copies-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("a database is a copy once it is stamped, with the time in minutes", () => {
  const file = join(directory, "state.db");
  const db = openDatabase(file, machineDisk);
  db.exec("CREATE TABLE one (a)");
  db.close();
  expect(copiedAtMs(file, machineDisk)).toBeUndefined();
  const before = Date.now();
  stamp(file, machineClock.now());
  const copied = copiedAtMs(file, machineDisk) ?? 0;
  expect(copied).toBeGreaterThan(before - 60_000);
  expect(copied).toBeLessThanOrEqual(Date.now());
});

test("a file that is no database is no copy, whatever its bytes are", () => {
  const file = join(directory, "noise.db");
  writeFileSync(file, new Uint8Array(4096).fill(7));
  expect(copiedAtMs(file, machineDisk)).toBeUndefined();
  writeFileSync(file, "SQLite format 3\0");
  expect(copiedAtMs(file, machineDisk), "cut off").toBeUndefined();
});
