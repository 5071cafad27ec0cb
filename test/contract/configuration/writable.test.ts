import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";

/* `config.writable`: objects of a PUT replace objects of the file. The server never writes the file. */

const UPSTREAM = "http://127.0.0.1:9/wms";
const CONFIGURATION = `
config: { writable: true }
serviceInformation: { title: From the file, keywords: [a] }
gridSets:
  - { id: swiss, srs: EPSG:2056, extent: [2420000, 1030000, 2900000, 1350000], resolutions: [4000, 2000] }
layers:
  - { name: kept, source: { type: wms, url: "${UPSTREAM}" } }
  - { name: changed, title: Before, source: { type: wms, url: "${UPSTREAM}" } }
  - { name: removed, source: { type: wms, url: "${UPSTREAM}" }, gridSubsets: [{ gridSet: swiss }] }
`;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ configuration: CONFIGURATION });
});
afterAll(() => server.close());

async function ask(path: string, method = "GET", body?: string) {
  const response = await fetch(server.url + path, {
    method,
    ...(body === undefined ? {} : { body, headers: { "Content-Type": "text/xml" } }),
  });
  return { status: response.status, text: await response.text() };
}

const layer = (title: string): string =>
  `<wmsLayer><name>changed</name><metaInformation><title>${title}</title></metaInformation><wmsUrl><string>${UPSTREAM}</string></wmsUrl></wmsLayer>`;

test("layers and grid sets of the file are changed and removed, over a kill, and the file stays as it is", async () => {
  const file = join(server.dataDir, "nuthatch.yaml");
  const before = readFileSync(file, "utf8");
  expect(await ask("/rest/layers/changed", "PUT", layer("After"))).toEqual({ status: 200, text: "layer saved" });
  expect(await ask("/rest/layers/removed", "DELETE")).toEqual({ status: 200, text: "removed deleted" });
  expect(await ask("/rest/gridsets/swiss", "DELETE")).toEqual({ status: 200, text: "" });
  const check = async (): Promise<void> => {
    expect((await ask("/rest/layers.json")).text).toBe('["kept","changed"]');
    expect((await ask("/rest/layers/changed.xml")).text).toContain("<title>After</title>");
    expect((await ask("/rest/layers/removed")).status).toBe(404);
    expect((await ask("/rest/gridsets/swiss")).status).toBe(404);
    expect((await ask("/service/wmts?REQUEST=GetCapabilities")).text).toContain("<ows:Title>After</ows:Title>");
  };
  await check();
  server = await server.restart("SIGKILL");
  await check();
  expect(readFileSync(file, "utf8")).toBe(before);
  expect((await ask("/rest/reload", "POST", "reload_configuration=1")).status).toBe(200);
  await check();
});

test("settings replace the description of the server, which capabilities show", async () => {
  const shown = await ask("/rest/global.xml");
  expect(shown.text).toContain("<title>From the file</title>");
  expect((await ask("/rest/global", "PUT", shown.text)).status).toBe(200);
  expect((await ask("/rest/global.xml")).text).toBe(shown.text);
  const service = `<serviceInformation><title>Put &amp; shown</title><keywords><string>k</string></keywords><serviceProvider><providerName>P</providerName><serviceContact><addressEmail>a@b.example</addressEmail></serviceContact></serviceProvider><fees>NONE</fees></serviceInformation>`;
  const put = `<global>${service}<wmtsCiteCompliant>true</wmtsCiteCompliant></global>`;
  expect(await ask("/rest/global", "PUT", put)).toEqual({ status: 200, text: "" });
  const check = async (): Promise<void> => {
    const wmts = (await ask("/service/wmts?SERVICE=WMTS&VERSION=1.0.0&REQUEST=GetCapabilities")).text;
    for (const part of [
      "<ows:Title>Put &amp; shown</ows:Title>",
      "<ows:ProviderName>P</ows:ProviderName>",
      "a@b.example",
      "<ows:Fees>NONE</ows:Fees>",
    ])
      expect(wmts).toContain(part);
    expect(wmts).not.toContain("From the file");
    expect((await ask("/service/wms?REQUEST=GetCapabilities")).text).toContain("Put &amp; shown");
    expect((await ask("/service/tms/1.0.0")).text).toContain("Put &amp; shown");
    // WMTS is strict now: it needs the service.
    expect((await ask("/service/wmts?REQUEST=GetCapabilities")).status).toBe(400);
    const { global } = JSON.parse((await ask("/rest/global.json")).text);
    expect(global).toMatchObject({
      wmtsCiteCompliant: true,
      serviceInformation: { title: "Put & shown", keywords: ["k"], fees: "NONE" },
    });
  };
  await check();
  server = await server.restart("SIGKILL");
  await check();
  expect(
    (await ask("/rest/global", "PUT", "<global><wmtsCiteCompliant>false</wmtsCiteCompliant></global>")).status,
  ).toBe(200);
});
