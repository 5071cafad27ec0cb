import { rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectExact } from "../support/exact.ts";
import { closedAfterEach } from "../support/running.ts";
import { ended, job, massTruncate, seed, startServer, type TestServer, usage } from "../support/server.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";

const running = closedAfterEach();
const world = { gridSetId: "EPSG:900913", zoomStart: 0, format: "image/png", type: "seed", threadCount: 2 };

interface Status {
  readonly stateLoss: { readonly file: string; readonly reason: string } | null;
}
const status = async (at: TestServer): Promise<Status> =>
  JSON.parse(await (await fetch(`${at.url}/api/v1/status`)).text());
const losses = async (at: TestServer): Promise<string | undefined> =>
  /^nuthatch_state_losses_total (\d+)/m.exec(await (await fetch(`${at.url}/metrics`)).text())?.[1];

/** A server whose database is older than its store: it was stopped in order, then worked on. */
async function worked(): Promise<TestServer> {
  running.upstream = await startUpstream();
  const first = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: "a" }, { name: "b" }, { name: "c" }]),
  });
  running.server = first;
  for (const layer of ["a", "b"]) await ended(first, await seed(first, layer, { ...world, zoomStop: 3 }));
  const at = await first.restart("SIGTERM");
  running.server = at;
  await massTruncate(at, "a");
  await ended(at, await seed(at, "b", { ...world, zoomStart: 4, zoomStop: 4 }));
  await ended(at, await seed(at, "c", { ...world, zoomStop: 2 }));
  return at;
}

const LOST: readonly (readonly [string, string, NodeJS.Signals, (dataDir: string) => void])[] = [
  ["state.db emptied", "state.db", "SIGKILL", (dataDir) => truncateSync(join(dataDir, "state.db"))],
  ["state.db removed after an orderly end", "state.db", "SIGTERM", (dataDir) => rmSync(join(dataDir, "state.db"))],
  ["state.db-wal removed", "state.db-wal", "SIGKILL", (dataDir) => rmSync(join(dataDir, "state.db-wal"))],
  [
    "state.db-wal overwritten",
    "state.db-wal",
    "SIGKILL",
    (dataDir) => writeFileSync(join(dataDir, "state.db-wal"), Buffer.alloc(8192, "garbage")),
  ],
];

test.each(LOST)("%s: the start says so, and counts the tiles exactly", async (_, file, signal, lose) => {
  const at = await worked();
  expect((await status(at)).stateLoss).toBeNull();
  await at.kill(signal);
  lose(at.dataDir);
  const again = await at.restart();
  running.server = again;
  expect((await status(again)).stateLoss?.file).toBe(join(at.dataDir, file));
  expect(again.log()).toMatch(new RegExp(`"level":"error".*/${file}".*the state of the last server is not all there`));
  expect(await losses(again)).toBe("1");
  await until("everything is counted", async () =>
    (await usage(again)).total.tiles === 85 + 256 + 21 ? true : undefined,
  );
  await expectExact(again);
  const after = await again.restart("SIGTERM");
  running.server = after;
  expect((await status(after)).stateLoss, "it is told once").toBeNull();
});

test("neither a kill nor an orderly end is taken for a loss, and an orderly end leaves nothing in the log", async () => {
  const at = await worked();
  const killed = await at.restart("SIGKILL");
  running.server = killed;
  expect((await status(killed)).stateLoss).toBeNull();
  expect(await losses(killed)).toBe("0");
  await killed.kill("SIGTERM");
  expect(statSync(join(at.dataDir, "state.db-wal"), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  const stopped = await killed.restart();
  running.server = stopped;
  expect((await status(stopped)).stateLoss).toBeNull();
  await expectExact(stopped);
});

test("an end at once by a second signal is not taken for a loss", async () => {
  const at = await worked();
  const { upstream } = running;
  // The upstream does not answer, so the first signal waits for the renders.
  if (upstream !== undefined) upstream.behaviour = () => "handled";
  const id = await seed(at, "b", { ...world, zoomStart: 5, zoomStop: 5 });
  await until("a tile is being rendered", async () => (upstream?.inFlight() === 0 ? undefined : true));
  process.kill(at.pid, "SIGTERM");
  await until("the server accepts nothing more", () =>
    fetch(`${at.url}/livez`).then(
      () => undefined,
      () => true,
    ),
  );
  await at.kill("SIGTERM");
  const again = await at.restart();
  running.server = again;
  expect((await status(again)).stateLoss).toBeNull();
  expect((await job(again, id)).state).toBe("running");
  await expectExact(again);
});
