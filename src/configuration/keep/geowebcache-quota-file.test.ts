import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DEFAULT_QUOTA, type QuotaConfiguration } from "../../quota/configuration/quota-configuration.ts";
import { GeoWebCacheQuotaFile } from "./geowebcache-quota-file.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-quota-file-"));
afterAll(() => rmSync(directory, { recursive: true }));
const LAYERS = new Set(["a & b", "c"]);

const FILE = `<?xml version="1.0" encoding="utf-8"?>
<!-- ours -->
<gwcQuotaConfiguration>
  <enabled>false</enabled>
  <!-- not too often -->
  <cacheCleanUpFrequency>10</cacheCleanUpFrequency>
  <quotaStore>HSQL</quotaStore>
  <globalQuota><value>500</value><units>MiB</units></globalQuota>
</gwcQuotaConfiguration>
`;
const QUOTA: QuotaConfiguration = {
  ...DEFAULT_QUOTA,
  enabled: true,
  cacheCleanUpUnits: "MINUTES",
  globalQuota: { value: "1.50", units: "GiB" },
  layerQuotas: [{ layer: "a & b", expirationPolicyName: "LRU", quota: { value: "3", units: "MiB" } }],
};

/** Returns the quota in a file. */
function readBack(file: string): QuotaConfiguration {
  const read = new GeoWebCacheQuotaFile(file).read(LAYERS);
  if (read === undefined) throw new Error("the file has no quota");
  return read;
}

/** Returns a file after its first reading. */
function opened(file: string): GeoWebCacheQuotaFile {
  const quotaFile = new GeoWebCacheQuotaFile(file);
  quotaFile.read(LAYERS);
  return quotaFile;
}

test("a file that is there keeps its comments and its other elements", () => {
  const file = join(directory, "there.xml");
  writeFileSync(file, FILE);
  const written = opened(file);
  expect(written.write(QUOTA)).toEqual({ ok: true, value: null });
  expect(readBack(file)).toEqual(QUOTA);
  const text = readFileSync(file, "utf8");
  for (const part of [
    "<!-- ours -->",
    "  <!-- not too often -->",
    "  <quotaStore>HSQL</quotaStore>",
    "<layer>a &amp; b</layer>",
  ])
    expect(text).toContain(part);
  expect(existsSync(`${file}.new`)).toBe(false);
  // An unchanged field is not written. After a change back, the file differs from the original only by added fields.
  expect(written.write(QUOTA)).toEqual({ ok: true, value: null });
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(written.write(DEFAULT_QUOTA)).toEqual({ ok: true, value: null });
  expect(readBack(file)).toEqual(DEFAULT_QUOTA);
});

test.each([
  ["2", "PiB", { value: "2048", units: "TiB" }],
  ["1.5", "EiB", { value: "1572864", units: "TiB" }],
  ["0.0001", "ZiB", { value: "107374.1824", units: "TiB" }],
  ["3", "YiB", { value: "9223372036854775807", units: "B" }],
])("%s %s in a file is a quota in the units of the classic interface", (value, units, quota) => {
  const file = join(directory, `${units}-${value}.xml`);
  writeFileSync(
    file,
    FILE.replace("<value>500</value><units>MiB</units>", `<value>${value}</value><units>${units}</units>`),
  );
  expect(readBack(file).globalQuota).toEqual(quota);
  const before = readFileSync(file, "utf8");
  expect(opened(file).write(readBack(file))).toEqual({ ok: true, value: null });
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("an interval in milliseconds is read in seconds, rounded up, and both of its fields change together", () => {
  const file = join(directory, "milliseconds.xml");
  const interval = (frequency: number, units: string): string =>
    `<cacheCleanUpFrequency>${frequency}</cacheCleanUpFrequency><cacheCleanUpUnits>${units}</cacheCleanUpUnits>`;
  writeFileSync(
    file,
    FILE.replace("<cacheCleanUpFrequency>10</cacheCleanUpFrequency>", interval(1500, "MILLISECONDS")),
  );
  expect(readBack(file)).toMatchObject({ cacheCleanUpFrequency: 2, cacheCleanUpUnits: "SECONDS" });
  const quota = { ...readBack(file), cacheCleanUpFrequency: 20 };
  expect(opened(file).write(quota)).toEqual({ ok: true, value: null });
  expect(readBack(file)).toEqual(quota);
});

test("a file is made where there is none", () => {
  const file = join(directory, "new.xml");
  expect(opened(file).write(QUOTA).ok).toBe(true);
  expect(readBack(file)).toEqual(QUOTA);
  expect(readFileSync(file, "utf8")).toContain("\n  <globalQuota>\n    <value>1.50</value>\n    <units>GiB</units>\n");
});

test("a file that was edited, made or removed since it was read is not written", () => {
  const file = join(directory, "edited.xml");
  const quotaFile = opened(file);
  writeFileSync(file, FILE);
  expect(quotaFile.write(QUOTA)).toMatchObject({ ok: false, error: { code: "conflict" } });
  expect(readFileSync(file, "utf8")).toBe(FILE);
  expect(quotaFile.read(LAYERS)?.enabled).toBe(false);
  rmSync(file);
  expect(quotaFile.write(QUOTA).ok).toBe(false);
  quotaFile.read(LAYERS);
  expect(quotaFile.write(QUOTA).ok).toBe(true);
});

test("quotas of layers that do not exist are left out, as in GeoWebCache", () => {
  const file = join(directory, "unknown.xml");
  expect(opened(file).write(QUOTA).ok).toBe(true);
  expect(new GeoWebCacheQuotaFile(file).read(new Set())).toEqual({ ...QUOTA, layerQuotas: [] });
});

test("a file that cannot be read, or whose directory is away, is a conflict that says so", () => {
  const file = join(directory, "bad.xml");
  writeFileSync(file, "<gwcQuotaConfiguration><enabled>");
  const bad = opened(file);
  expect(JSON.stringify(bad.write(QUOTA))).toContain("cannot be read");
  expect(readFileSync(file, "utf8")).toBe("<gwcQuotaConfiguration><enabled>");
  const away = opened(join(directory, "no", "such.xml"));
  expect(JSON.stringify(away.write(QUOTA))).toContain("cannot be written");
});
