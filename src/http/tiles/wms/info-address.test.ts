import { expect, test } from "vitest";
import { layerNamed } from "../../../../test/support/layer.ts";
import { geodetic, startProtocols } from "../../../../test/support/tile-protocols.ts";
import type { UpstreamQuestion } from "../../../cache/upstream-question.ts";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { gridSubset } from "../../../layer/grid-subset.ts";

const KVP =
  "/service/wmts?REQUEST=GetFeatureInfo&LAYER=full&TILEMATRIXSET=EPSG:4326&TILEMATRIX=EPSG:4326:1&TILEROW=0&TILECOL=1&INFOFORMAT=text/plain";
const WMS =
  "/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetFeatureInfo&LAYERS=full&QUERY_LAYERS=full&SRS=EPSG:4326&BBOX=-10,-10,70,50&WIDTH=400&HEIGHT=300&INFO_FORMAT=application/json";

test("GetFeatureInfo is requested by WMTS keys and values, WMTS paths and WMS", async () => {
  await using protocols = await startProtocols();
  const kvp = await protocols.request(`${KVP}&I=255&J=0`);
  expect([kvp.status, kvp.headers["content-type"], kvp.body]).toEqual([200, "text/plain", "full 255,0 of 256 x 256"]);
  const rest = await protocols.request("/service/wmts/rest/full/EPSG:4326/1/0/1/7/9?format=text/html");
  expect([rest.status, rest.headers["content-type"], rest.body]).toEqual([200, "text/html", "full 9,7 of 256 x 256"]);
  const styled = await protocols.request("/service/wmts/rest/full//EPSG:4326/1/0/1/7/9?format=text/html");
  expect(styled.body).toBe("full 9,7 of 256 x 256");
  const wms = await protocols.request(`${WMS}&X=399&Y=299`);
  expect([wms.status, wms.body]).toEqual([200, "full 399,299 of 400 x 300"]);
  const wms13 = await protocols.request(`${WMS.replace("1.1.1", "1.3.0")}&I=1&J=2`);
  expect(wms13.body).toBe("full 1,2 of 400 x 300");
});

test("GetFeatureInfo sends the values of all parameter filters, as a map does", async () => {
  const filtered = layerNamed("filtered", {
    source: {
      type: "wms",
      url: "http://127.0.0.1:9/wms",
      version: "1.1.1",
      layers: ["full"],
      styles: [],
      transparent: true,
      timeoutMs: 1000,
      connections: 1,
      vendorParameters: {},
    },
    gridSubsets: [gridSubset(geodetic, {})],
    parameterFilters: [
      { type: "string", key: "STYLES", default: "day", values: ["night"] },
      { type: "integer", key: "ELEVATION", default: "0", values: [0, 10], threshold: 1 },
      { type: "regex", key: "AUTHKEY", default: "k1", regex: "k." },
    ],
  });
  const questions: UpstreamQuestion["request"][] = [];
  await using protocols = await startProtocols({
    catalogue: () => catalogueOf([filtered]),
    query: async ({ request }) => {
      questions.push(request);
      return { kind: "info", info: { contentType: "text/plain", bytes: new Uint8Array() } };
    },
  });
  const valuesAt = async (target: string): Promise<unknown> => {
    const { status } = await protocols.request(target.replaceAll("=full", "=filtered"));
    const [question] = questions.splice(0);
    return status === 200 && question?.kind === "feature_info" ? question.parameters : status;
  };
  const defaults = { STYLES: "day", ELEVATION: "0", AUTHKEY: "k1" };
  const rest = "/service/wmts/rest/filtered/EPSG:4326/1/0/1/7/9?format=text/html";
  const wms = `${WMS}&X=1&Y=2`;
  const wms13 = `${WMS.replace("1.1.1", "1.3.0")}&I=1&J=2`;
  for (const target of [`${KVP}&I=1&J=1`, rest, wms, wms13]) {
    expect([target, await valuesAt(target)]).toEqual([target, defaults]);
    const others = `${target}&ELEVATION=10`;
    expect([others, await valuesAt(others)]).toEqual([others, { ...defaults, ELEVATION: "10" }]);
  }
  expect(await valuesAt(`${KVP}&I=1&J=1&STYLE=night`)).toEqual({ ...defaults, STYLES: "night" });
  expect(await valuesAt(`${wms}&STYLES=night`)).toEqual({ ...defaults, STYLES: "night" });
});

test("a document of the upstream runs no script on our origin, and is cached by no client", async () => {
  await using protocols = await startProtocols();
  const { headers } = await protocols.request(`${KVP}&I=1&J=1`);
  expect(headers).toMatchObject({
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
});

test("pixels beside the tile have the standard's code (OGC 07-057r7, table 36)", async () => {
  await using protocols = await startProtocols();
  for (const [query, code, locator] of [
    ["I=256&J=0", "PointIJOutOfRange", "I"],
    ["I=0&J=-1", "PointIJOutOfRange", "J"],
    ["I=0", "MissingParameterValue", "J"],
    ["I=x&J=0", "MissingParameterValue", "I"],
  ] as const) {
    const reply = await protocols.request(`${KVP}&${query}`);
    expect([query, reply.status]).toEqual([query, 400]);
    expect(reply.body).toContain(`exceptionCode="${code}" locator="${locator}"`);
  }
  const badFormat = await protocols.request(`${KVP.replace("text/plain", "a%0d%0aX:%20y/b")}&I=0&J=0`);
  expect(badFormat.body).toContain('exceptionCode="InvalidParameterValue" locator="INFOFORMAT"');
  for (const none of ["text/none", "plain", "application/nothing", "a/b/c"]) {
    const kvp = await protocols.request(`${KVP.replace("text/plain", none)}&I=0&J=0`);
    expect([none, kvp.status, kvp.body]).toEqual([none, 400, expect.stringContaining('locator="INFOFORMAT"')]);
    const rest = await protocols.request(`/service/wmts/rest/full/EPSG:4326/1/0/1/7/9?format=${none}`);
    expect([none, rest.status]).toEqual([none, 400]);
    const wms = await protocols.request(`${WMS.replace("application/json", none)}&X=1&Y=1`);
    expect([none, wms.status, wms.body]).toEqual([none, 400, expect.stringContaining('code="InvalidFormat"')]);
  }
  for (const type of ["text/xml;%20subtype=gml/3.1.1", "application/geo%2Bjson", "application/vnd.esri.wms_raw_xml"])
    expect((await protocols.request(`${KVP.replace("text/plain", type)}&I=0&J=0`)).status).toBe(200);
  const beside = await protocols.request(`${WMS}&X=400&Y=0`);
  expect([beside.status, beside.body]).toEqual([400, expect.stringContaining('code="InvalidPoint"')]);
});

test("a layer that only renders pictures says so, and capabilities offer it only where a layer is queryable", async () => {
  await using protocols = await startProtocols();
  const reply = await protocols.request(`${KVP.replace("=full", "=broken").replaceAll("4326", "900913")}&I=0&J=0`);
  expect([reply.status, reply.body]).toEqual([400, expect.stringContaining("OperationNotSupported")]);
  const { body } = await protocols.request("/service/wmts?REQUEST=GetCapabilities");
  expect(body).toContain('<ows:Operation name="GetFeatureInfo">');
  expect(body.match(/<InfoFormat>/g)).toHaveLength(4);
  expect(body).toContain("{TileRow}/{TileCol}/{J}/{I}?format=text/html");
});
