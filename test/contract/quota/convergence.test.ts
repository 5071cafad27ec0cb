import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";

/* Declarative tools: a PUT of the document from a GET changes nothing, and the result of concurrent PUTs equals their result in one order. */

const ROOTS = [
  "cacheQuotaConfiguration",
  "gwcQuotaConfiguration",
  "org.geowebcache.diskquota.DiskQuotaConfig",
] as const;
const FORMS = ["value-units", "bytes"] as const;
const layers = `layers:
  - { name: "ws:roads", source: { type: wms, url: "http://127.0.0.1:9/wms" } }
  - { name: "b & c", source: { type: wms, url: "http://127.0.0.1:9/wms" } }
`;

let server: TestServer;
const servers = new Map<string, TestServer>();
beforeAll(async () => {
  for (const root of ROOTS) {
    for (const form of FORMS) {
      const configuration = `${layers}compat: { quotaRoot: ${root}, quotaForm: ${form} }\n`;
      servers.set(`${root} ${form}`, await startServer({ configuration }));
    }
  }
  const first = servers.get(`${ROOTS[0]} value-units`);
  if (first === undefined) throw new Error("no server");
  server = first;
});
afterAll(async () => {
  for (const one of servers.values()) await one.close();
});

type Format = "json" | "xml";
const types = { json: "application/json", xml: "text/xml" } as const;
const address = (at: TestServer, format: Format) => `${at.url}/rest/diskquota.${format}`;

async function get(at: TestServer, format: Format): Promise<string> {
  const response = await fetch(address(at, format));
  expect(response.status).toBe(200);
  return response.text();
}

async function put(at: TestServer, format: Format, body: string): Promise<string> {
  const response = await fetch(address(at, format), {
    method: "PUT",
    headers: { "Content-Type": types[format] },
    body,
  });
  const text = await response.text();
  expect([response.status, response.status === 200 ? "" : text]).toEqual([200, ""]);
  return text;
}

const units = fc.constantFrom("B", "KiB", "MiB", "GiB", "TiB");
const value = fc.constantFrom("0", "1", "20", "1.50", "500", "0.125", "1024", "3.0");
const policy = fc.constantFrom("LRU", "LFU");
const configuration = fc.record({
  enabled: fc.boolean(),
  cacheCleanUpFrequency: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  cacheCleanUpUnits: fc.constantFrom("SECONDS", "MINUTES", "HOURS", "DAYS"),
  maxConcurrentCleanUps: fc.integer({ min: 1, max: 1000 }),
  globalExpirationPolicyName: policy,
  globalQuota: fc.record({ value, units }),
  layerQuotas: fc.uniqueArray(
    fc.record({
      layer: fc.constantFrom("ws:roads", "b & c"),
      expirationPolicyName: policy,
      quota: fc.record({ value, units }),
    }),
    { selector: (quota) => quota.layer, maxLength: 2 },
  ),
});

test("GET, PUT of the answer, GET: the same in both formats, with every root and form", async () => {
  await fc.assert(
    fc.asyncProperty(
      configuration,
      fc.constantFrom(...servers.values()),
      fc.constantFrom("json" as const, "xml" as const),
      async (wanted, at, format) => {
        await put(at, "json", JSON.stringify({ gwcQuotaConfiguration: wanted }));
        const before = { json: await get(at, "json"), xml: await get(at, "xml") };
        const answer = await put(at, format, before[format]);
        expect(answer, "the answer to the PUT is the GET's").toBe(before[format]);
        expect({ json: await get(at, "json"), xml: await get(at, "xml") }).toEqual(before);
      },
    ),
    { numRuns: 60 },
  );
});

test("the root of a PUT is the root of its answer, and its fields are stored whatever the root", async () => {
  for (const root of ROOTS) {
    for (const format of ["json", "xml"] as const) {
      const got = await get(server, format);
      const answer = await put(server, format, got.replaceAll(ROOTS[0], root));
      expect(answer).toBe(got.replaceAll(ROOTS[0], root));
      expect(await get(server, format)).toBe(got);
    }
  }
});

test("a hundred partial PUTs at once end as one of their orders, and each answer is whole", async () => {
  const before: { cacheQuotaConfiguration: Record<string, unknown> } = JSON.parse(await get(server, "json"));
  const fields: readonly ((n: number) => Record<string, unknown>)[] = [
    (n) => ({ cacheCleanUpFrequency: 1000 + n, cacheCleanUpUnits: n % 2 === 0 ? "MINUTES" : "HOURS" }),
    (n) => ({ globalQuota: { value: String(2000 + n), units: n % 2 === 0 ? "MiB" : "KiB" } }),
    (n) => ({ maxConcurrentCleanUps: 1 + n, globalExpirationPolicyName: n % 2 === 0 ? "LRU" : "LFU" }),
    (n) => ({
      layerQuotas: ["ws:roads", "b & c"].map((layer) => ({
        layer,
        expirationPolicyName: "LRU",
        quota: { value: String(n), units: "MiB" },
      })),
    }),
  ];
  const puts = Array.from({ length: 100 }, (_, n) => fields[n % fields.length]?.(n) ?? {});
  const answers = await Promise.all(
    puts.map(async (change) =>
      JSON.parse(await put(server, "json", JSON.stringify({ cacheQuotaConfiguration: change }))),
    ),
  );
  const last: typeof before = JSON.parse(await get(server, "json"));
  for (const [n, answer] of answers.entries())
    expect(answer.cacheQuotaConfiguration, `answer ${n}`).toMatchObject(puts[n] ?? {});
  /** All fields that one PUT sets come from the same PUT, the last of its kind. */
  for (let kind = 0; kind < fields.length; kind++) {
    const candidates = puts.filter((_, n) => n % fields.length === kind);
    for (const whole of [last, ...answers]) {
      const matches = [before.cacheQuotaConfiguration, ...candidates].some((candidate) =>
        Object.keys(candidates[0] ?? {}).every(
          (key) => JSON.stringify(whole.cacheQuotaConfiguration[key]) === JSON.stringify(candidate[key]),
        ),
      );
      expect(matches, JSON.stringify(whole)).toBe(true);
    }
  }
  const restarted = await server.restart("SIGKILL");
  servers.set(`${ROOTS[0]} value-units`, restarted);
  server = restarted;
  expect(JSON.parse(await get(server, "json"))).toEqual(last);
});
