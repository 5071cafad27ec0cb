import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { startServer } from "../../support/server/server.ts";
import { changeState } from "../../support/server/state-database.ts";

const running = closedAfterEach();
const entry = fileURLToPath(new URL("../../../bin/nuthatch.mjs", import.meta.url));

const serve = (dataDir: string) =>
  spawnSync(process.execPath, [entry, "serve"], {
    env: { PATH: process.env["PATH"], NUTHATCH_PORT: "0", NUTHATCH_DATA_DIR: dataDir },
    encoding: "utf8",
    timeout: 120_000,
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

test("a database of another version is refused with the exit code of a configuration that cannot be right", async () => {
  const at = await startServer();
  running.server = at;
  await at.kill("SIGTERM");
  changeState(at.dataDir, "UPDATE schema_version SET version = 99, program = '9.0.0'");
  const refused = serve(at.dataDir);
  expect(refused.stderr).toMatch(
    /have version 99, last written by Nuthatch 9\.0\.0, but Nuthatch \S+ needs version \d+:/,
  );
  expect(refused.stderr).toContain(join(at.dataDir, "state.db"));
  expect(refused.status).toBe(78);
});

const DAMAGES: readonly (readonly [string, (file: string) => void])[] = [
  ["noise", (file) => writeFileSync(file, Buffer.alloc(8192, "garbage"))],
  ["cut off", (file) => truncateSync(file, 6000)],
  [
    "a directory",
    (file) => {
      rmSync(file);
      mkdirSync(file);
    },
  ],
];

test.each(DAMAGES)(
  "a state database that is %s is refused with its name, what it costs and how to go on",
  async (_, damage) => {
    const at = await startServer();
    running.server = at;
    await at.kill("SIGTERM");
    const file = join(at.dataDir, "state.db");
    damage(file);
    const refused = serve(at.dataDir);
    expect(refused.stderr).toContain(`the server cannot start: the state database ${file} `);
    expect(refused.stderr).toContain(`move ${file} and ${file}-wal away and start again`);
    expect(refused.stderr).toContain("schedules, truncations to undo and a quota set over HTTP are lost");
    expect(refused.status).toBe(78);
    for (const name of [file, `${file}-wal`]) rmSync(name, { recursive: true, force: true });
    running.server = await at.restart();
    expect((await fetch(`${running.server.url}/readyz`)).status, "what the message says works").toBe(200);
  },
);
