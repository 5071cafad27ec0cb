import { expect, test } from "vitest";
import { startProtocols } from "../../../test/support/tile-protocols.ts";

const TYPE = "application/x-www-form-urlencoded";
const TILE =
  "LAYER=topp:states&REQUEST=GetTile&FORMAT=image/png&TILEMATRIXSET=EPSG:900913&TILEMATRIX=EPSG:900913:0&TILEROW=0&TILECOL=0";
const MAP =
  "REQUEST=GetMap&LAYERS=topp:states&SRS=EPSG:900913&FORMAT=image/png&WIDTH=256&HEIGHT=256&BBOX=-20037508.34,-20037508.34,20037508.34,20037508.34";

test("the form of a POST below /service is read as the query", async () => {
  await using protocols = await startProtocols();
  const post = (path: string, body: string, headers: Record<string, string> = { "Content-Type": TYPE }) =>
    protocols.request(path, { method: "POST", body, headers });
  for (const [path, body] of [
    ["/service/wmts", TILE],
    ["/service/wmts?LAYER=topp:states", TILE.replace("topp:states", "ignored")],
    ["/service/wms", MAP],
    ["/service/gmaps", "layers=topp:states&zoom=0&x=0&y=0&format=image/png"],
    ["/service/mgmaps", "layers=topp:states&zoom=17&x=0&y=0"],
    ["/service/ve", "layers=topp:states&quadkey=0"],
    ["/service/tms/1.0.0/topp:states@EPSG:900913@png/0/0/0.png", "flipY=true"],
    ["/service/wmts/rest/topp:states/EPSG:900913/0/0/0", "format=image/png"],
    ["/service/kml/topp:states/x0y1z1.png", ""],
  ] as const) {
    const reply = await post(path, body);
    expect([path, reply.status, reply.body]).toEqual([path, 200, "a tile"]);
    expect(reply.headers["access-control-allow-origin"]).toBe("*");
  }
  const filter = `CQL_FILTER=${encodeURIComponent(`A = ${"x".repeat(3000)}ä`)}`;
  await post("/service/wmts", `${TILE}&${filter}`);
  expect(protocols.reader.requests.at(-1)?.parameters.values).toMatchObject({ CQL_FILTER: `A = ${"x".repeat(3000)}ä` });
  const whole = await post("/service/wmts", TILE, { "Content-Type": `${TYPE};charset=UTF-8`, "If-None-Match": "*" });
  expect(whole.status).toBe(200);
  expect((await post("/service/wms", "REQUEST=GetCapabilities")).body).toContain("WMT_MS_Capabilities");
});

test("a form that cannot be read is refused in the form of its protocol", async () => {
  await using protocols = await startProtocols();
  const statusOf = async (path: string, body: string, contentType: string): Promise<readonly unknown[]> => {
    const { status, headers } = await protocols.request(path, {
      method: "POST",
      body,
      headers: { "Content-Type": contentType },
    });
    return [status, headers["content-type"]];
  };
  expect(await statusOf("/service/wmts", "<GetTile/>", "text/xml")).toEqual([415, "text/xml"]);
  expect(await statusOf("/service/wmts", TILE, `${TYPE}; charset=klingon`)).toEqual([415, "text/xml"]);
  expect(await statusOf("/service/wmts", "LAYER=%zz", TYPE)).toEqual([400, "text/xml"]);
  expect(await statusOf("/service/wms", "a".repeat(1024 * 1024 + 1), TYPE)).toEqual([
    413,
    "application/vnd.ogc.se_xml",
  ]);
});

test("other addresses take no POST, and Allow says where it is taken", async () => {
  await using protocols = await startProtocols();
  const allowed = async (path: string, method: string): Promise<readonly unknown[]> => {
    const { status, headers } = await protocols.request(path, { method });
    return [status, headers.allow];
  };
  expect(await allowed("/xyz/topp:states/0/0/0.png", "POST")).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect(await allowed("/ogc", "POST")).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect(await allowed("/service/wmts", "PUT")).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
  expect(await allowed("/service/wms", "OPTIONS")).toEqual([200, "GET, HEAD, POST, OPTIONS"]);
});

test("a form of a secured layer needs credentials, as a GET does", async () => {
  await using protocols = await startProtocols();
  const form = "layers=secret&zoom=0&x=0&y=0&format=image/png";
  const send = (headers: Record<string, string>) =>
    protocols.request("/service/gmaps", { method: "POST", body: form, headers: { "Content-Type": TYPE, ...headers } });
  expect((await send({})).status).toBe(401);
  expect((await send({ Authorization: "Basic bWU6bWU=" })).status).toBe(200);
});
