import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Documents } from "../../../src/http/api/documents/documents.ts";
import { skippedOnNodes } from "../../support/cluster/balanced.ts";
import { startServer, type TestServer, type usage } from "../../support/server/server.ts";
import { startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

// `docs/reference/layers.md`, Test of a layer, against the real server and an upstream that injects failures.
let server: TestServer;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
  const url = JSON.stringify(`${upstream.url}/a-long-segment-that-is-a-key?api_key=s3cret&map=x`);
  server = await startServer({
    configuration: `
users:
  - { name: op, password: op, roles: [operator] }
  - { name: view, password: view, roles: [viewer] }
layers:
  - name: roads
    source: { type: wms, url: ${url}, layers: [roads], vendorParameters: { TOKEN: abc }, username: u, password: p }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStart: 1, zoomStop: 3 }, { gridSet: EPSG:4326 }]
    formats: [image/png, image/jpeg]
    gutter: 8
    parameterFilters: [{ type: string, key: STYLES, default: "", values: [b] }]
  - { name: demo, source: { type: demo, dataset: states } }
  - { name: subdomains, source: { type: xyz, url: "http://127.0.0.{s}:1/{z}/{x}/{y}.png?key=abc", subdomains: ["1"] } }
  - { name: away, source: { type: wms, url: "http://127.0.0.1:1/wms", layers: [roads] } }
`,
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

beforeEach(() => {
  upstream.behaviour = () => "render";
});

const post = async (layer: string, body: unknown, credentials = "op:op") => {
  const response = await fetch(`${server.url}/api/v1/layers/${layer}/test`, {
    method: "POST",
    headers: { Authorization: `Basic ${Buffer.from(credentials).toString("base64")}` },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
};
const tested = async (layer: string, body: unknown): Promise<Documents["LayerTest"]> => {
  const { status, text } = await post(layer, body);
  expect(status, text).toBe(200);
  return JSON.parse(text);
};

test("a test shows the picture, the request without secrets and the answer, and stores nothing", async () => {
  const result = await tested("roads", { z: 2, x: 1, y: 2, parameters: { styles: "b" }, format: "image/jpeg" });
  expect(result).toMatchObject({
    layer: "roads",
    gridSet: "EPSG:900913",
    format: "image/jpeg",
    parameters: { STYLES: "b" },
    tile: { z: 2, x: 1, y: 2 },
    status: 200,
    // This upstream answers every request with PNG.
    contentType: "image/png",
    problem: null,
  });
  expect(result.picture).toMatch(/^data:image\/jpeg;base64,\/9j\//);
  expect(result.bytes).toBeGreaterThan(100);
  expect(result.request).toMatch(/^\/wms\/…\?/);
  expect(result.request).toContain("REQUEST=GetMap");
  // The gutter is rendered on all sides of a tile inside the coverage, as for a metatile.
  expect(result.request).toContain("WIDTH=272&HEIGHT=272");
  expect(result.request).toContain("api_key=…&map=…");
  expect(result.request).toContain("TOKEN=…");
  expect(JSON.stringify(result)).not.toMatch(/s3cret|abc|127\.0\.0\.1|long-segment/);
  expect((await usageOf()).tiles).toBe(0);
});

const usageOf = async () => {
  const response = await fetch(`${server.url}/api/v1/usage`, {
    headers: { Authorization: `Basic ${Buffer.from("view:view").toString("base64")}` },
  });
  return ((await response.json()) as Awaited<ReturnType<typeof usage>>).total;
};

test("without a body the default grid set, format, parameters and an example tile are tested", async () => {
  expect(await tested("roads", "")).toMatchObject({
    gridSet: "EPSG:900913",
    format: "image/png",
    parameters: {},
    tile: { z: 2, x: 1, y: 2 },
  });
  expect(await tested("roads", { gridSet: "EPSG:4326", z: 0, x: null })).toMatchObject({ tile: { z: 0, x: 0, y: 0 } });
});

test("a source without requests has no answer but a picture", async () => {
  const result = await tested("demo", {});
  expect(result).toMatchObject({ request: null, status: null, contentType: null, bytes: null, problem: null });
  expect(result.picture).toMatch(/^data:image\/png;base64,iVBOR/);
  expect(result.tileBytes).toBeGreaterThan(1000);
});

test("what the upstream answers instead of a picture is the problem, with its status", async () => {
  upstream.behaviour = (_, answer) => {
    answer
      .writeHead(200, { "Content-Type": "application/vnd.ogc.se_xml" })
      .end("<ServiceExceptionReport><ServiceException>no such layer</ServiceException></ServiceExceptionReport>");
    return "handled";
  };
  expect(await tested("roads", {})).toMatchObject({
    status: 200,
    contentType: "application/vnd.ogc.se_xml",
    picture: null,
    problem: { class: "exception", message: expect.stringContaining("no such layer") },
  });
  upstream.behaviour = (_, answer) => {
    answer.writeHead(503).end("later");
    return "handled";
  };
  expect(await tested("roads", {})).toMatchObject({ status: 503, bytes: 5, problem: { class: "server_error" } });
  const { tile: at, request } = await tested("subdomains", { z: 3, x: 2, y: 1 });
  expect([at, request]).toEqual([{ z: 3, x: 2, y: 1 }, "/3/2/6.png?key=…"]);
  const away = await tested("away", {});
  expect(away).toMatchObject({ status: null, picture: null, problem: { class: "refused", message: "no connection" } });
  expect(away.request).toContain("/wms?");
  expect(JSON.stringify(away)).not.toContain("127.0.0.1");
});

test.skipIf(skippedOnNodes("each node has a limit of its own"))(
  "tests are limited in number, and one whose client leaves ends",
  async () => {
    let held = 0;
    upstream.behaviour = () => {
      held++;
      return "handled";
    };
    const leave = new AbortController();
    const waiting = [1, 2].map(() =>
      fetch(`${server.url}/api/v1/layers/roads/test`, {
        method: "POST",
        headers: { Authorization: `Basic ${Buffer.from("op:op").toString("base64")}` },
        signal: leave.signal,
      }).catch(() => "gone"),
    );
    await expect.poll(() => held).toBe(2);
    expect(await post("demo", {})).toMatchObject({ status: 503, text: expect.stringContaining("2 tests of layers") });
    leave.abort();
    expect(await Promise.all(waiting)).toEqual(["gone", "gone"]);
    await expect.poll(async () => (await post("demo", {})).status).toBe(200);
  },
);

test.each([
  ["nowhere", {}, 404, "Unknown layer: nowhere"],
  ["roads", { gridSet: "EPSG:2163" }, 400, "gridSet: expected a grid set of the layer: EPSG:900913, EPSG:4326"],
  ["roads", { format: "image/gif" }, 400, "format: expected"],
  ["roads", { parameters: { STYLES: "c" } }, 400, "STYLES: expected"],
  ["roads", { parameters: { TIME: "1" } }, 400, "TIME"],
  ["roads", { z: 0 }, 400, "z: expected a level of the layer from 1 to 3, got 0"],
  ["roads", { z: 2, x: 1 }, 400, "y: expected x and y, or none of them"],
  ["roads", { x: 1, y: 1 }, 400, "z: expected the level of x and y"],
  ["roads", { z: 2, x: 4, y: 1 }, 400, "x: expected a column of the layer on level 2 from 0 to 3, got 4"],
  ["roads", { z: 2.5 }, 400, "z: expected a whole number, got 2.5"],
  ["roads", { Z: 2 }, 400, "Z: unknown field, expected z, got 2"],
  ["roads", "{", 400, "body: expected a JSON object"],
] as const)("%s with %j is %i", async (layer, body, status, words) => {
  const answer = await post(layer, body);
  expect([answer.status, JSON.parse(answer.text).detail]).toEqual([status, expect.stringContaining(words)]);
});

test("a viewer may not test", async () => {
  expect((await post("roads", {}, "view:view")).status).toBe(403);
});
