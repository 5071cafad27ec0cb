import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { contractServer } from "../contract-server.ts";

const CONFIGURATION = `
users:
  - { name: root, password: root, roles: [admin] }
  - { name: op, password: op, roles: [operator] }
  - { name: view, password: view, roles: [viewer] }
layers:
  - { name: "ws:roads", source: { type: demo, dataset: states } }
`;
const ADMIN = "Authorization: Basic cm9vdDpyb290";
const OPERATOR = "Authorization: Basic b3A6b3A=";
const VIEWER = "Authorization: Basic dmlldzp2aWV3";
const DEFAULT =
  '{"enabled":false,"cacheCleanUpFrequency":10,"cacheCleanUpUnits":"SECONDS","maxConcurrentCleanUps":2,"globalExpirationPolicyName":"LFU","globalQuota":{"value":"500","units":"MiB"},"layerQuotas":[]}';
const ROADS = '{"layer":"ws:roads","expirationPolicyName":"LRU","quota":{"value":"1.50","units":"GiB"}}';

const { transcript, at } = contractServer({
  configuration: () => CONFIGURATION,
  before: `
    > PUT /api/v1/quota
    > ${ADMIN}
    >
    > ${DEFAULT}
    < 200 application/json
    <
    < ${DEFAULT}
  `,
});

describe("/api/v1/quota", () => {
  transcript(
    "is the classic configuration without its root, for any role and under each mount",
    `
    > GET /api/v1/quota
    > ${VIEWER}
    < 200 application/json
    <
    < ${DEFAULT}
    > GET /geowebcache/api/v1/quota
    > ${OPERATOR}
    < 200 application/json
    <
    < ${DEFAULT}
    > GET /api/v1/quota
    < 401 application/problem+json
    <
    < {any}
  `,
  );
  for (const method of ["PUT", "PATCH"])
    transcript(
      `${method} changes the fields that it names and answers with all, and the classic resource has them too`,
      `
    > ${method} /api/v1/quota
    > ${ADMIN}
    >
    > {"enabled":true,"globalQuota":{"value":1.5,"units":null},"layerQuotas":[${ROADS}],"cacheCleanUpUnits":null}
    < 200 application/json
    <
    < {"enabled":true,"cacheCleanUpFrequency":10,"cacheCleanUpUnits":"SECONDS","maxConcurrentCleanUps":2,"globalExpirationPolicyName":"LFU","globalQuota":{"value":"1.5","units":"MiB"},"layerQuotas":[${ROADS}]}
    > GET /rest/diskquota.json
    > ${ADMIN}
    < 200 application/json
    <
    < {"cacheQuotaConfiguration":{"enabled":true,{any},"globalQuota":{"value":"1.5","units":"MiB"},"layerQuotas":[${ROADS}]}}
  `,
    );

  const refused = (sentence: string, body: string, detail: string, code = "bad_field", status = 400): void =>
    transcript(
      sentence,
      `
    > PATCH /api/v1/quota
    > ${ADMIN}
    >
    > ${body}
    < ${status} application/problem+json
    <
    < {"type":"about:blank","title":"{any}","status":${status},"detail":"${detail}","code":"${code}"}
    > GET /api/v1/quota
    > ${VIEWER}
    < 200 application/json
    <
    < ${DEFAULT}
  `,
    );
  refused(
    "an unknown key is refused with the known ones",
    '{"enabled":true,"globalQota":{}}',
    "globalQota: unknown field, expected one of enabled, {any}globalQuota, layerQuotas, overrules, got {}",
  );
  refused("so is one that differs in case", '{"Enabled":true}', "Enabled: unknown field, expected enabled, got true");
  refused(
    "and one inside of a quota",
    '{"globalQuota":{"value":"1","unit":"GiB"}}',
    "globalQuota.unit: unknown field, expected one of value, units, got {any}",
  );
  refused(
    "the classic root is none of the fields",
    `{"cacheQuotaConfiguration":${DEFAULT}}`,
    "cacheQuotaConfiguration: unknown field, {any}",
  );
  refused("a text is no boolean", '{"enabled":"true"}', "enabled: expected true or false, got {any}");
  refused(
    "a number of clean-ups is positive",
    '{"maxConcurrentCleanUps":0}',
    "maxConcurrentCleanUps: expected a positive whole number, got 0",
  );
  refused(
    "a unit is one of five",
    '{"globalQuota":{"units":"GB"}}',
    "globalQuota.units: expected one of B, KiB, MiB, GiB, TiB, got {any}",
  );
  refused(
    "a value is a decimal",
    '{"globalQuota":{"value":"-1"}}',
    "globalQuota.value: expected a decimal number, 0 or more, of at most 100 digits, got {any}",
  );
  refused(
    "a value is refused that is too large in the units in force",
    '{"globalQuota":{"value":"1e18"}}',
    "globalQuota: expected at most 9223372036854775807 bytes (2^63 - 1), got 1000000000000000000 MiB",
  );
  refused(
    "a layer has one quota",
    `{"layerQuotas":[${ROADS},${ROADS}]}`,
    "layerQuotas[1].layer: expected each layer once, got {any}",
  );
  refused(
    "a layer's quota has all of its parts",
    '{"layerQuotas":[{"layer":"ws:roads","quota":{"value":1,"units":"GiB"}}]}',
    "layerQuotas[0].expirationPolicyName: expected one of LRU, LFU, got null",
  );
  refused(
    "an unknown layer is not found",
    `{"layerQuotas":[${ROADS.replace("ws:roads", "no:such")}]}`,
    "Unknown layer: no:such",
    "unknown_layer",
    404,
  );
  refused(
    "an empty body is no document",
    "",
    "body: expected a JSON object with the fields of a disk quota, {any}",
    "malformed",
  );

  for (const [who, role] of [
    ["an operator", OPERATOR],
    ["a viewer", VIEWER],
  ])
    transcript(
      `${who} changes nothing`,
      `
    > PUT /api/v1/quota
    > ${role}
    >
    > {"enabled":true}
    < 403 application/problem+json
    <
    < {any}"code":"forbidden"}
  `,
    );
});

describe("a dry run of a change", () => {
  const send = (method: string, query: string, body: string, credentials = "root:root") =>
    fetch(`${at().url}/api/v1/quota${query}`, {
      method,
      headers: { Authorization: `Basic ${Buffer.from(credentials).toString("base64")}` },
      body,
    });
  const read = async <T>(path: string): Promise<T> =>
    (
      await fetch(`${at().url}/api/v1/${path}`, {
        headers: { Authorization: `Basic ${Buffer.from("view:view").toString("base64")}` },
      })
    ).json() as Promise<T>;

  test("tells the quota that would be and what it would evict, changes nothing and is no activity", async () => {
    await Promise.all(
      ["0/0/0", "1/0/0", "2/0/0", "2/3/3"].map((tile) => fetch(`${at().url}/xyz/ws:roads/${tile}.png`)),
    );
    interface Usage {
      readonly total: { readonly tiles: number; readonly bytes: number };
      readonly bytesOnDisk: number;
    }
    // The other tiles of a metatile follow the answer.
    await expect.poll(async () => (await read<Usage>("usage")).total.tiles).toBe(1 + 4 + 16);
    const { total, bytesOnDisk } = await read<Usage>("usage");
    const entries = async () => (await read<{ readonly activity: readonly object[] }>("activity")).activity.length;
    const before = await entries();
    for (const method of ["PUT", "PATCH"]) {
      const answer = await send(method, "?dryRun=true", '{"enabled":true,"globalQuota":{"value":8,"units":"KiB"}}');
      expect(answer.status).toBe(200);
      const preview = (await answer.json()) as { readonly wouldEvict: Record<string, number> };
      expect(preview).toMatchObject({ enabled: true, globalQuota: { value: "8", units: "KiB" }, layerQuotas: [] });
      expect(preview.wouldEvict["bytesOnDisk"]).toBe(bytesOnDisk - 8192);
      expect(preview.wouldEvict["tiles"]).toBe(Math.ceil((total.tiles * (bytesOnDisk - 8192)) / bytesOnDisk));
      expect(preview.wouldEvict["bytes"]).toBeLessThan(total.bytes);
    }
    expect(JSON.stringify(await read("quota"))).toBe(DEFAULT);
    expect((await read<Usage>("usage")).total).toEqual(total);
    expect(await entries()).toBe(before);
  });

  test.each([
    ["?dryRun=yes", "{}", "root:root", 400, 'dryRun: expected true or false, got \\"yes\\"'],
    ["?dryrun=true", '{"enabled":true}', "root:root", 400, "dryrun: unknown field of the query, expected dryRun"],
    ["?dryRun=true", '{"globalQota":{}}', "root:root", 400, "globalQota: unknown field"],
    ["?dryRun=true", '{"globalQuota":{"value":"1e18"}}', "root:root", 400, "globalQuota: expected at most"],
    ["?dryRun=true", "{}", "op:op", 403, "forbidden"],
  ] as const)("%s with %s of %s is %i", async (query, body, credentials, status, words) => {
    const answer = await send("PUT", query, body, credentials);
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(words)]);
    expect(JSON.stringify(await read("quota"))).toBe(DEFAULT);
  });
});

describe("/api/v1/users and /api/v1/reload", () => {
  transcript(
    "accounts are listed with their roles and the place that names them",
    `
    > GET /api/v1/users
    > ${VIEWER}
    < 200 application/json
    <
    < {"users":[{"name":"root","roles":["admin"],"keptIn":"configuration"},{"name":"op","roles":["operator"],"keptIn":"configuration"},{"name":"view","roles":["viewer"],"keptIn":"configuration"}]}
    > PUT /api/v1/users
    > ${ADMIN}
    < 405 application/problem+json
    < Allow: GET, HEAD, POST, OPTIONS
    <
    < {any}
  `,
  );
  transcript(
    "a reload is for administrators",
    `
    > POST /api/v1/reload
    > ${OPERATOR}
    < 403 application/problem+json
    <
    < {any}
    > POST /api/v1/reload
    > ${ADMIN}
    < 200 application/json
    <
    < {"warnings":[{any}users[0]: the password of root is not hashed{any}]}
  `,
  );
  test("a reload of an invalid file answers with each problem and its place", async () => {
    const file = join(at().dataDir, "nuthatch.yaml");
    writeFileSync(file, `${CONFIGURATION}layerz: []\njobs: 1\n`);
    try {
      const answer = await fetch(`${at().url}/api/v1/reload`, {
        method: "POST",
        headers: { Authorization: ADMIN.replace("Authorization: ", "") },
      });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
      expect(JSON.parse(await answer.text())).toMatchObject({
        code: "bad_configuration",
        problems: [
          { line: 8, column: 1, path: "layerz", message: expect.stringContaining("did you mean layers") },
          { line: 9, column: 7, path: "jobs", value: "1" },
        ],
      });
    } finally {
      writeFileSync(file, CONFIGURATION);
    }
  });
});
