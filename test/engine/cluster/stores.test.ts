import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newCluster, nodesOf, type TestCluster } from "../../support/cluster/cluster.ts";
import { hasPostgres } from "../../support/postgres/postgres.ts";
import { NO_S3, NO_VERSITYGW, type S3Server, startS3 } from "../../support/s3/server.ts";
import { send as signal } from "../../support/server/processes.ts";
import { massTruncate, rendered, type TestServer } from "../../support/server/server.ts";
import { isReady, until } from "../../support/until.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

if (!hasPostgres) console.warn("SKIPPED: test/engine/cluster/stores.test.ts needs Debian's package postgresql");

const headers = { "Content-Type": "text/xml" };
const send = (node: TestServer, method: string, path: string, body?: string): Promise<Response> =>
  fetch(`${node.url}/rest/${path}`, { method, headers, ...(body === undefined ? {} : { body }) });

/** Waits until node b leads. */
async function leads(b: TestServer): Promise<void> {
  await until("b leads", async () =>
    (await nodesOf(b).catch(() => [])).some(({ name, lead }) => name === "b" && lead) ? true : undefined,
  );
  await isReady(b);
}

async function read(node: TestServer, path = ""): Promise<string> {
  const response = await fetch(node.url + path);
  await response.arrayBuffer();
  return `${response.status} ${response.headers.get("geowebcache-cache-result") ?? ""}`.trim();
}

const NO_SERVICE = NO_S3 !== undefined && NO_VERSITYGW !== undefined;

describe.skipIf(!hasPostgres)("stores that are made over HTTP on one of two nodes", () => {
  let upstream: Upstream;
  /** Outlives the tests: while a store is away, no layer can be removed with its tiles. */
  let service: S3Server | undefined;
  let cluster: TestCluster;
  let a: TestServer;
  let b: TestServer;

  beforeAll(async () => {
    upstream = await startUpstream();
    if (!NO_SERVICE) service = await startS3(NO_VERSITYGW === undefined ? "versitygw" : "SeaweedFS");
    cluster = newCluster({ upstream: upstream.url, keys: "nodeLeaseSeconds: 5, leadLeaseSeconds: 20" });
    a = await cluster.start("a");
    await isReady(a);
    b = await cluster.start("b");
    await isReady(b);
  });
  afterAll(async () => {
    await cluster?.close();
    await upstream?.close();
    await service?.[Symbol.asyncDispose]();
  });

  const layerIn = (store: string, name: string): string =>
    `<wmsLayer><name>${name}</name><blobStoreId>${store}</blobStoreId><gridSubsets><gridSubset><gridSetName>EPSG:900913</gridSetName></gridSubset></gridSubsets><wmsUrl><string>${upstream.url}</string></wmsUrl><wmsLayers>roads</wmsLayers></wmsLayer>`;

  test("each node says at its start that management is open without users", () => {
    for (const node of [a, b]) expect(node.log()).toContain("management is open to all programs of this machine");
  });

  test("a store that was made on one is used by the other, until it is removed", async () => {
    const directory = join(cluster.tiles, "../made");
    const store = (path: string): string =>
      `<FileBlobStore><id>made</id><enabled>true</enabled><baseDirectory>${path}</baseDirectory></FileBlobStore>`;
    expect((await send(b, "PUT", "blobstores/made", store(directory))).status).toBe(201);
    expect(await (await fetch(`${a.url}/rest/blobstores.json`)).json()).toContain("made");
    expect((await send(a, "PUT", "layers/stored", layerIn("made", "stored"))).status).toBe(200);
    const tiles = Array.from({ length: 8 }, (_, x) => `/xyz/stored/6/${x * 8}/1.png`);
    // Each node renders some of them.
    for (const [n, path] of tiles.entries()) expect(await read(n % 2 === 0 ? a : b, path)).toBe("200 MISS");
    for (const [n, path] of tiles.entries()) expect(await read(n % 2 === 0 ? b : a, path)).toBe("200 HIT");
    expect(readdirSync(directory)).toContain("stored");
    expect(existsSync(join(cluster.tiles, "stored"))).toBe(false);
    const refused = await send(b, "PUT", "blobstores/made", store("/proc/not-possible"));
    expect(refused.status).toBe(400);
    // The other directory is empty: a change of the place is in force on both.
    expect((await send(a, "PUT", "blobstores/made", store(`${directory}-2`))).status).toBe(200);
    for (const node of [b, a]) expect(await read(node, tiles[0])).toBe(node === b ? "200 MISS" : "200 HIT");
    expect((await send(b, "DELETE", "layers/stored")).status).toBe(200);
    expect((await send(b, "DELETE", "blobstores/made")).status).toBe(200);
    expect(await (await fetch(`${a.url}/rest/blobstores.json`)).json()).not.toContain("made");
  });

  test.skipIf(NO_SERVICE)(
    `in a bucket have their truncations on both, and a node that joins later has them too ${NO_VERSITYGW ?? ""}`,
    async () => {
      const account = "<awsAccessKey>nuthatch</awsAccessKey><awsSecretKey>nuthatch-secret</awsSecretKey>";
      const bucket = `<S3BlobStore><id>remote</id><enabled>true</enabled><bucket>tiles</bucket><prefix>made</prefix>${account}<endpoint>${service?.endpoint}</endpoint></S3BlobStore>`;
      const made = await send(b, "PUT", "blobstores/remote", bucket);
      expect([made.status, await made.text()]).toEqual([201, ""]);
      expect((await send(a, "PUT", "layers/far", layerIn("remote", "far"))).status).toBe(200);
      const tile = "/xyz/far/6/9/9.png";
      expect([await read(a, tile), await read(b, tile)]).toEqual(["200 MISS", "200 HIT"]);
      await rendered(a);
      for (const by of [a, b]) {
        expect((await massTruncate(by, "far")).status).toBe(200);
        expect([await read(b, tile), await read(a, tile)]).toEqual(["200 MISS", "200 HIT"]);
        await rendered(a);
      }
      await b.kill("SIGTERM");
      b = await cluster.start("b");
      await isReady(b);
      expect(await read(b, tile)).toBe("200 HIT");
      // The next lead has the store from the database.
      await a.kill("SIGTERM");
      await leads(b);
      a = await cluster.start("a");
      await isReady(a);
      expect((await massTruncate(a, "far")).status).toBe(200);
      expect([await read(a, tile), await read(b, tile)]).toEqual(["200 MISS", "200 HIT"]);
    },
  );
});

const fileStore = (id: string, path: string): string =>
  `<FileBlobStore><id>${id}</id><enabled>true</enabled><baseDirectory>${path}</baseDirectory></FileBlobStore>`;
const marksIn = (directory: string): readonly string[] =>
  existsSync(directory) ? readdirSync(directory).filter((name) => /^\.nuthatch-[0-9a-f-]{36}$/.test(name)) : [];

test.skipIf(!hasPostgres)(
  "a node that cannot use a store says so at /readyz, and the other nodes stay ready",
  async () => {
    const upstream = await startUpstream();
    // The path is another link to the same directory in each working directory.
    const cluster = newCluster({
      upstream: upstream.url,
      stores: '[{ id: main, type: file, path: "/proc/self/cwd/volume/tiles" }]',
      keys: "nodeLeaseSeconds: 5, leadLeaseSeconds: 20",
    });
    try {
      const shared = join(cluster.tiles, "../shared");
      mkdirSync(shared);
      const start = async (name: string): Promise<TestServer> => {
        const directory = join(cluster.tiles, "..", name);
        mkdirSync(directory);
        symlinkSync(shared, join(directory, "volume"));
        const node = await cluster.start(name, undefined, undefined, undefined, undefined, ["env", "-C", directory]);
        await isReady(node);
        return node;
      };
      const a = await start("a");
      const b = await start("b");
      rmSync(join(cluster.tiles, "../b/volume"));
      await until("b names the store", async () => {
        const answer = await fetch(`${b.url}/readyz`);
        return (answer.status === 503 && (await answer.text()).includes('the store "main"')) || undefined;
      });
      expect((await fetch(`${a.url}/readyz`)).status).toBe(200);
      symlinkSync(shared, join(cluster.tiles, "../b/volume"));
      await isReady(b);
    } finally {
      await cluster.close();
      await upstream.close();
    }
  },
);

describe.skipIf(!hasPostgres)("the check of a new store", () => {
  let upstream: Upstream;
  let cluster: TestCluster;

  beforeAll(async () => {
    upstream = await startUpstream();
  });
  afterAll(() => upstream?.close());

  /** Starts a node in a working directory. */
  const startIn = (directory: string, name: string): Promise<TestServer> =>
    cluster.start(name, undefined, undefined, undefined, undefined, ["env", "-C", directory]);

  /** Starts nodes a and b, of which a leads, and stops b: it does not answer the check. */
  async function withStoppedB(
    nodeLeaseSeconds: number,
  ): Promise<readonly [a: TestServer, b: TestServer, directory: string]> {
    cluster = newCluster({
      upstream: upstream.url,
      keys: `nodeLeaseSeconds: ${nodeLeaseSeconds}, leadLeaseSeconds: 60`,
    });
    const directory = join(cluster.tiles, "../shared");
    mkdirSync(directory);
    const a = await startIn(directory, "a");
    await isReady(a);
    const b = await startIn(directory, "b");
    await isReady(b);
    signal(b.pid, "SIGSTOP");
    return [a, b, directory];
  }

  test("leaves no mark in a directory when the lead is killed meanwhile", async () => {
    const [a, b, shared] = await withStoppedB(5);
    try {
      const directory = join(shared, "made");
      const answered = send(a, "PUT", "blobstores/made", fileStore("made", directory)).catch(() => undefined);
      await until("the directory is marked", async () => marksIn(directory).length > 0 || undefined);
      await a.kill("SIGKILL");
      await answered;
      signal(b.pid, "SIGCONT");
      await leads(b);
      expect(marksIn(directory)).toHaveLength(1);
      expect((await send(b, "PUT", "blobstores/made", fileStore("made", directory))).status).toBe(201);
      expect(marksIn(directory)).toEqual([]);
      // As if a lead had been killed during a change of a store that is in use.
      for (const at of [directory, cluster.tiles]) writeFileSync(join(at, `.nuthatch-${randomUUID()}`), "");
      await b.kill("SIGKILL");
      await isReady(await cluster.start("a"));
      expect([marksIn(directory), marksIn(cluster.tiles)]).toEqual([[], []]);
    } finally {
      await cluster.close();
    }
  });

  test("is made by a node that joins meanwhile too: one that has another directory does not serve", async () => {
    const [a, b, shared] = await withStoppedB(30);
    try {
      // The path is another directory in each working directory.
      const made = send(a, "PUT", "blobstores/made", fileStore("made", "/proc/self/cwd/made"));
      await until("the directory is marked", async () => marksIn(join(shared, "made")).length > 0 || undefined);
      const elsewhere = join(cluster.tiles, "../elsewhere");
      mkdirSync(join(elsewhere, "made"), { recursive: true });
      const c = await startIn(elsewhere, "c");
      await isReady(c);
      signal(b.pid, "SIGCONT");
      expect((await made).status).toBe(201);
      await until("c is asked and does not join again", async () => {
        const answer = await fetch(`${c.url}/readyz`);
        return (await answer.text()).includes("is not the directory that the other nodes see") || undefined;
      });
      await isReady(await startIn(shared, "d"));
      const serving = (await nodesOf(a)).filter(({ state }) => state !== "lost");
      expect(serving.map(({ name }) => name)).toEqual(["a", "b", "d"]);
      // The node tries to join repeatedly, and the lead checks it each time.
      await c.kill("SIGKILL");
      await until("no mark is left", async () => marksIn(join(shared, "made")).length === 0 || undefined);
    } finally {
      await cluster.close();
    }
  });
});
