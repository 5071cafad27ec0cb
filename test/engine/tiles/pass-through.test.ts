import { expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { startServer, usage } from "../../support/server/server.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

test("levels that are not stored are rendered for each request, and neither users nor seeds store them", async () => {
  const upstream = await startUpstream();
  running.upstream = upstream;
  upstream.behaviour = renderAfter(0);
  const server = await startServer({
    configuration: `
layers:
  - name: never
    source: { type: wms, url: "${upstream.url}" }
    gridSubsets: [{ gridSet: EPSG:900913 }]
    expireCacheSeconds: -1
  - name: some
    source: { type: wms, url: "${upstream.url}" }
    gridSubsets: [{ gridSet: EPSG:900913, minCachedLevel: 1, maxCachedLevel: 1 }]
    metatile: [1, 1]
  - name: closed
    enabled: false
    source: { type: wms, url: "${upstream.url}" }
`,
  });
  running.server = server;
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(server.url + path, { headers });
    const body = await answer.text();
    return [answer.status, answer.headers.get("geowebcache-cache-result"), body.length > 100] as const;
  };
  const tilesOf = async (layer: string) => Number((await usage(server, `?layer=${layer}`)).layers[0]?.tiles);
  for (let n = 1; n <= 2; n++) {
    expect(await get("/xyz/never/2/1/1.png")).toEqual([200, "MISS", true]);
    expect(await get("/xyz/some/2/1/1.png")).toEqual([200, "MISS", true]);
    expect(await get("/xyz/some/0/0/0.png")).toEqual([200, "MISS", true]);
    expect(upstream.asked.length).toBe(3 * n);
  }
  expect((await get("/xyz/never/2/1/1.png", { "Cache-Control": "only-if-cached" }))[0]).toBe(504);
  expect(await get("/xyz/some/1/0/0.png")).toEqual([200, "MISS", true]);
  expect(await get("/xyz/some/1/0/0.png")).toEqual([200, "HIT", true]);
  expect(await tilesOf("some")).toBe(1);
  expect(await tilesOf("never")).toBe(0);

  const post = async (path: string, body: object) => {
    const answer = await fetch(server.url + path, { method: "POST", body: JSON.stringify(body) });
    return { status: answer.status, text: await answer.text() };
  };
  const job = { layer: "some", type: "seed", gridSet: "EPSG:900913", zoomStart: 0, zoomStop: 2 };
  const made = await post("/api/v1/jobs", job);
  const { id } = JSON.parse(made.text);
  const ended = await (await fetch(`${server.url}/api/v1/jobs/${id}?wait=100`)).json();
  expect(ended).toMatchObject({ outcome: "done", tiles: { total: 4, stored: 3, skipped: 1 } });
  expect(await tilesOf("some")).toBe(4);
  const none = await post("/api/v1/jobs", { ...job, layer: "never" });
  expect([none.status, none.text]).toEqual([400, expect.stringContaining("a level whose tiles are stored")]);

  for (const path of ["/xyz/closed/2/1/1.png", "/service/tms/1.0.0/closed@EPSG:900913@png/2/1/1.png"]) {
    const answer = await fetch(server.url + path);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "text/xml"]);
    expect(await answer.text()).toContain("Layer 'closed' is disabled");
  }
});
