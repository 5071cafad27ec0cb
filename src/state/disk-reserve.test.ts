import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { machineDisk } from "../lib/file/machine-disk.ts";
import { machineRandom } from "../lib/random/machine-random.ts";
import { DiskReserve } from "./disk-reserve.ts";
import { openDatabase } from "./embedded-database.ts";

const MIB = 2 ** 20;
let directory = "";
let free = 0;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-reserve-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const file = (): string => join(directory, "reserve");
const reserve = (freeBytes: number): DiskReserve => {
  free = freeBytes;
  const statfsSync = () => ({ bsize: 1, bavail: free });
  return new DiskReserve(file(), { ...machineDisk, statfsSync }, machineRandom);
};

test("the reserve is given up before a transaction that may not fit, and made again when there is space", () => {
  const made = reserve(100 * MIB);
  expect([existsSync(file()), made.shortage]).toEqual([true, undefined]);
  const db = openDatabase(join(directory, "state.db"), machineDisk, { reserve: made });
  db.transaction(() => db.exec("CREATE TABLE a (b)"));
  expect(existsSync(file())).toBe(true);
  free = 0;
  db.transaction(() => {
    expect(existsSync(file())).toBe(false);
    db.exec("INSERT INTO a VALUES (1)");
  });
  free = 9 * MIB;
  made.look();
  expect(made.shortage).toBe(
    "the disk of the data directory is full: 9.0 MiB are free, and the state database needs 10 MiB",
  );
  free = 10 * MIB;
  made.look();
  expect([existsSync(file()), made.shortage]).toEqual([true, undefined]);
  db.close();
});

test("a start on a full disk gives up the reserve of the last process; a reserve that was cut off is none", () => {
  reserve(100 * MIB);
  expect(reserve(0).shortage).toContain("0.0 MiB are free");
  expect(existsSync(file())).toBe(false);
  writeFileSync(file(), "x");
  expect(reserve(0).shortage).toContain("full");
  expect(reserve(100 * MIB).shortage).toBeUndefined();
});

test("a full disk is a shortage before anything is written, and the reserve stays until then", () => {
  const made = reserve(100 * MIB);
  free = 0;
  made.look();
  expect(made.shortage).toBe(
    "the disk of the data directory is full: 0.0 MiB are free, and the state database needs 1 MiB",
  );
  expect(existsSync(file())).toBe(true);
  free = MIB;
  expect(made.shortage).toBeUndefined();
});
