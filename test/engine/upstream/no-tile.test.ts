import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, massTruncate, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { picture } from "../../support/upstream/upstream.ts";

/** A vector tile with one empty layer. */
const VECTOR = Buffer.from([0x1a, 0x05, 0x78, 0x02, 0x0a, 0x01, 0x61]);
const OUT_OF_RANGE =
  '<ExceptionReport xmlns="http://www.opengis.net/ows/1.1"><Exception exceptionCode="TileOutOfRange"/></ExceptionReport>';

/** The answer of the upstream at a place without a tile, by the first part of the path. */
const NOTHING: Readonly<Record<string, RequestListener>> = {
  no204: (_, response) => void response.writeHead(204).end(),
  no404: (_, response) => void response.writeHead(404).end("not found"),
  no403: (_, response) => void response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>"),
  empty: (_, response) => void response.end(),
  gzip: (_, response) => void response.end(gzipSync("")),
  wmts: (_, response) => void response.writeHead(400, { "Content-Type": "text/xml" }).end(OUT_OF_RANGE),
};

/** Each has tiles where the column is even, x in the path, and nothing elsewhere. */
const LAYERS: readonly (readonly [name: string, format: "pbf" | "png", says: string, more?: string])[] = [
  ["vector204", "pbf", "no204"],
  ["vector404", "pbf", "no404"],
  ["vectorEmpty", "pbf", "empty"],
  ["vectorGzip", "pbf", "gzip"],
  ["picture204", "png", "no204"],
  ["picture404", "png", "no404"],
  ["bucket", "png", "no403", ", missing: [403]"],
  ["failing", "png", "no404", ", missing: []"],
  ["expiring", "png", "no404"],
  ["kept", "png", "no204"],
];

let requested: string[] = [];
const upstream = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://any");
  requested.push(request.url ?? "");
  const [, says = "", name = "", x = searchParams.get("TILECOL") ?? "1"] = pathname.split("/");
  if (Number(x) % 2 === 1) NOTHING[says]?.(request, response);
  else response.end(name.startsWith("vector") ? VECTOR : picture(256, 256));
});

let server: TestServer;

const layerText = (url: string): string =>
  [
    ...LAYERS.map(
      ([name, format, says, more = ""]) =>
        `  - { name: ${name}, source: { type: xyz, url: "${url}/${says}/${name}/{x}/{y}/{z}"${more} }, formats: [${
          format === "pbf" ? "application/vnd.mapbox-vector-tile" : "image/png"
        }]${name === "expiring" ? ", expireCacheSeconds: 1" : ""} }`,
    ),
    `  - { name: outside, source: { type: wmts, url: "${url}/wmts/outside", tileMatrixSet: g }, formats: [image/png] }`,
    `  - { name: map, metatile: [2, 2], source: { type: wms, url: "${url}/no204/map" }, formats: [image/png] }`,
  ].join("\n");

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port } = upstream.address() as AddressInfo;
  server = await startServer({ configuration: `layers:\n${layerText(`http://127.0.0.1:${port}`)}\n` });
});
afterAll(async () => {
  await server.close();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

/** Returns the status of a tile of level 1, and the number of requests for it to the upstream. */
async function read(name: string, format: string, x = 1): Promise<readonly [number, number]> {
  requested = [];
  const response = await fetch(`${server.url}/xyz/${name}/1/${x}/0.${format}`);
  await response.arrayBuffer();
  return [response.status, requested.length];
}

/** Returns the state and the reason of a tile of level 1. */
async function explained(name: string, format: string, x: number): Promise<string> {
  const response = await fetch(`${server.url}/xyz/${name}/1/${x}/0.${format}?explain`);
  const { state, reason } = JSON.parse(await response.text());
  return `${state} ${reason}`;
}

const RANGE = { gridSetId: "EPSG:900913", zoomStart: 2, zoomStop: 2 };

test.each(
  LAYERS.filter(([name]) => !["failing", "expiring", "kept"].includes(name)).map(([name, format]) => ({
    name,
    format,
  })),
)(
  "$name: clients learn that there is no tile, a seed skips it, and the upstream is asked once",
  async ({ name, format }) => {
    const missing = format === "pbf" ? 204 : 404;
    expect(await read(name, format)).toEqual([missing, 1]);
    expect(await read(name, format)).toEqual([missing, 0]);
    expect(await read(name, format, 0)).toEqual([200, 1]);
    expect([await explained(name, format, 1), await explained(name, format, 0)]).toEqual(["kept no_tile", "kept null"]);
    requested = [];
    const mimeType = format === "pbf" ? "application/vnd.mapbox-vector-tile" : "image/png";
    const request = { ...RANGE, format: mimeType, type: "seed" };
    const job = await ended(server, await seed(server, name, request));
    expect(job).toMatchObject({ outcome: "done", retries: 0, tiles: { stored: 8, skipped: 8, failed: 0 } });
    expect(requested).toHaveLength(16);
    await ended(server, await seed(server, name, request));
    expect(requested).toHaveLength(16);
    await ended(server, await seed(server, name, { ...request, type: "reseed" }));
    expect(requested).toHaveLength(32);
    await massTruncate(server, name);
    expect(await read(name, format)).toEqual([missing, 1]);
  },
);

test("the answer of a protocol says in its own form that there is no tile", async () => {
  const kvp = new URLSearchParams({
    SERVICE: "WMTS",
    REQUEST: "GetTile",
    LAYER: "outside",
    TILEMATRIXSET: "EPSG:900913",
    TILEMATRIX: "EPSG:900913:1",
    TILEROW: "0",
    TILECOL: "1",
    FORMAT: "image/png",
  });
  for (const asked of [1, 0]) {
    requested = [];
    const response = await fetch(`${server.url}/service/wmts?${kvp}`);
    expect([response.status, requested.length]).toEqual([404, asked]);
    expect(await response.text()).toMatch(/ExceptionReport[\s\S]*There is no tile here/);
  }
  expect(await read("outside", "png")).toEqual([404, 0]);
});

test("where a metatile has no tiles, its upstream is asked once for all of them", async () => {
  expect(await read("map", "png", 1)).toEqual([404, 1]);
  expect(await read("map", "png", 0)).toEqual([404, 0]);
});

test("a tile that is missing is known as long as a tile is fresh, and over a restart", async () => {
  expect(await read("kept", "png")).toEqual([404, 1]);
  server = await server.restart();
  expect(await read("kept", "png")).toEqual([404, 0]);
  expect(await read("expiring", "png")).toEqual([404, 1]);
  await expect.poll(() => read("expiring", "png"), { timeout: 20_000 }).toEqual([404, 1]);
});

test("with missing: [] every such answer is a failure", async () => {
  expect(await read("failing", "png")).toEqual([502, 1]);
  const job = await ended(server, await seed(server, "failing", { ...RANGE, format: "image/png", type: "seed" }));
  expect(job).toMatchObject({ tiles: { stored: 8, skipped: 0, failed: 8 } });
});
