import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import facts from "../../fixtures/data-1.0.0.json" with { type: "json" };
import { runProgram } from "../../support/server/run-program.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { expectExact } from "../../support/stores/exact.ts";

const ARCHIVE = fileURLToPath(new URL("../../fixtures/data-1.0.0.tar.gz", import.meta.url));
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-upgrade-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));
// After the hook above, so that the server is closed before its directory is removed.
const running = closedAfterEach();

/** Unpacks the data directory of a server of version 1.0.0 that was stopped. */
function unpacked(): string {
  const dataDir = join(directory, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  execFileSync("tar", ["-xzf", ARCHIVE, "-C", dataDir, "--no-same-owner"]);
  return dataDir;
}

const get = async (server: TestServer, path: string) => JSON.parse(await (await fetch(server.url + path)).text());
const onlyStored = { headers: { "Cache-Control": "only-if-cached" } };

/** Expects the state in which the server of version 1.0.0 was stopped. */
async function expectState(server: TestServer): Promise<void> {
  const { layers } = await get(server, "/api/v1/layers");
  expect(layers.map(({ name }: { readonly name: string }) => name).sort()).toEqual(["over-http", "states", "world"]);
  expect(await job(server, facts.done.id)).toMatchObject({
    outcome: "done",
    tiles: { stored: facts.done.stored, failed: 0 },
  });
  expect(await job(server, facts.paused.id)).toMatchObject({ paused: true, tiles: { total: facts.paused.total } });
  expect(await get(server, "/api/v1/schedules/nightly")).toMatchObject({ paused: true, cron: "30 2 * * *" });
  expect((await usage(server)).quota).toBe(1_000_000_000);
  const tile = await fetch(server.url + facts.tile.path, onlyStored);
  expect(tile.status).toBe(200);
  const bytes = new Uint8Array(await tile.arrayBuffer());
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(facts.tile.digest);
}

test("a data directory of version 1.0.0 has its layers, tiles, jobs and truncations, and the state's copy leads back", async () => {
  const dataDir = unpacked();
  const copy = join(directory, "before.db");
  expect(await runProgram(["backup", "--data-dir", dataDir, copy], { cwd: directory })).toMatchObject({ code: 0 });

  const upgraded = await startServer({ configuration: facts.configuration, dataDir });
  running.server = upgraded;
  await expectState(upgraded);
  const truncated = `${upgraded.url}/xyz/world/0/0/0.png`;
  expect((await fetch(truncated, onlyStored)).status).toBe(504);
  expect((await usage(upgraded)).total).toMatchObject(facts.usage);
  expect((await fetch(`${upgraded.url}/api/v1/jobs/${facts.paused.id}/resume`, { method: "POST" })).status).toBe(200);
  expect(await ended(upgraded, facts.paused.id)).toMatchObject({ outcome: "done", tiles: { failed: 0 } });
  const undo = `/api/v1/truncations/${facts.truncation.id}/undo`;
  expect((await fetch(upgraded.url + undo, { method: "POST" })).status).toBe(200);
  expect((await fetch(truncated, onlyStored)).status).toBe(200);
  await expectExact(upgraded);
  expect(await upgraded.kill("SIGTERM")).toBe(0);

  // Back: the state as it was before the upgrade, beside the tiles of today.
  copyFileSync(copy, join(dataDir, "state.db"));
  const back = await startServer({ configuration: facts.configuration, dataDir });
  running.server = back;
  expect((await get(back, "/api/v1/status")).stateLoss.reason).toMatch(/^it is a copy of /);
  await expectState(back);
});
