import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newCluster, nodesOf, type TestCluster } from "../support/cluster.ts";
import { hasPostgres } from "../support/postgres.ts";
import { NO_VERSITYGW, type S3Server, startS3 } from "../support/s3-server.ts";
import { massTruncate, rendered, type TestServer } from "../support/server.ts";
import { isReady, until } from "../support/until.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";

if (!hasPostgres) console.warn("SKIPPED: test/engine/cluster-stores.test.ts needs Debian's package postgresql");

const headers = { "Content-Type": "text/xml" };
const send = (node: TestServer, method: string, path: string, body?: string): Promise<Response> =>
  fetch(`${node.url}/rest/${path}`, { method, headers, ...(body === undefined ? {} : { body }) });

async function read(node: TestServer, path = ""): Promise<string> {
  const response = await fetch(node.url + path);
  await response.arrayBuffer();
  return `${response.status} ${response.headers.get("geowebcache-cache-result") ?? ""}`.trim();
}

describe.skipIf(!hasPostgres)("stores that are made over HTTP on one of two nodes", () => {
  let upstream: Upstream;
  /** Outlives the tests: while a store is away, no layer can be removed with its tiles. */
  let service: S3Server | undefined;
  let cluster: TestCluster;
  let a: TestServer;
  let b: TestServer;

  beforeAll(async () => {
    upstream = await startUpstream();
    if (NO_VERSITYGW === undefined) service = await startS3("versitygw");
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

  test.skipIf(NO_VERSITYGW !== undefined)(
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
      await until("b leads", async () =>
        (await nodesOf(b).catch(() => [])).some(({ name, lead }) => name === "b" && lead) ? true : undefined,
      );
      await isReady(b);
      a = await cluster.start("a");
      await isReady(a);
      expect((await massTruncate(a, "far")).status).toBe(200);
      expect([await read(a, tile), await read(b, tile)]).toEqual(["200 MISS", "200 HIT"]);
    },
  );
});
