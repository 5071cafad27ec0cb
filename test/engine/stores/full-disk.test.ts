import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { hashPassword } from "../../../src/account/password.ts";
import {
  ended,
  job,
  massTruncate,
  putQuota,
  rendered,
  seed,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { changeState } from "../../support/server/state-database.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../../support/stores/small-disk.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

let server: TestServer | undefined;
let upstream: Upstream | undefined;
let disk: SmallDisk | undefined;
afterEach(async () => {
  await server?.kill("SIGKILL");
  await upstream?.close();
  disk?.close();
  disk = undefined;
});

const mountable = canMount();
const MIB = 2 ** 20;

/** The side of the square of noise in each tile of 64 pixels: about 10 KiB of PNG. */
const NOISE = 58;

async function start(mib: number, files: number, noise: number): Promise<TestServer> {
  disk = mountSmallDisk(mib, files);
  if (disk === undefined) throw new Error("the disk cannot be mounted");
  upstream = await startUpstream();
  upstream.behaviour = renderNoise(noise, 64);
  server = await startServer({
    configuration: smallTiles(upstream.url, [{ name: "a" }, { name: "b" }]),
    dataDir: disk.directory,
  });
  return server;
}

async function read(at: TestServer, layer: string, x: number, y: number): Promise<string | null> {
  const response = await fetch(`${at.url}/xyz/${layer}/8/${x}/${y}.png`);
  expect(response.status).toBe(200);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  return response.headers.get("geowebcache-cache-result");
}

/** One read in each metatile, row by row, until renders are no longer stored. */
async function fillByReads(at: TestServer, layer: string): Promise<void> {
  for (let n = 0; (await usage(at)).enforcement.notStored < 5; n++) {
    expect(n, "the disk is full before").toBeLessThan(4096);
    await read(at, layer, (n % 64) * 4, Math.floor(n / 64) * 4);
  }
  // A metatile that is still being stored would meet a program that takes the remaining space.
  await rendered(at);
}

const free = (at: TestServer): number => statfsSync(at.dataDir).bavail * statfsSync(at.dataDir).bsize;

const stored = async (at: TestServer, layer: string) =>
  (await usage(at)).layers.find((l) => l.layer === layer)?.tiles ?? Number.NaN;

/**
 * Reads tiles of layer b, after another program has taken the space, until the server knows that the disk is full: it
 * reads the free space about once a second, and may store a tile before. After that it stores no tile.
 */
async function expectNothingStored(at: TestServer): Promise<void> {
  const { notStored } = (await usage(at)).enforcement;
  let n = 0;
  await until("the server has seen that the disk is full", async () => {
    await read(at, "b", n++ * 4, 100);
    return (await usage(at)).enforcement.notStored > notStored + 3 ? true : undefined;
  });
  const before = await stored(at, "b");
  for (let i = 0; i < 20; i++) expect(await read(at, "b", i * 4, 200)).toBe("MISS");
  expect(await read(at, "a", 0, 0)).toBe("HIT");
  expect(await stored(at, "b"), "served and not stored").toBe(before);
}

const north = { coords: { double: [-20037508, 1, 20037508, 20037508] } };
test.skipIf(!mountable)(
  "a full disk reaches no client, nothing is half stored, and room that is made is used",
  async () => {
    const at = await start(24, 100_000, NOISE);
    await fillByReads(at, "a");
    const { bavail, blocks } = statfsSync(at.dataDir);
    expect(bavail / blocks, "a share of the disk is left").toBeGreaterThan(0.04);
    await expectExact(at);
    expect(await read(at, "a", 0, 0)).toBe("HIT");

    // Another program takes the remaining space.
    const foreign = join(at.dataDir, "foreign");
    const takeRoom = () => appendFileSync(foreign, Buffer.alloc(free(at) - 8 * 4096));
    takeRoom();
    // It also takes the room of the state's reserve, which is a third of this small disk: tiles would be stored there.
    let n = 0;
    await until("the state has given up its reserve", async () => {
      await read(at, "b", n++ * 4, 40);
      return existsSync(join(at.dataDir, "reserve")) ? undefined : true;
    });
    await rendered(at);
    takeRoom();
    await expectNothingStored(at);
    await expectExact(at);

    rmSync(foreign);
    expect((await massTruncate(at, "a")).status).toBe(200);
    await until("there is room again", async () => ((await read(at, "b", 100, 100)) === "HIT" ? true : undefined));
    await expectExact(at);
  },
);

test.skipIf(!mountable)("a disk without files left is the same", async () => {
  const at = await start(200, 1_500, 20);
  await fillByReads(at, "a");
  const { tiles } = (await usage(at)).total;
  expect(tiles).toBeGreaterThan(750);
  expect(tiles).toBeLessThan(1_500);
  await expectExact(at);

  // Fewer files may be left than a metatile has tiles, and still enough for the tile that a user reads.
  const foreign = join(at.dataDir, "foreign");
  mkdirSync(foreign);
  for (let n = statfsSync(at.dataDir).ffree - 20; n > 0; n--) writeFileSync(join(foreign, String(n)), "");
  await expectNothingStored(at);
  await expectExact(at);

  rmSync(foreign, { recursive: true });
  await massTruncate(at, "a");
  await until("there is room again", async () => ((await read(at, "b", 100, 40)) === "HIT" ? true : undefined));
  await expectExact(at);
});

test.skipIf(!mountable)("a seed waits for room with the reason, and goes on when there is some", async () => {
  const at = await start(24, 100_000, NOISE);
  await fillByReads(at, "a");
  const id = await seed(at, "b", {
    gridSetId: "EPSG:900913",
    zoomStart: 4,
    zoomStop: 4,
    format: "image/png",
    type: "seed",
    threadCount: 2,
    bounds: north,
  });
  await until("it waits", async () =>
    /^waiting for room: the disk/.test((await job(at, id)).reason ?? "") ? true : undefined,
  );
  await massTruncate(at, "a");
  const done = await ended(at, id);
  expect([done.outcome, done.tiles.stored, done.reason]).toEqual(["done", 128, null]);
  await expectExact(at);
});

test.skipIf(!mountable)("an enforced quota makes room on a full disk by evicting what is cold", async () => {
  const at = await start(24, 100_000, NOISE);
  await fillByReads(at, "a");
  await putQuota(at, { enabled: true, globalQuota: { value: 1, units: "TiB" } });
  for (let i = 0; i < 10; i++) {
    await read(at, "b", 4 * i, 4);
    expect(await read(at, "b", 4 * i, 4)).toBe("HIT");
  }
  expect((await usage(at)).enforcement.evictedTiles).toBeGreaterThan(0);
  await expectExact(at);
});

/** Another program takes all the room there is, to the last byte. */
function fill(at: TestServer): string {
  const foreign = join(at.dataDir, "foreign");
  const file = openSync(foreign, "a");
  try {
    // At once: otherwise a write of the server would free its reserve, and the file would take that space too.
    writeSync(file, Buffer.alloc(free(at)));
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    expect(String(error)).toContain("ENOSPC");
  } finally {
    closeSync(file);
  }
  return foreign;
}

const api = (at: TestServer, path: string, body: object) =>
  fetch(`${at.url}${path}`, { method: "POST", body: JSON.stringify(body) });

test.skipIf(!mountable)("on a full disk the space of a truncation is reclaimed without a miss", async () => {
  const at = await start(32, 100_000, NOISE);
  await fillByReads(at, "a");
  fill(at);
  await until("the server is not ready", async () =>
    (await fetch(`${at.url}/readyz`)).status === 503 ? true : undefined,
  );
  expect((await massTruncate(at, "a")).status).toBe(200);
  await until("the server is ready again", async () => ((await fetch(`${at.url}/readyz`)).ok ? true : undefined));
  await until("the space is free", async () => (free(at) > 10 * MIB ? true : undefined));
  const { truncations } = (await (await fetch(`${at.url}/api/v1/truncations`)).json()) as { truncations: unknown[] };
  expect(truncations).toMatchObject([{ state: "reclaimed" }]);
});
const readyz = async (at: TestServer): Promise<string> => {
  const answer = await fetch(`${at.url}/readyz`);
  return `${answer.status} ${await answer.text()}`;
};

test.skipIf(!mountable)(
  "on a disk that others have filled to the last byte, truncations, kills, jobs and quota changes work, and readyz tells",
  async () => {
    const at = await start(24, 100_000, NOISE);
    for (let x = 0; x < 8; x++) await read(at, "a", 4 * x, 0);
    await rendered(at);
    expect(await readyz(at)).toBe("200 ok");
    const foreign = fill(at);
    expect(free(at)).toBe(0);
    // Before the quota is enabled: the seed may then evict the tile.
    expect(await read(at, "a", 0, 0)).toBe("HIT");
    await putQuota(at, { enabled: true, globalQuota: { value: 1, units: "GiB" } });
    const made = await api(at, "/api/v1/jobs", { layer: "b", zoomStart: 6, zoomStop: 6 });
    expect(made.status, await made.text()).toBe(201);
    const reported = await until("it is not ready", async () =>
      (await readyz(at)) === "200 ok" ? undefined : await readyz(at),
    );
    expect(reported).toMatch(/^503 the disk of the data directory is full: /);
    expect((await fetch(`${at.url}/livez`)).status).toBe(200);
    const killed = await fetch(`${at.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
    expect(killed.status).toBe(200);
    // The other program takes the space of the reserve too.
    const more = fill(at);
    expect([more, free(at)]).toEqual([foreign, 0]);
    const truncate = { layer: "a", gridSet: "EPSG:900913", zoomStart: 8, zoomStop: 8, type: "truncate" };
    const truncated = JSON.parse(await (await api(at, "/api/v1/jobs", truncate)).text());
    expect((await ended(at, truncated.id)).outcome).toBe("done");
    const whole = await api(at, "/api/v1/truncations", { layer: "a" });
    expect(whole.status, await whole.text()).toBeLessThan(300);
    await expectExact(at);

    rmSync(foreign);
    await until("it is ready again", async () => ((await readyz(at)) === "200 ok" ? true : undefined));
    expect(await read(at, "a", 0, 0)).toBe("MISS");
    await expectExact(at);
  },
);

test.skipIf(!mountable)(
  "a start on a disk without any room serves what is stored, not what was truncated, and goes on when there is room",
  async () => {
    const before = await start(24, 100_000, NOISE);
    for (const layer of ["a", "b"]) for (let x = 0; x < 4; x++) await read(before, layer, 4 * x, 0);
    await before.kill("SIGKILL");
    // A truncation that the kill left between its record and its renames.
    const plan = JSON.stringify({ names: ["b"], targets: [{ kind: "layer", layer: "b" }] });
    expect(changeState(before.dataDir, `INSERT INTO store_drop (plan) VALUES ('${plan}')`)).toBe(1);
    rmSync(join(before.dataDir, "reserve"));
    const foreign = fill(before);
    server = await before.restart();
    const at = server;
    expect(await readyz(at)).toMatch(/^503 the disk of the data directory is full/);
    expect((await fetch(`${at.url}/livez`)).status).toBe(200);
    expect(await read(at, "a", 0, 0)).toBe("HIT");
    expect(await read(at, "b", 0, 0)).toBe("MISS");
    const refused = await api(at, "/api/v1/truncations", { layer: "a" });
    expect([refused.status, JSON.parse(await refused.text()).code]).toEqual([507, "disk_full"]);
    expect((await fetch(`${at.url}/rest/seed.json`)).status).toBe(507);

    rmSync(foreign);
    await until("it is ready", async () => ((await readyz(at)) === "200 ok" ? true : undefined));
    expect(await stored(at, "b")).toBe(0);
    expect((await api(at, "/api/v1/truncations", { layer: "a" })).status).toBeLessThan(300);
    await expectExact(at);
  },
);

test.skipIf(!mountable)(
  "a start on a disk without any room knows the users that only the database has, and is not open to everybody",
  async () => {
    const before = await start(24, 100_000, 8);
    await before.kill("SIGKILL");
    const hash = await hashPassword("password of ann");
    expect(changeState(before.dataDir, `INSERT INTO user VALUES ('ann', '${hash}', '["admin"]')`)).toBe(1);
    rmSync(join(before.dataDir, "reserve"));
    fill(before);
    server = await before.restart();
    const { url } = server;
    expect(await readyz(server)).toMatch(/^503 the disk of the data directory is full/);
    const statusOf = async (method: string, path: string, headers: Record<string, string> = {}) =>
      (await fetch(`${url}${path}`, { method, headers })).status;
    expect(await statusOf("POST", "/rest/reload")).toBe(401);
    expect(await statusOf("GET", "/api/v1/layers")).toBe(401);
    const session = (await (await fetch(`${url}/api/v1/session`)).json()) as { readonly needsSignIn: boolean };
    expect(session.needsSignIn).toBe(true);
    const authorization = `Basic ${Buffer.from("ann:password of ann").toString("base64")}`;
    expect(await statusOf("GET", "/api/v1/layers", { authorization })).toBe(200);
    expect(await statusOf("GET", "/api/v1/jobs", { authorization })).toBe(507);
  },
);
