import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

const TOP = 4;
const TILES = (4 ** (TOP + 1) - 1) / 3;
const world = {
  gridSetId: "EPSG:900913",
  zoomStart: 0,
  zoomStop: TOP,
  format: "image/png",
  type: "seed",
  threadCount: 1,
};
const east = { coords: { double: [0, -20037508, 20037508, 20037508] } };

const levelOf = (z: number): string => `EPSG_900913_${String(z).padStart(2, "0")}`;
const tilesOf = (at: TestServer, layer: string): string => join(at.dataDir, "tiles", layer);

/** A layer `full` that holds everything, `known` that holds a part and is counted, `none` that holds nothing. */
async function start(): Promise<TestServer> {
  running.upstream = await startUpstream();
  const at = await startServer({
    configuration: smallTiles(running.upstream.url, [{ name: "full" }, { name: "known" }, { name: "none" }]),
  });
  running.server = at;
  await ended(at, await seed(at, "full", world));
  await ended(at, await seed(at, "known", { ...world, zoomStop: TOP - 1, bounds: east }));
  await expectExact(at);
  return at;
}

/** Stops the server, does something to its tiles, starts it, and waits until it has looked. */
async function meanwhile(at: TestServer, signal: NodeJS.Signals, change: () => void): Promise<TestServer> {
  await at.kill(signal);
  change();
  const again = await at.restart();
  running.server = again;
  return again;
}

const looked = (at: TestServer) =>
  until("the store has been looked through", async () =>
    (await usage(at)).adoption.pyramidsLeft === 0 ? true : undefined,
  );

/** A seed sends no request to the upstream. */
async function seedFindsAll(at: TestServer, layer: string): Promise<void> {
  const requested = running.upstream?.asked.length;
  const done = await ended(at, await seed(at, layer, world));
  expect(done.tiles).toMatchObject({ total: TILES, stored: 0, skipped: TILES });
  expect(running.upstream?.asked.length).toBe(requested);
}

test.each(["SIGTERM", "SIGKILL"] as const)(
  "tiles that are copied into a layer after a %s, a counted one too, are adopted, and a seed asks for none of them",
  async (signal) => {
    const at = await start();
    const again = await meanwhile(at, signal, () => {
      cpSync(tilesOf(at, "full"), tilesOf(at, "known"), { recursive: true });
      cpSync(tilesOf(at, "full"), tilesOf(at, "none"), { recursive: true });
    });
    // At once: the seed does not wait until the store has been looked through.
    await seedFindsAll(again, "known");
    await looked(again);
    await expectExact(again);
    await seedFindsAll(again, "none");
    await expectExact(again);
  },
);

test("one level that is copied, and single files in directories that were there, are adopted", async () => {
  const at = await start();
  const again = await meanwhile(at, "SIGTERM", () => {
    cpSync(join(tilesOf(at, "full"), levelOf(TOP)), join(tilesOf(at, "known"), levelOf(TOP)), { recursive: true });
    const [from, to] = ["full", "known"].map((layer) => join(tilesOf(at, layer), levelOf(2)));
    if (from === undefined || to === undefined) throw new Error("no directories");
    for (const bucket of readdirSync(from)) {
      mkdirSync(join(to, bucket), { recursive: true });
      for (const file of readdirSync(join(from, bucket))) cpSync(join(from, bucket, file), join(to, bucket, file));
    }
  });
  await looked(again);
  await expectExact(again);
  const sent = running.upstream?.asked.length;
  for (const z of [2, TOP]) {
    const done = await ended(again, await seed(again, "known", { ...world, zoomStart: z, zoomStop: z }));
    expect(done.tiles).toMatchObject({ stored: 0, skipped: 4 ** z });
  }
  expect(running.upstream?.asked.length).toBe(sent);
});

test("removed tiles leave the ledger: a layer, a level, a bucket, single tiles", async () => {
  const at = await start();
  const again = await meanwhile(at, "SIGKILL", () => {
    rmSync(tilesOf(at, "known"), { recursive: true });
    const full = tilesOf(at, "full");
    rmSync(join(full, levelOf(2)), { recursive: true });
    for (const z of [TOP - 1, TOP]) {
      const [bucket = "", other = ""] = readdirSync(join(full, levelOf(z)));
      rmSync(join(full, levelOf(z), bucket), { recursive: true });
      const [file = ""] = readdirSync(join(full, levelOf(z), other));
      rmSync(join(full, levelOf(z), other, file));
    }
  });
  await looked(again);
  await expectExact(again);
  const done = await ended(again, await seed(again, "full", world));
  expect(done.tiles.stored).toBeGreaterThan(64);
  await expectExact(again);
});

test("a start after which nothing has changed changes nothing, after a kill in a seed too", async () => {
  const at = await start();
  const again = await meanwhile(at, "SIGTERM", () => undefined);
  await looked(again);
  await seedFindsAll(again, "full");
  if (running.upstream !== undefined) running.upstream.behaviour = renderAfter(20);
  const id = await seed(again, "none", world);
  await until("it stores", async () => {
    const now = (await usage(again)).layers.find(({ layer }) => layer === "none");
    return (now?.tiles ?? 0) > 100 ? true : undefined;
  });
  const last = await meanwhile(again, "SIGKILL", () => undefined);
  await looked(last);
  expect((await ended(last, id)).outcome).toBe("done");
  await expectExact(last);
});
