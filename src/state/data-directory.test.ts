import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { machineDisk } from "../lib/file/machine-disk.ts";
import { lockDataDirectory, secureDataDirectory } from "./data-directory.ts";
import { openDatabase } from "./embedded-database.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-state-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;
const state = (): string => join(directory, "state.db");
const lockFile = (): string => join(directory, "lock.db");

test("files of state are the owner's alone, and so is the directory, whether they were there before or not", () => {
  mkdirSync(join(directory, "old"));
  chmodSync(join(directory, "old"), 0o755);
  for (const name of ["state.db-wal", "users.yaml"]) writeFileSync(join(directory, "old", name), "", { mode: 0o644 });
  for (const name of ["old", "new"]) {
    const data = join(directory, name);
    secureDataDirectory(data, machineDisk);
    const db = openDatabase(join(data, "state.db"), machineDisk);
    db.exec("CREATE TABLE a (b)");
    expect(modeOf(data)).toBe(0o700);
    for (const file of ["state.db", "state.db-wal", "lock.db"]) expect(modeOf(join(data, file)), file).toBe(0o600);
    db.close();
  }
  expect(modeOf(join(directory, "old", "users.yaml"))).toBe(0o600);
});

test("a second lock is refused while the first is held, and no other fault is reported as that", () => {
  const first = lockDataDirectory(directory, lockFile(), machineDisk);
  expect(() => lockDataDirectory(directory, lockFile(), machineDisk)).toThrow("in use by another Nuthatch");
  first.release();
  lockDataDirectory(directory, lockFile(), machineDisk).release();
  rmSync(lockFile());
  mkdirSync(lockFile());
  expect(() => lockDataDirectory(directory, lockFile(), machineDisk)).toThrow(/lock file .* cannot be opened/);
});

test("a lock file with invalid content is replaced", () => {
  writeFileSync(lockFile(), Buffer.alloc(4096, "garbage"));
  const lock = lockDataDirectory(directory, lockFile(), machineDisk);
  expect(() => lockDataDirectory(directory, lockFile(), machineDisk)).toThrow("in use by another Nuthatch");
  lock.release();
  expect(readFileSync(lockFile(), "utf8")).not.toContain("garbage");
});

test("without the lock file the state database itself keeps a second server out", () => {
  const first = openDatabase(state(), machineDisk, { access: "exclusive" });
  rmSync(lockFile(), { force: true });
  lockDataDirectory(directory, lockFile(), machineDisk).release();
  expect(() => openDatabase(state(), machineDisk, { access: "exclusive" })).toThrow("in use by another Nuthatch");
  first.close();
  openDatabase(state(), machineDisk, { access: "exclusive" }).close();
});
