import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../support/server/run-program.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, massTruncate, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { mountSmallDisk } from "../../support/stores/small-disk.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const world = { gridSetId: "EPSG:900913", zoomStart: 0, format: "image/png", type: "seed", threadCount: 1 };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-backup-test-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const backUp = (dataDir: string, ...args: readonly string[]) =>
  runProgram(["backup", "--data-dir", dataDir, ...args], { cwd: directory });

const lossOf = async (at: TestServer): Promise<unknown> =>
  JSON.parse(await (await fetch(`${at.url}/api/v1/status`)).text()).stateLoss;

test("a backup during a seed is restored after a kill: exact usage, the seed goes on, and no id is given twice", async () => {
  running.upstream = await startUpstream();
  const configuration = smallTiles(running.upstream.url, [{ name: "a" }, { name: "b" }]);
  const first = await startServer({ configuration });
  running.server = first;
  await ended(first, await seed(first, "a", { ...world, zoomStop: 3 }));
  // The remaining tiles of the seed take twelve seconds at least, so the seed has not ended when the backup is made.
  running.upstream.behaviour = renderAfter(400);
  const long = await seed(first, "b", { ...world, zoomStop: 5, threadCount: 2 });
  await until("the seed has stored tiles", async () =>
    (await job(first, long)).tiles.stored > 100 ? true : undefined,
  );
  const file = join(directory, "backup.db");
  const done = await backUp(first.dataDir, file);
  expect([done.code, done.stderr]).toEqual([0, ""]);
  expect(done.stdout).toMatch(/^The state of \S+ has been copied to \S+backup\.db \([\d.]+ [KM]iB\)\.\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(["backup.db"]);
  expect((await job(first, long)).state, "the backup was made during the seed").toBe("running");
  running.upstream.behaviour = () => "render";

  expect((await massTruncate(first, "a")).status).toBe(200);
  const last = await seed(first, "a", { ...world, zoomStop: 0 });
  await ended(first, last);
  await massTruncate(first, "a");
  await first.kill("SIGKILL");
  copyFileSync(file, join(first.dataDir, "state.db"));

  const restored = await first.restart();
  running.server = restored;
  expect(await lossOf(restored)).toEqual({
    file: join(first.dataDir, "state.db"),
    reason: expect.stringMatching(/^it is a copy of 2\S+Z that was put in place$/),
  });
  expect((await ended(restored, long)).outcome, "the seed goes on").toBe("done");
  const onlyStored = { headers: { "Cache-Control": "only-if-cached" } };
  const tile = await fetch(`${restored.url}/service/tms/1.0.0/a@EPSG:900913@png/0/0/0.png`, onlyStored);
  expect(tile.status, "a truncated tile is not served").toBe(504);
  await until("all is counted", async () => ((await usage(restored)).total.tiles === 1_365 ? true : undefined));
  await expectExact(restored);
  expect(await seed(restored, "a", { ...world, zoomStop: 0 })).toBeGreaterThan(last + 1_000);

  const again = await restored.restart("SIGKILL");
  running.server = again;
  expect(await lossOf(again), "only the first start reports the loss").toBeNull();
});

test("a backup beside a seed, a truncation and users' misses is restored with the tiles into a fresh directory", async () => {
  running.upstream = await startUpstream();
  // The seed takes sixteen seconds at least: it has not ended when the server is killed.
  running.upstream.behaviour = renderAfter(1_500);
  const names = ["a", "b", "c"].map((name) => ({ name }));
  const configuration = smallTiles(running.upstream.url, names);
  const first = await startServer({ configuration });
  running.server = first;
  const long = await seed(first, "a", { ...world, zoomStop: 5, threadCount: 8 });
  let isOver = false;
  /** Requests tiles that have not been rendered yet, one after the other, until the backup is made. */
  const readOn = async (zoom: number): Promise<number> => {
    let misses = 0;
    for (; !isOver; misses++) {
      const at = `${zoom}/${(misses * 4) % 256}/${Math.floor(misses / 64) * 4}`;
      const response = await fetch(`${first.url}/xyz/b/${at}.png`);
      await response.arrayBuffer();
      expect([at, response.status]).toEqual([at, 200]);
    }
    return misses;
  };
  const users = [readOn(8), readOn(9), readOn(10)];
  await until("much has been written", async () =>
    (await job(first, long)).tiles.stored > 250 &&
    (await usage(first)).layers.every(({ tiles }, i) => i === 2 || tiles > 100)
      ? true
      : undefined,
  );
  const file = join(directory, "backup.db");
  const made = backUp(first.dataDir, file);
  expect((await massTruncate(first, "b")).status).toBe(200);
  const done = await made;
  expect([done.code, done.stderr]).toEqual([0, ""]);
  const storedThen = (await job(first, long)).tiles.stored;
  await until("the seed goes on after the backup", async () =>
    (await job(first, long)).tiles.stored > storedThen + 200 ? true : undefined,
  );
  isOver = true;
  expect(Math.min(...(await Promise.all(users)))).toBeGreaterThan(0);
  expect((await job(first, long)).state).toBe("running");
  await first.kill("SIGKILL");

  running.upstream.behaviour = () => "render";
  const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-test-"));
  cpSync(join(first.dataDir, "tiles"), join(dataDir, "tiles"), { recursive: true });
  copyFileSync(file, join(dataDir, "state.db"));
  await first.close();
  const restored = await startServer({ configuration, dataDir });
  running.server = restored;
  expect(await lossOf(restored)).toMatchObject({
    reason: expect.stringMatching(/^it is a copy of .* that was put in place$/),
  });
  expect((await job(restored, long)).state, "the seed goes on").not.toBe("done");
  await until("all is counted", async () => ((await usage(restored)).adoption.pyramidsLeft === 0 ? true : undefined));
  expect((await ended(restored, long)).outcome).toBe("done");
  await until("the whole range is stored", async () =>
    (await usage(restored)).layers[0]?.tiles === 1_365 ? true : undefined,
  );
  await expectExact(restored);
  const verified = await runProgram(["quota", "verify", "--url", restored.url]);
  expect([verified.code, verified.stdout]).toEqual([
    0,
    expect.stringMatching(/tiles: the records and the store agree/),
  ]);
});

test("an interrupted backup leaves nothing behind", async () => {
  const at = await startServer();
  running.server = at;
  await at.kill("SIGKILL");
  // Without the log of the killed server the command tries again and again for five seconds.
  rmSync(join(at.dataDir, "state.db-wal"));
  const program = fileURLToPath(new URL("../../../bin/nuthatch.mjs", import.meta.url));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const child = spawn(process.execPath, [program, "backup", "--data-dir", at.dataDir, "b.db"], { cwd: directory });
    const exit = once(child, "exit");
    await until("the copy is being made", async () => (readdirSync(directory).length > 0 ? true : undefined));
    child.kill(signal);
    expect(await exit, "as the shell expects of an interrupted program").toEqual([null, signal]);
    expect(readdirSync(directory)).toEqual([]);
  }
});

test("backups of a server that writes all the time, and of a stopped one, are whole", async () => {
  running.upstream = await startUpstream();
  // Quick enough to write all the time, and too slow to take the processor from the backups.
  running.upstream.behaviour = renderAfter(50);
  const at = await startServer({ configuration: smallTiles(running.upstream.url, [{ name: "a" }]) });
  running.server = at;
  const id = await seed(at, "a", { ...world, zoomStop: 9, threadCount: 4 });
  for (let n = 0; n < 5; n++) {
    const done = await backUp(at.dataDir, `${n}.db`);
    expect([done.code, done.stderr]).toEqual([0, ""]);
  }
  expect((await job(at, id)).state).toBe("running");
  await at.kill("SIGKILL");
  expect((await backUp(at.dataDir, "killed.db")).code).toBe(0);
  const again = await at.restart();
  running.server = again;
  await again.kill("SIGTERM");
  expect((await backUp(at.dataDir, "stopped.db")).code).toBe(0);
  // The write-ahead log does not belong to a copy that was put in place.
  copyFileSync(join(directory, "0.db"), join(at.dataDir, "state.db"));
  const early = await backUp(at.dataDir, "early.db");
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("start the server before the backup")]);
});

test("a backup that cannot be made says why, and leaves nothing behind", async () => {
  const dataDir = join(directory, "data");
  const failure = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await backUp(dataDir, ...args);
    expect([code, stdout]).toEqual([1, ""]);
    return stderr;
  };
  expect(await failure("b.db")).toBe(`nuthatch: there is no state in ${dataDir}: there is no such directory\n`);
  mkdirSync(dataDir);
  expect(await failure("b.db")).toContain("state.db is missing or empty");
  writeFileSync(join(dataDir, "state.db"), "not a database".repeat(1_000));
  expect(await failure("b.db")).toContain("is not a state database of Nuthatch: it does not");
  const damaged = Buffer.alloc(20_000);
  damaged.write("SQLite format 3\0");
  writeFileSync(join(dataDir, "state.db"), damaged);
  expect(await failure("b.db")).toContain("is not a state database of Nuthatch, or is damaged");
  expect(await failure("none/b.db")).toContain("the directory none of the backup cannot be used");
  expect(await failure("data/state.db", "--force")).toContain("is a name of a file of the server's state");
  expect(await failure(".", "--force")).toContain("is a directory");
  writeFileSync(join(directory, "b.db"), "mine");
  expect(await failure("b.db")).toContain("b.db already exists: --force overwrites it");
  expect(readdirSync(directory).sort()).toEqual(["b.db", "data"]);
  expect((await runProgram(["backup"])).code).toBe(2);
});

test("--force writes over a file, and a full disk is told", async () => {
  const at = await startServer();
  running.server = at;
  writeFileSync(join(directory, "b.db"), "old");
  chmodSync(join(directory, "b.db"), 0o644);
  expect((await backUp(at.dataDir, "b.db", "--force")).code).toBe(0);
  expect(statSync(join(directory, "b.db")).mode & 0o777).toBe(0o600);
  const disk = mountSmallDisk(1, 100);
  if (disk === undefined) return;
  try {
    writeFileSync(join(disk.directory, "filler"), Buffer.alloc(1_000_000));
    const full = await backUp(at.dataDir, join(disk.directory, "b.db"));
    expect([full.code, full.stderr]).toEqual([1, expect.stringMatching(/^nuthatch: the disk of \S+ is full: /)]);
    expect(existsSync(join(disk.directory, "b.db"))).toBe(false);
    expect(readdirSync(disk.directory)).toEqual(["filler"]);
  } finally {
    disk.close();
  }
});
