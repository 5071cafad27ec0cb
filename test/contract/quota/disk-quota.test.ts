import { describe, expect, test } from "vitest";
import { startServer } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";
import { contractServer } from "../contract-server.ts";

// `docs/reference/wire-format.md`, Disk quota.
const DEFAULT =
  '{"cacheQuotaConfiguration":{"enabled":false,"cacheCleanUpFrequency":10,"cacheCleanUpUnits":"SECONDS","maxConcurrentCleanUps":2,"globalExpirationPolicyName":"LFU","globalQuota":{"value":"500","units":"MiB"},"layerQuotas":[]}}';
const FIELDS = (policy: string, quota: string, enabled = "false", more = "<layerQuotas/>") =>
  `<enabled>${enabled}</enabled><cacheCleanUpFrequency>10</cacheCleanUpFrequency><cacheCleanUpUnits>SECONDS</cacheCleanUpUnits><maxConcurrentCleanUps>2</maxConcurrentCleanUps><globalExpirationPolicyName>${policy}</globalExpirationPolicyName><globalQuota>${quota}</globalQuota>${more}`;
const DEFAULT_QUOTA = "<value>500</value><units>MiB</units>";

const { transcript, at } = contractServer({
  before: `
    > PUT /rest/diskquota.json
    >
    > ${DEFAULT}
    < 200 application/json
    <
    < ${DEFAULT}
  `,
});

describe("fields that are not known", () => {
  transcript(
    "are ignored, as GWC does, and named in a header; a name that differs in case is refused wherever it stands",
    `
    > PUT /rest/diskquota.json
    >
    > {"gwcQuotaConfiguration":{"globalQota":{"value":1},"a\\r\\nb\\u20ac":2,"globalQuota":{"valeu":3,"id":0},"layerQuotas":[]}}
    < 200 application/json
    < Warning: 299 - "unknown fields were ignored: globalQota, a??b?, globalQuota.valeu"
    <
    < ${DEFAULT.replace("cacheQuota", "gwcQuota")}
    > PUT /rest/diskquota.xml
    >
    > <gwcQuotaConfiguration><diskBlockSize>4096</diskBlockSize></gwcQuotaConfiguration>
    < 200 text/xml
    < Warning: 299 - "unknown fields were ignored: diskBlockSize"
    <
    < {any}
    > PUT /rest/diskquota.json
    >
    > {"gwcQuotaConfiguration":{"globalQuota":{"value":"500","units":"MiB"}}}
    < 200 application/json
    < Warning: {absent}
    <
    < {any}
    > PUT /rest/diskquota.json
    >
    > {"gwcQuotaConfiguration":{"Enabled":true}}
    < 400 text/plain
    <
    < Enabled: unknown field, expected enabled {any}
    > PUT /rest/diskquota.json
    >
    > {"gwcQuotaConfiguration":{"globalQuota":{"Value":1}}}
    < 400 text/plain
    <
    < globalQuota.Value: unknown field, expected value {any}
    > PUT /rest/diskquota.xml
    >
    > <gwcQuotaConfiguration><layerQuotas><LayerQuota><Layer>topp:states</Layer></LayerQuota></layerQuotas></gwcQuotaConfiguration>
    < 400 text/plain
    <
    < layerQuotas.LayerQuota[1].Layer: unknown field, expected layer {any}
  `,
  );
  test("unknown fields are in the log", async () => {
    const path = `${at().url}/rest/diskquota.json`;
    await fetch(path, { method: "PUT", body: '{"gwcQuotaConfiguration":{"enabeld":true}}' });
    await until("the line is there", async () =>
      /unknown fields of a request were ignored/.test(at().log()) && /"enabeld"/.test(at().log()) ? true : undefined,
    );
    expect(at().log()).toContain("enabeld");
  });
});

describe("reading", () => {
  const reads = (sentence: string, path: string, headers: string, type: string, body: string): void =>
    transcript(sentence, `\n> GET ${path}\n${headers}\n< 200 ${type}\n<\n< ${body}`);
  const XML = `<cacheQuotaConfiguration>${FIELDS("LFU", DEFAULT_QUOTA)}</cacheQuotaConfiguration>`;
  reads(
    "GET .json is exactly the defaults in the contract's order",
    "/rest/diskquota.json",
    "",
    "application/json",
    DEFAULT,
  );
  reads("GET .xml is the same, without a declaration", "/rest/diskquota.xml", "", "text/xml", XML);
  reads("directly under the base URL", "/diskquota.xml", "", "text/xml", XML);
  reads("under a mount", "/geowebcache/diskquota.json", "", "application/json", DEFAULT);
  reads(
    "the path's format is strict: .xml for who asks for JSON",
    "/rest/diskquota.xml",
    "> Accept: application/json",
    "text/xml",
    XML,
  );
  reads(
    "the path's format is strict: .json for who asks for XML",
    "/rest/diskquota.json",
    "> Accept: text/xml",
    "application/json",
    DEFAULT,
  );
  reads("without extension XML", "/rest/diskquota", "", "text/xml", XML);
  reads(
    "without extension as Accept says",
    "/rest/diskquota",
    "> Accept: application/json",
    "application/json",
    DEFAULT,
  );
  reads(
    "without extension Content-Type comes before Accept",
    "/rest/diskquota",
    "> Accept: application/json\n> Content-Type: text/xml",
    "text/xml",
    XML,
  );
});

const changes = (sentence: string, fields: string, answer: string): void =>
  transcript(
    sentence,
    `
    > PUT /rest/diskquota.json
    > Content-Type: application/json
    >
    > {"cacheQuotaConfiguration":{${fields}}}
    < 200 application/json
    <
    < {"cacheQuotaConfiguration":{${answer}}}
    > GET /rest/diskquota.json
    < 200 application/json
    <
    < {"cacheQuotaConfiguration":{${answer}}}
  `,
  );
const full = (changed: {
  enabled?: string;
  frequency?: string;
  units?: string;
  cleanUps?: string;
  policy?: string;
  value?: string;
  storage?: string;
  layers?: string;
}): string =>
  `"enabled":${changed.enabled ?? "false"},"cacheCleanUpFrequency":${changed.frequency ?? "10"},"cacheCleanUpUnits":"${changed.units ?? "SECONDS"}","maxConcurrentCleanUps":${changed.cleanUps ?? "2"},"globalExpirationPolicyName":"${changed.policy ?? "LFU"}","globalQuota":{"value":"${changed.value ?? "500"}","units":"${changed.storage ?? "MiB"}"},"layerQuotas":[${changed.layers ?? ""}]`;

describe("a change in JSON is a difference; the answer is the whole, and what a GET answers", () => {
  changes("one field", '"enabled":true', full({ enabled: "true" }));
  changes("true as a string in any case", '"enabled":"TRUE"', full({ enabled: "true" }));
  changes("null is absent", '"enabled":null,"maxConcurrentCleanUps":3', full({ cleanUps: "3" }));
  changes("nothing", "", full({}));
  changes("unknown fields are ignored", '"quotaStore":"BDB","diskBlockSize":4096', full({}));
  changes(
    "numbers as strings",
    '"cacheCleanUpFrequency":" 7 ","maxConcurrentCleanUps":"010"',
    full({ frequency: "7", cleanUps: "10" }),
  );
  for (const units of ["seconds", "MINUTES", "Hours", "DAYS"])
    changes(`cacheCleanUpUnits ${units}`, `"cacheCleanUpUnits":"${units}"`, full({ units: units.toUpperCase() }));
  for (const policy of ["LRU", "lfu"])
    changes(`policy ${policy}`, `"globalExpirationPolicyName":"${policy}"`, full({ policy: policy.toUpperCase() }));
  for (const units of ["B", "KiB", "MiB", "GiB", "TiB"])
    changes(`units ${units}, the value unchanged`, `"globalQuota":{"units":"${units}"}`, full({ storage: units }));
  changes("a value alone, as given", '"globalQuota":{"value":"1.50"}', full({ value: "1.50" }));
  changes("a value as a number", '"globalQuota":{"value":2.25}', full({ value: "2.25" }));
  changes(
    "an exponent is written out",
    '"globalQuota":{"value":1e3,"units":"KiB"}',
    full({ value: "1000", storage: "KiB" }),
  );
  changes("nought", '"globalQuota":{"value":0}', full({ value: "0" }));
  changes(
    "fields of globalQuota in any order",
    '"globalQuota":{"units":"B","value":"9007199254740993"}',
    full({ value: "9007199254740993", storage: "B" }),
  );
  const STATES = '{"layer":"topp:states","expirationPolicyName":"LRU","quota":{"value":"1.5","units":"GiB"}}';
  changes("a layer quota", `"layerQuotas":[${STATES}]`, full({ layers: STATES }));
  changes("a layer quota in GWC's form", `"layerQuotas":{"LayerQuota":[${STATES}]}`, full({ layers: STATES }));
  changes("an empty list clears", '"layerQuotas":[]', full({}));
});

transcript(
  "layer quotas are replaced as a list, unchanged by a change that does not name them, and cleared by []",
  `
  > PUT /rest/diskquota.json
  >
  > {"cacheQuotaConfiguration":{"layerQuotas":[{"layer":"topp:states","expirationPolicyName":"lru","quota":{"value":1,"units":"B"}},{"layer":"img states","expirationPolicyName":"LFU","quota":{"value":2,"units":"KiB"}}]}}
  < 200 application/json
  <
  < {any}"layerQuotas":[{"layer":"topp:states","expirationPolicyName":"LRU","quota":{"value":"1","units":"B"}},{"layer":"img states","expirationPolicyName":"LFU","quota":{"value":"2","units":"KiB"}}]}}
  > PUT /rest/diskquota.xml
  >
  > <cacheQuotaConfiguration><layerQuotas><LayerQuota><layer>img states</layer><expirationPolicyName>LRU</expirationPolicyName><quota><value>3</value><units>MiB</units></quota></LayerQuota></layerQuotas></cacheQuotaConfiguration>
  < 200 text/xml
  <
  < <cacheQuotaConfiguration>${FIELDS("LFU", DEFAULT_QUOTA, "false", "<layerQuotas><LayerQuota><layer>img states</layer><expirationPolicyName>LRU</expirationPolicyName><quota><value>3</value><units>MiB</units></quota></LayerQuota></layerQuotas>")}</cacheQuotaConfiguration>
  > PUT /rest/diskquota.json
  >
  > {"cacheQuotaConfiguration":{"enabled":true}}
  < 200 application/json
  <
  < {any}"enabled":true{any}"layerQuotas":[{"layer":"img states",{any}
  > PUT /rest/diskquota.json
  >
  > {"cacheQuotaConfiguration":{"layerQuotas":[]}}
  < 200 application/json
  <
  < {any}"layerQuotas":[]}}
`,
);

describe("roots", () => {
  for (const root of [
    "cacheQuotaConfiguration",
    "gwcQuotaConfiguration",
    "org.geowebcache.diskquota.DiskQuotaConfig",
  ]) {
    transcript(
      `a PUT is answered with the root it came with: ${root}`,
      `
      > PUT /rest/diskquota.json
      >
      > {"${root}":{"enabled":true}}
      < 200 application/json
      <
      < {"${root}":{"enabled":true,{any}
      > PUT /rest/diskquota.xml
      >
      > <${root}><enabled>false</enabled></${root}>
      < 200 text/xml
      <
      < <${root}>${FIELDS("LFU", DEFAULT_QUOTA)}</${root}>
      > GET /rest/diskquota.json
      < 200 application/json
      <
      < ${DEFAULT}
    `,
    );
  }
});

transcript(
  "what GET answers can be PUT back, byte for byte",
  `
  > PUT /rest/diskquota.xml
  >
  > <cacheQuotaConfiguration>${FIELDS("LRU", "<value>1.50</value><units>TiB</units>", "true")}</cacheQuotaConfiguration>
  < 200 text/xml
  <
  < <cacheQuotaConfiguration>${FIELDS("LRU", "<value>1.50</value><units>TiB</units>", "true")}</cacheQuotaConfiguration>
  > GET /rest/diskquota.xml
  < 200 text/xml
  <
  < <cacheQuotaConfiguration>${FIELDS("LRU", "<value>1.50</value><units>TiB</units>", "true")}</cacheQuotaConfiguration>
`,
);

describe("what is refused applies nothing", () => {
  const refusedAt = (sentence: string, path: string, body: string, answer: string): void =>
    transcript(
      sentence,
      `
      > PUT ${path}
      >
      > ${body}
      < 400 text/plain
      <
      < ${answer.replaceAll("\n", "\n< ")}
      > GET /rest/diskquota.json
      < 200 application/json
      <
      < ${DEFAULT}
    `,
    );
  const refused = (sentence: string, fields: string, answer: string): void =>
    refusedAt(sentence, "/rest/diskquota.json", `{"cacheQuotaConfiguration":{"enabled":true,${fields}}}`, answer);
  refused(
    "maxConcurrentCleanUps -1",
    '"maxConcurrentCleanUps":-1',
    "maxConcurrentCleanUps shall be a positive integer: -1",
  );
  refused(
    "maxConcurrentCleanUps 0",
    '"maxConcurrentCleanUps":"0"',
    "maxConcurrentCleanUps shall be a positive integer: 0",
  );
  refused("maxConcurrentCleanUps as 1.0", '"maxConcurrentCleanUps":1.0', "{line}1.0{any}");
  refusedAt(
    "maxConcurrentCleanUps in XML",
    "/diskquota.xml",
    "<cacheQuotaConfiguration><enabled>true</enabled><maxConcurrentCleanUps>-7</maxConcurrentCleanUps></cacheQuotaConfiguration>",
    "maxConcurrentCleanUps shall be a positive integer: -7",
  );
  refused(
    "unknown units name the enum, then the path, the value and what is allowed",
    '"globalQuota":{"value":1,"units":"ZZiB"}',
    "No enum constant StorageUnit.ZZiB\n{line}globalQuota{any}units{any}ZZiB{any}B, KiB, MiB, GiB, TiB{any}",
  );
  refused("units in another case", '"globalQuota":{"units":"mib"}', "No enum constant StorageUnit.mib\n{any}");
  refused("units beyond TiB", '"globalQuota":{"units":"PiB"}', "No enum constant StorageUnit.PiB\n{any}");
  refused(
    "unknown clean-up units",
    '"cacheCleanUpUnits":"WEEKS"',
    "No enum constant TimeUnit.WEEKS\n{any}SECONDS, MINUTES, HOURS, DAYS{any}",
  );
  refused(
    "an unknown policy",
    '"globalExpirationPolicyName":"FIFO"',
    "No enum constant ExpirationPolicy.FIFO\n{any}LRU, LFU{any}",
  );
  refused("cacheCleanUpFrequency 0", '"cacheCleanUpFrequency":0', "cacheCleanUpFrequency{any}0{any}");
  refused("a negative cacheCleanUpFrequency", '"cacheCleanUpFrequency":-5', "cacheCleanUpFrequency{any}-5{any}");
  refused("a negative value", '"globalQuota":{"value":-1}', "{line}value{any}-1{any}");
  refused("a value that is no number", '"globalQuota":{"value":"much"}', "{line}value{any}much{any}");
  refused("a hexadecimal value", '"globalQuota":{"value":"0x10"}', "{line}value{any}0x10{any}");
  refused("an infinite value", '"globalQuota":{"value":"Infinity"}', "{line}value{any}");
  refused(
    "a layer that nobody knows",
    '"layerQuotas":[{"layer":"no:such","expirationPolicyName":"LRU","quota":{"value":1,"units":"B"}}]',
    "Unknown layer: no:such{any}",
  );
  refused(
    "a layer twice",
    '"layerQuotas":[{"layer":"topp:states","expirationPolicyName":"LRU","quota":{"value":1,"units":"B"}},{"layer":"topp:states","expirationPolicyName":"LRU","quota":{"value":1,"units":"B"}}]',
    "{line}topp:states{any}",
  );
  refused(
    "a layer quota without a policy",
    '"layerQuotas":[{"layer":"topp:states","quota":{"value":1,"units":"B"}}]',
    "{line}expirationPolicyName{any}",
  );
  refused(
    "a layer quota without a quota",
    '"layerQuotas":[{"layer":"topp:states","expirationPolicyName":"LRU"}]',
    "{line}quota{any}",
  );
  refused(
    "a layer quota without units",
    '"layerQuotas":[{"layer":"topp:states","expirationPolicyName":"LRU","quota":{"value":1}}]',
    "{line}units{any}",
  );
  refused(
    "a layer quota without a layer",
    '"layerQuotas":[{"expirationPolicyName":"LRU","quota":{"value":1,"units":"B"}}]',
    "{line}layer{any}",
  );
  refused("a field in another case", '"Enabled":true', "Enabled: {any}");
  refused("a key twice", '"maxConcurrentCleanUps":3,"maxConcurrentCleanUps":4', "{line}maxConcurrentCleanUps{any}");
  refusedAt(
    "enabled maybe",
    "/rest/diskquota.json",
    '{"cacheQuotaConfiguration":{"enabled":"maybe"}}',
    "enabled{any}maybe{any}",
  );
  refusedAt("enabled 1", "/rest/diskquota.json", '{"cacheQuotaConfiguration":{"enabled":1}}', "enabled{any}");
  refusedAt("XML at .json", "/rest/diskquota.json", "<cacheQuotaConfiguration/>", "{any}");
  refusedAt("JSON at .xml", "/rest/diskquota.xml", '{"cacheQuotaConfiguration":{}}', "{any}");
  refusedAt("another root", "/rest/diskquota.json", '{"quota":{"enabled":true}}', "{line}cacheQuotaConfiguration{any}");
  refusedAt(
    "two roots",
    "/rest/diskquota.json",
    '{"cacheQuotaConfiguration":{"enabled":true},"gwcQuotaConfiguration":{}}',
    "{any}",
  );
  refusedAt(
    "a missing brace",
    "/rest/diskquota.json",
    '{"cacheQuotaConfiguration":{"enabled":true}',
    "{line}line 1{any}",
  );
  refusedAt(
    "XML that ends too early",
    "/rest/diskquota.xml",
    "<cacheQuotaConfiguration><enabled>true",
    "{line}line 1{any}",
  );
  transcript(
    "an empty body",
    "\n> PUT /rest/diskquota.json\n> Content-Length: 0\n< 400 text/plain\n<\n< {line}cacheQuotaConfiguration{any}",
  );
});

test("a change survives a kill, and the compat settings change the root and the form of the answer", async () => {
  const first = await startServer();
  const changed = await fetch(`${first.url}/rest/diskquota.json`, {
    method: "PUT",
    body: '{"cacheQuotaConfiguration":{"enabled":true,"globalQuota":{"value":7,"units":"TiB"}}}',
  });
  const answer = await changed.text();
  const second = await first.restart("SIGKILL");
  const compat = await startServer({
    configuration:
      "compat: { quotaRoot: org.geowebcache.diskquota.DiskQuotaConfig, quotaForm: bytes }\nlayers:\n  - { name: a, source: { type: demo, dataset: states } }\n",
  });
  try {
    expect(await (await fetch(`${second.url}/rest/diskquota.json`)).text()).toBe(answer);
    const put = await fetch(`${compat.url}/rest/diskquota.xml`, {
      method: "PUT",
      body: "<org.geowebcache.diskquota.DiskQuotaConfig><globalQuota><value>750</value><units>MiB</units></globalQuota></org.geowebcache.diskquota.DiskQuotaConfig>",
    });
    expect(await put.text()).toContain("<bytes>786432000</bytes>");
    const shown = await (await fetch(`${compat.url}/rest/diskquota.json`)).text();
    expect(shown).toMatch(/^\{"org\.geowebcache\.diskquota\.DiskQuotaConfig":\{/);
    expect(shown).toContain('"bytes":786432000');
  } finally {
    await second.close();
    await compat.close();
  }
});
