import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server.ts";
import { type Case, contract } from "./raw.ts";

let server: TestServer | undefined;
const at = (): TestServer => {
  if (server === undefined) throw new Error("not started");
  return server;
};
const DEFAULT =
  '{"cacheQuotaConfiguration":{"enabled":false,"cacheCleanUpFrequency":10,"cacheCleanUpUnits":"SECONDS","maxConcurrentCleanUps":2,"globalExpirationPolicyName":"LFU","globalQuota":{"value":"500","units":"MiB"},"layerQuotas":[]}}';
/** Each case begins with the defaults. */
beforeEach(async () => {
  server ??= await startServer();
  await fetch(`${server.url}/rest/diskquota.json`, { method: "PUT", body: DEFAULT });
});
afterAll(() => server?.close());

const XML_DEFAULT =
  "<cacheQuotaConfiguration><enabled>false</enabled><cacheCleanUpFrequency>10</cacheCleanUpFrequency><cacheCleanUpUnits>SECONDS</cacheCleanUpUnits><maxConcurrentCleanUps>2</maxConcurrentCleanUps><globalExpirationPolicyName>LFU</globalExpirationPolicyName><globalQuota><value>500</value><units>MiB</units></globalQuota><layerQuotas/></cacheQuotaConfiguration>";
const put = (body: string, path = "/rest/diskquota.json") => `PUT ${path}\n\n${body}`;
const q = (fields: string) => put(`{"gwcQuotaConfiguration":{${fields}}}`);
const ok = (name: string, request: string, body: RegExp): Case => ({
  name,
  request,
  status: 200,
  type: "application/json",
  body,
});
const no = (name: string, request: string, body: RegExp): Case => ({
  name: `refused: ${name}`,
  request,
  status: 400,
  type: "text/plain",
  body,
});

describe("disk quota", () =>
  contract(at, [
    { name: "GET JSON", request: "GET /rest/diskquota.json", status: 200, type: "application/json", body: DEFAULT },
    { name: "GET XML", request: "GET /diskquota.xml", status: 200, type: "text/xml", body: XML_DEFAULT },
    { name: "GET without extension is XML", request: "GET /rest/diskquota", status: 200, type: "text/xml" },
    {
      name: "GET without extension and Accept JSON",
      request: "GET /rest/diskquota\nAccept: application/json",
      status: 200,
      type: "application/json",
    },
    ok("the answer uses the root it came with", q('"enabled":true'), /^\{"gwcQuotaConfiguration":\{"enabled":true,/),
    ok(
      "GeoServer's root",
      put('{"org.geowebcache.diskquota.DiskQuotaConfig":{"enabled":"TRUE"}}'),
      /DiskQuotaConfig":\{"enabled":true/,
    ),
    ok("a value alone keeps the units", q('"globalQuota":{"value":"1.50"}'), /"value":"1\.50","units":"MiB"/),
    ok("units alone keep the value, in any order", q('"globalQuota":{"units":"GiB"}'), /"value":"500","units":"GiB"/),
    ok("an exponent is written out", q('"globalQuota":{"value":1e3,"units":"KiB"}'), /"value":"1000","units":"KiB"/),
    ok(
      "policies and units in any case",
      q('"globalExpirationPolicyName":"lru","cacheCleanUpUnits":"minutes"'),
      /"cacheCleanUpUnits":"MINUTES".*"LRU"/,
    ),
    ok(
      "a layer quota",
      q('"layerQuotas":[{"layer":"topp:states","expirationPolicyName":"LRU","quota":{"value":"1.5","units":"GiB"}}]'),
      /"layerQuotas":\[\{"layer":"topp:states","expirationPolicyName":"LRU","quota":\{"value":"1\.5","units":"GiB"\}\}\]/,
    ),
    ok(
      "layer quotas in GWC's form",
      q(
        '"layerQuotas":{"LayerQuota":[{"layer":"topp:states","expirationPolicyName":"LFU","quota":{"value":1,"units":"B"}}]}',
      ),
      /"layerQuotas":\[\{"layer":"topp:states"/,
    ),
    ok("null is absent", q('"enabled":null,"maxConcurrentCleanUps":3'), /"enabled":false.*"maxConcurrentCleanUps":3/),
    ok("unknown fields are ignored", q('"quotaStore":"BDB"'), /"enabled":false/),
    {
      name: "bare words after the shell has eaten the quotes",
      request: put("{gwcQuotaConfiguration:{globalQuota:{value:100,units:MiB}}}"),
      status: 200,
      type: "application/json",
      body: /"value":"100"/,
    },
    no(
      "maxConcurrentCleanUps -1",
      q('"maxConcurrentCleanUps":-1'),
      /^maxConcurrentCleanUps shall be a positive integer: -1/,
    ),
    no(
      "maxConcurrentCleanUps 0",
      q('"maxConcurrentCleanUps":0'),
      /^maxConcurrentCleanUps shall be a positive integer: 0/,
    ),
    no("an integer as 1.0", q('"maxConcurrentCleanUps":1.0'), /1\.0/),
    no(
      "unknown storage units",
      q('"globalQuota":{"value":1,"units":"ZZiB"}'),
      /^No enum constant StorageUnit\.ZZiB\n[\s\S]*B, KiB, MiB, GiB, TiB/,
    ),
    no("units in another case", q('"globalQuota":{"value":1,"units":"mib"}'), /^No enum constant StorageUnit\.mib/),
    no("unknown time units", q('"cacheCleanUpUnits":"WEEKS"'), /^No enum constant TimeUnit\.WEEKS\n/),
    no("unknown policy", q('"globalExpirationPolicyName":"FIFO"'), /^No enum constant ExpirationPolicy\.FIFO\n/),
    no("frequency 0", q('"cacheCleanUpFrequency":0'), /cacheCleanUpFrequency/),
    no("enabled maybe", q('"enabled":"maybe"'), /enabled/),
    no("a negative value", q('"globalQuota":{"value":-1}'), /value/),
    no(
      "a layer nobody knows",
      q('"layerQuotas":[{"layer":"nope","expirationPolicyName":"LRU","quota":{"value":1,"units":"B"}}]'),
      /^Unknown layer: nope/,
    ),
    no(
      "a layer quota without a policy",
      q('"layerQuotas":[{"layer":"topp:states","quota":{"value":1,"units":"B"}}]'),
      /expirationPolicyName/,
    ),
    no("wrong case of a field", q('"Enabled":true'), /Enabled/),
    no("a missing brace", put('{"gwcQuotaConfiguration":{"enabled":true}'), /line 1/),
    no("XML on .json", put("<gwcQuotaConfiguration/>"), /./),
    no("an empty body", put(""), /./),
    no("another root", put('{"quota":{}}'), /cacheQuotaConfiguration/),
    no("XML that ends too early", put("<gwcQuotaConfiguration><enabled>", "/rest/diskquota.xml"), /./),
    {
      name: "an empty layerQuotas element clears the list",
      request: put("<gwcQuotaConfiguration><layerQuotas/></gwcQuotaConfiguration>", "/rest/diskquota.xml"),
      status: 200,
      type: "text/xml",
      body: /<layerQuotas\/><\/gwcQuotaConfiguration>$/,
    },
  ]));

test("a PUT that is refused applies nothing, and one that is accepted survives a restart", async () => {
  const bad = await fetch(`${at().url}/rest/diskquota.json`, {
    method: "PUT",
    body: '{"gwcQuotaConfiguration":{"enabled":true,"maxConcurrentCleanUps":0}}',
  });
  expect(bad.status).toBe(400);
  expect(await (await fetch(`${at().url}/rest/diskquota.json`)).text()).toBe(DEFAULT);
  await fetch(`${at().url}/rest/diskquota.json`, {
    method: "PUT",
    body: '{"gwcQuotaConfiguration":{"enabled":true,"globalQuota":{"value":7,"units":"TiB"}}}',
  });
  server = await at().restart("SIGKILL");
  const kept = await (await fetch(`${server.url}/rest/diskquota.xml`)).text();
  expect(kept).toContain("<enabled>true</enabled>");
  expect(kept).toContain("<value>7</value><units>TiB</units>");
  const again = await fetch(`${server.url}/rest/diskquota.xml`, { method: "PUT", body: kept });
  expect(await again.text()).toBe(kept);
});
