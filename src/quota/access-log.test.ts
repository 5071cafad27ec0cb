import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/test-database.ts";
import { AccessLog, accessLogMigrations } from "./access-log.ts";

test("reads come back as they were, also where there are 2^50 tiles in a row", () => {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-access-"));
  const db = openTestDatabase(join(directory, "state.db"));
  db.migrate([accessLogMigrations]);
  const tileSet = { layer: "a", gridSet: "deep", format: "image/png", parametersId: "" };
  const other = { ...tileSet, format: "image/jpeg" };
  const reads = [
    { tileSet, z: 35, x: 2 ** 32, y: 5 },
    { tileSet: other, z: 0, x: 0, y: 0 },
    { tileSet, z: 50, x: 2 ** 50 - 1, y: 2 ** 50 - 2 },
  ];
  const log = new AccessLog(db);
  log.add({ reads, cells: [], sampledBelow: 7 }, 1_000);
  expect([...log.batches()].flatMap((batch) => batch.reads)).toEqual(reads);
  db.transaction(() => log.write(2_000));
  expect([...new AccessLog(db).batches()]).toEqual([{ atMs: 2_000, sampledBelow: 7, reads }]);
  db.close();
  rmSync(directory, { recursive: true });
});
