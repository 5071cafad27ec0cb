import { request } from "node:http";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  tileMapServiceDocument,
  wmsCapabilities111,
  wmsCapabilities130,
  wmtsCapabilities,
} from "../../../../test/support/capabilities.ts";
import { catalogue, startProtocols, states } from "../../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { withDigest } from "../../../layer/layer-digest.ts";

const layers = Array.from({ length: 600 }, (_, i) => withDigest({ ...states, name: `topp:states${i}` }));
const many = catalogueOf(layers);
const WMTS = "/service/wmts?REQUEST=GetCapabilities&SERVICE=WMTS";

test.each([
  [WMTS, wmtsCapabilities],
  ["/service/wmts/rest/WMTSCapabilities.xml", wmtsCapabilities],
  ["/service/wms?REQUEST=GetCapabilities&SERVICE=WMS&VERSION=1.3.0", wmsCapabilities130],
  [
    "/service/wms?REQUEST=GetCapabilities&SERVICE=WMS&VERSION=1.1.1&TILED=true",
    (...[all, base]: Parameters<typeof wmsCapabilities130>) => wmsCapabilities111(all, base, "listed"),
  ],
  ["/service/tms/1.0.0", tileMapServiceDocument],
])("%s of many layers is sent while it is written", async (path, write) => {
  await using protocols = await startProtocols({ catalogue: () => many });
  const { status, headers, body } = await protocols.request(path);
  expect(status).toBe(200);
  expect(headers["transfer-encoding"]).toBe("chunked");
  expect(headers["content-length"]).toBeUndefined();
  expect(body).toBe(write(many, protocols.baseUrl));
  const head = await protocols.request(path, { method: "HEAD" });
  expect(head).toMatchObject({ status: 200, body: "" });
  expect(head.headers.etag).toBe(headers.etag);
  const again = await protocols.request(path, { headers: { "If-None-Match": String(headers.etag) } });
  expect(again).toMatchObject({ status: 304, body: "" });
});

test("a long document is compressed while it is written", async () => {
  await using protocols = await startProtocols({ catalogue: () => many });
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    request(protocols.baseUrl + WMTS, { agent: false, headers: { "Accept-Encoding": "gzip" } }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => resolve(Buffer.concat(parts)));
      answer.on("error", reject);
    }).end();
  });
  expect(gunzipSync(bytes).toString()).toBe(wmtsCapabilities(many, protocols.baseUrl));
});

test("another layer gives another tag, and a short document has its length", async () => {
  let present = many;
  await using protocols = await startProtocols({ catalogue: () => present });
  const before = (await protocols.request(WMTS)).headers.etag;
  present = catalogueOf([...layers.slice(1), withDigest({ ...states, title: "Another" })]);
  expect((await protocols.request(WMTS)).headers.etag).not.toBe(before);
  present = catalogue;
  expect((await protocols.request(WMTS)).headers["content-length"]).toBeDefined();
});

test("other requests are answered between the parts, and a client that leaves ends the document", async () => {
  await using protocols = await startProtocols({
    catalogue: () => catalogueOf(Array.from({ length: 20_000 }, (_, i) => ({ ...states, name: `s${i}` }))),
  });
  const order: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const long = request(protocols.baseUrl + WMTS, { agent: false }, (answer) => {
      order.push("first bytes");
      answer.on("error", () => undefined);
      answer.once("data", () => {
        // The client does not read for a while, so the document waits.
        answer.pause();
        protocols
          .request("/xyz/s1/2/1/0.png")
          .then(({ status }) => {
            order.push(`tile ${status}`);
            answer.destroy();
            resolve();
          })
          .catch(reject);
      });
    });
    long.on("error", reject);
    long.end();
  });
  expect(order).toEqual(["first bytes", "tile 200"]);
  expect(protocols.faults).toEqual([]);
});
