import { rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ended, job, massTruncate, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { killAll } from "../../support/server/shared-server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

const world = { gridSetId: "EPSG:900913", zoomStart: 0, format: "image/png", type: "seed", threadCount: 1 };

interface Status {
  readonly stateLoss: { readonly file: string; readonly reason: string } | null;
}
const status = async (at: TestServer): Promise<Status> =>
  JSON.parse(await (await fetch(`${at.url}/api/v1/status`)).text());
const losses = async (at: TestServer): Promise<string | undefined> =>
  /^nuthatch_state_losses_total (\d+)/m.exec(await (await fetch(`${at.url}/metrics`)).text())?.[1];

/** The one server of all tests. Each test leaves it running after an orderly end. */
let shared: { server: TestServer; readonly upstream: Upstream; tiles: number } | undefined;
afterAll(async () => {
  await shared?.server.close();
  await shared?.upstream.close();
});

async function begin() {
  const upstream = await startUpstream();
  const layers = ["a", "b", "c"].map((name) => ({ name }));
  const first = await startServer({ configuration: smallTiles(upstream.url, layers) });
  for (const layer of ["a", "b"]) await ended(first, await seed(first, layer, { ...world, zoomStop: 3 }));
  return { server: await first.restart("SIGTERM"), upstream, tiles: 2 * 85 };
}

/** A server whose database is older than its store: it was stopped in order, then worked on. */
async function worked() {
  shared ??= await begin();
  const { server: at } = shared;
  const make = async (layer: string, zoomStart: number, zoomStop: number) =>
    ended(at, await seed(at, layer, { ...world, zoomStart, zoomStop }));
  // The work and its reverse: without this work the database never agrees with the store.
  if (shared.tiles === 2 * 85) {
    await massTruncate(at, "a");
    await make("b", 4, 4);
    await make("c", 0, 2);
    shared.tiles = 85 + 256 + 21;
  } else {
    for (const layer of ["b", "c"]) await massTruncate(at, layer);
    for (const layer of ["a", "b"]) await make(layer, 0, 3);
    shared.tiles = 2 * 85;
  }
  return shared;
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
  const its = await worked();
  const { server: at, tiles } = its;
  expect((await status(at)).stateLoss).toBeNull();
  await at.kill(signal);
  lose(at.dataDir);
  const again = await at.restart();
  its.server = again;
  expect((await status(again)).stateLoss?.file).toBe(join(at.dataDir, file));
  expect(again.log()).toMatch(
    new RegExp(`"level":"error".*/${file}".*the state database is missing or older than the tiles`),
  );
  expect(await losses(again)).toBe("1");
  await until("everything is counted", async () => ((await usage(again)).total.tiles === tiles ? true : undefined));
  await expectExact(again);
  its.server = await again.restart("SIGTERM");
  expect((await status(its.server)).stateLoss, "it is told once").toBeNull();
});

test("neither a kill nor an orderly end is taken for a loss, and an orderly end leaves nothing in the log", async () => {
  const its = await worked();
  const { server: at } = its;
  const killed = await at.restart("SIGKILL");
  its.server = killed;
  expect((await status(killed)).stateLoss).toBeNull();
  expect(await losses(killed)).toBe("0");
  await killed.kill("SIGTERM");
  expect(statSync(join(at.dataDir, "state.db-wal"), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  its.server = await killed.restart();
  expect((await status(its.server)).stateLoss).toBeNull();
  await expectExact(its.server);
});

test("an end at once by a second signal is not taken for a loss", async () => {
  const its = await worked();
  const { server: at, upstream } = its;
  // The upstream does not answer, so the first signal waits for the renders.
  upstream.behaviour = () => "handled";
  const id = await seed(at, "b", { ...world, zoomStart: 5, zoomStop: 5 });
  await until("a tile is being rendered", async () => (upstream.inFlight() === 0 ? undefined : true));
  process.kill(at.pid, "SIGTERM");
  await until("the server accepts nothing more", () =>
    fetch(`${at.url}/livez`).then(
      () => undefined,
      () => true,
    ),
  );
  await at.kill("SIGTERM");
  const again = await at.restart();
  its.server = again;
  expect((await status(again)).stateLoss).toBeNull();
  expect((await job(again, id)).state).toBe("running");
  await expectExact(again);
  await killAll(again);
  upstream.behaviour = () => "render";
  its.server = await again.restart("SIGTERM");
});
