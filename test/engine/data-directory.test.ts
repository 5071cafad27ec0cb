import { spawnSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { closedAfterEach } from "../support/running.ts";
import { startServer } from "../support/server.ts";
import { changeState } from "../support/state-database.ts";

const running = closedAfterEach();
const entry = fileURLToPath(new URL("../../bin/nuthatch.mjs", import.meta.url));

const serve = (dataDir: string) =>
  spawnSync(process.execPath, [entry, "serve"], {
    env: { PATH: process.env["PATH"], NUTHATCH_PORT: "0", NUTHATCH_DATA_DIR: dataDir },
    encoding: "utf8",
    timeout: 30_000,
  });

test("only the owner can read the state, and a second server does not start even if the lock file was removed", async () => {
  const at = await startServer();
  running.server = at;
  expect(statSync(at.dataDir).mode & 0o777).toBe(0o700);
  for (const name of ["state.db", "state.db-wal", "lock.db"])
    expect(statSync(join(at.dataDir, name)).mode & 0o777, name).toBe(0o600);
  for (const name of ["lock.db", "lock.db-journal"]) rmSync(join(at.dataDir, name), { force: true });
  const second = serve(at.dataDir);
  expect(second.stderr).toContain("is in use by another Nuthatch");
  expect(second.status).toBe(1);
  expect((await fetch(`${at.url}/readyz`)).status).toBe(200);
});

test("a database of a newer version is refused with the exit code of a configuration that cannot be right", async () => {
  const at = await startServer();
  running.server = at;
  await at.kill("SIGTERM");
  changeState(at.dataDir, "INSERT INTO migration VALUES ('ledger', 99)");
  const older = serve(at.dataDir);
  expect(older.stderr).toContain("newer version of Nuthatch (steps unknown to this one: ledger 99)");
  expect(older.status).toBe(78);
});
