import { expect, onTestFinished, test } from "vitest";
import type { Documents } from "../../../src/http/api/documents/documents.ts";
import { severalNodes, skippedOnNodes } from "../../support/cluster/balanced.ts";
import { inPostgres } from "../../support/postgres/test-database.ts";
import { prefixOf, S3_OF_ALL } from "../../support/s3/env.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

// `docs/reference/monitoring.md`, Requests of users, against the real server.

async function start(workers: number) {
  const upstream = await startUpstream();
  const server = await startServer({
    configuration: smallTiles(
      upstream.url,
      [
        { name: "a", extra: "metatile: [1, 1]\n    fullWms: true" },
        { name: "b", extra: "metatile: [1, 1]" },
      ],
      `server: { workers: ${workers} }\n`,
    ),
  });
  onTestFinished(async () => {
    await server.close();
    await upstream.close();
  });
  return { server, upstream };
}
const stats = async (server: TestServer, query: string): Promise<Documents["Stats"]> =>
  JSON.parse(await (await fetch(`${server.url}/api/v1/stats${query}`)).text());
const tile = async (server: TestServer, path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${server.url}/xyz/${path}`, { headers });
  return { response, bytes: (await response.arrayBuffer()).byteLength };
};

const PROCESSES = skippedOnNodes("nodes have no HTTP workers: their tests are of two processes already") ? [1] : [1, 2];
test.each(PROCESSES)("%i processes count hits, misses, failures, bytes and times by layer", async (workers) => {
  const { server, upstream } = await start(workers);
  expect(await stats(server, "?by=layer")).toMatchObject({
    window: "PT1H",
    total: { requests: 0, hitRatio: null, bytes: 0, latency: { p50: null, p95: null, p99: null } },
    layers: [],
  });
  upstream.behaviour = renderAfter(60);
  const { response, bytes } = await tile(server, "a/0/0/0.png");
  for (let n = 0; n < 3; n++) await tile(server, "a/0/0/0.png");
  const etag = response.headers.get("etag") ?? "";
  const unchanged = await tile(server, "a/0/0/0.png", { "If-None-Match": etag });
  expect(unchanged.response.status).toBe(304);
  upstream.behaviour = (_, answer) => {
    answer.writeHead(404).end("no");
    return "handled";
  };
  expect((await tile(server, "b/1/0/0.png")).response.status).toBe(502);
  const { total, layers, series, since } = await stats(server, "?by=layer&window=PT5M");
  expect(total).toMatchObject({ requests: 6, hits: 4, misses: 1, failed: 1, hitRatio: 4 / 6, bytes: 4 * bytes });
  expect(layers).toMatchObject([
    { layer: "a", requests: 5, hits: 4, misses: 1, failed: 0, hitRatio: 0.8, bytes: 4 * bytes },
    { layer: "b", requests: 1, hits: 0, misses: 0, failed: 1, hitRatio: 0, bytes: 0 },
  ]);
  const { p50, p99 } = total.latency;
  expect(p50).toBeLessThan(60);
  expect(p99).toBeGreaterThan(40);
  expect(series.reduce((sum, { requests }) => sum + requests, 0)).toBe(6);
  expect(Date.parse(since)).toBeGreaterThan(Date.now() - 300_000);
  const ofB = await stats(server, "?layer=b&window=PT24H");
  expect(ofB.total.requests).toBe(1);
  expect(ofB).not.toHaveProperty("layers");
  expect((await stats(server, "?by=layer&limit=1")).layers).toMatchObject([{ layer: "a" }]);

  upstream.behaviour = renderAfter(0);
  const asked = Date.now();
  const map =
    "/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=a&STYLES=&SRS=EPSG:900913&BBOX=0,0,5000000,5000000&WIDTH=100&HEIGHT=100&FORMAT=image/png";
  expect((await fetch(`${server.url}${map}`)).status).toBe(200);
  const about: Documents["Server"] = JSON.parse(await (await fetch(`${server.url}/api/v1/server`)).text());
  expect(about.requests).toEqual({
    ...{ requests: 6, hits: 4, misses: 1, failed: 1, notCached: 0, hitRatio: 4 / 6, bytes: 4 * bytes },
    maps: 1,
  });
  expect(Date.parse(about.startedAt)).toBeLessThanOrEqual(asked);
  expect(about).toMatchObject({ workers, recent: [{ seconds: 3 }, { seconds: 15 }, { seconds: 60 }] });
  expect(about.memoryTier.limitBytes).toBeGreaterThan(0);
  expect(about.memoryTier.tiles).toBeGreaterThanOrEqual(1);
  expect(about.places.map(({ kind, path }) => [kind, path])).toEqual([
    ["configuration", expect.stringMatching(/\.yaml$/)],
    [
      "state",
      inPostgres || severalNodes ? expect.stringMatching(/^postgres:\/\/[^@]+$/) : `${server.dataDir}/state.db`,
    ],
    ["tiles", S3_OF_ALL === undefined ? `${server.dataDir}/tiles` : `s3://tiles/${prefixOf(server.dataDir)}`],
  ]);
  for (const { kind, path, bytes: size, freeBytes, totalBytes } of about.places.slice(1)) {
    if (path.includes("://")) {
      expect([size, freeBytes, totalBytes]).toEqual([null, null, null]);
      continue;
    }
    expect(Number(totalBytes)).toBeGreaterThan(Number(freeBytes));
    expect(Number(size) > 0).toBe(kind === "state");
  }
});

test("what stats cannot answer is refused with what would do", async () => {
  const { server } = await start(1);
  for (const [query, status, words] of [
    ["?window=PT2H", 400, 'window: expected one of PT5M, PT1H, PT24H, got "PT2H"'],
    ["?by=user", 400, 'by: expected layer, got "user"'],
    ["?layer=c", 404, "Unknown layer: c"],
    ["?windows=PT1H", 400, "windows: unknown field of the query, expected one of window, by, layer, limit"],
  ] as const) {
    const answer = await fetch(`${server.url}/api/v1/stats${query}`);
    const problem = (await answer.json()) as { readonly detail: string };
    expect([answer.status, problem.detail]).toEqual([status, expect.stringContaining(words)]);
  }
});
