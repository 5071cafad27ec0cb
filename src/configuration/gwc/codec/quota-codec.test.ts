import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalMessage } from "../../../lib/refusal.ts";
import { MAX_QUOTA_BYTES, quotaBytes } from "../../../quota/configuration/quota-bytes.ts";
import { DEFAULT_QUOTA, type QuotaConfiguration } from "../../../quota/configuration/quota-configuration.ts";
import { decodeQuotaChange, encodeQuota } from "./quota-codec.ts";

const LAYERS = new Set(["topp:states", "a", "weiß & blau"]);
const text = (body: string, format: "xml" | "json" = body.trimStart().startsWith("<") ? "xml" : "json"): unknown => {
  const result = decodeQuotaChange(Buffer.from(body), format, LAYERS);
  if (result.ok) return result.value;
  return [refusalMessage(result.error), ...(result.error.details ?? [])].join("\n");
};
const change = (fields: string): unknown => {
  const result = decodeQuotaChange(Buffer.from(`{"cacheQuotaConfiguration":{${fields}}}`), "json", LAYERS);
  return result.ok ? result.value.change : refusalMessage(result.error);
};
const xmlChange = (fields: string): unknown => {
  const body = `<cacheQuotaConfiguration>${fields}</cacheQuotaConfiguration>`;
  const result = decodeQuotaChange(Buffer.from(body), "xml", LAYERS);
  return result.ok ? result.value.change : refusalMessage(result.error);
};

describe("what real clients send", () => {
  test("C08, maxConcurrentCleanUps of -1", () => {
    expect(
      text("<gwcQuotaConfiguration><maxConcurrentCleanUps>-1</maxConcurrentCleanUps></gwcQuotaConfiguration>"),
    ).toBe("maxConcurrentCleanUps shall be a positive integer: -1");
  });

  test("C09, JSON that a shell took the quotes of", () => {
    expect(text("{gwcQuotaConfiguration:{globalQuota:{value:100,units:ZZiB}}}")).toBe(
      [
        "No enum constant StorageUnit.ZZiB",
        "path: /gwcQuotaConfiguration/globalQuota/units (line 1, column 54)",
        'value: "ZZiB"',
        "allowed: B, KiB, MiB, GiB, TiB",
      ].join("\n"),
    );
    expect(text("{gwcQuotaConfiguration:{globalQuota:{value:100,units:MiB}}}")).toEqual({
      root: "gwcQuotaConfiguration",
      change: { globalQuota: { value: "100", units: "MiB" } },
    });
    expect(text("{gwcQuotaConfiguration:{globalQuota:{value:100,units:MiB}}")).toMatch(
      /^Expected a cacheQuotaConfiguration document as JSON, got the end where a comma or "}" belongs/,
    );
  });

  test("C10, enabled and a quota", () => {
    const body =
      "<gwcQuotaConfiguration><enabled>true</enabled><globalQuota><value>100</value><units>GiB</units></globalQuota></gwcQuotaConfiguration>";
    expect(text(body)).toEqual({
      root: "gwcQuotaConfiguration",
      change: { enabled: true, globalQuota: { value: "100", units: "GiB" } },
    });
  });

  test("C19 and C25, GWC's real root and its bytes", () => {
    const body =
      '{"org.geowebcache.diskquota.DiskQuotaConfig":{"enabled":false,"cacheCleanUpFrequency":10,"cacheCleanUpUnits":"SECONDS","maxConcurrentCleanUps":2,"globalExpirationPolicyName":"LFU","globalQuota":{"id":0,"bytes":524288000}}}';
    expect(text(body)).toEqual({
      root: "org.geowebcache.diskquota.DiskQuotaConfig",
      change: {
        enabled: false,
        cacheCleanUpFrequency: 10,
        cacheCleanUpUnits: "SECONDS",
        maxConcurrentCleanUps: 2,
        globalExpirationPolicyName: "LFU",
        globalQuota: { value: "524288000", units: "B" },
      },
    });
  });
});

describe("fields", () => {
  test.each([
    ["1.50", "1.50"],
    ['"1.50"', "1.50"],
    ["1e3", "1000"],
    ["1.25e1", "12.5"],
    ["12.5E-1", "1.25"],
    ["5e-3", "0.005"],
    ["0e5", "0"],
    ["0", "0"],
    ['" 7 "', "7"],
    ['".5"', "0.5"],
    ['"+5."', "5"],
    ["9223372036854775807", "9223372036854775807"],
  ])("a value of %s is stored as %s", (given, value) => {
    expect(change(`"globalQuota":{"units":"B","value":${given}}`)).toEqual({ globalQuota: { value, units: "B" } });
  });

  test.each([
    "-1",
    "-0",
    '"NaN"',
    '"Infinity"',
    '""',
    '"0x10"',
    '"abc"',
    "true",
    "{}",
    "[1,2]",
    "1e999999999",
    "1e-999999999",
    '"1,5"',
    '"1 2"',
  ])("a value of %s is refused", (given) => {
    expect(change(`"globalQuota":{"value":${given},"units":"MiB"}`)).toMatch(/^globalQuota\.value: .*\(line 1/);
  });

  test.each(["enabled", "maxConcurrentCleanUps", "cacheCleanUpUnits", "globalQuota"])(
    "an empty list for %s",
    (name) => {
      expect(change(`"${name}":[]`)).toMatch(new RegExp(`^${name}: expected one value, got a list`));
    },
  );

  test("an empty list for a value alone is not taken for bytes left out", () => {
    expect(change('"globalQuota":{"value":[]}')).toMatch(/^globalQuota\.value: expected one value, got a list/);
  });

  test("half a megabyte of digits is refused at once", { timeout: 30_000 }, () => {
    expect(change(`"globalQuota":{"value":"${"1".repeat(500_000)}x"}`)).toMatch(/^globalQuota\.value: expected/);
  });

  test("a quota beyond 2^63 - 1 bytes is refused", () => {
    expect(change('"globalQuota":{"value":9223372036854775808,"units":"B"}')).toMatch(/^globalQuota: expected at most/);
    expect(change('"globalQuota":{"value":8388608,"units":"TiB"}')).toMatch(/^globalQuota: expected at most/);
    expect(change('"globalQuota":{"value":8388607,"units":"TiB"}')).toEqual({
      globalQuota: { value: "8388607", units: "TiB" },
    });
  });

  test("value and units come in any order, or alone", () => {
    expect(xmlChange("<globalQuota><units>TiB</units><value>1</value></globalQuota>")).toEqual({
      globalQuota: { value: "1", units: "TiB" },
    });
    expect(change('"globalQuota":{"value":7}')).toEqual({ globalQuota: { value: "7" } });
    expect(change('"globalQuota":{"units":"KiB"}')).toEqual({ globalQuota: { units: "KiB" } });
    expect(change('"globalQuota":{"units":"KiB","value":null}')).toEqual({ globalQuota: { units: "KiB" } });
    expect(change('"globalQuota":null')).toEqual({});
    expect(change('"globalQuota":100')).toMatch(/^globalQuota: expected fields/);
    expect(change('"globalQuota":{"Value":7}')).toMatch(/^globalQuota\.Value: unknown field, expected value/);
    expect(change('"globalQuota":{"bytes":"1.5"}')).toMatch(/^globalQuota\.bytes: expected a whole number/);
    expect(change('"globalQuota":{"bytes":0,"value":1,"units":"GiB"}')).toEqual({
      globalQuota: { value: "1", units: "GiB" },
    });
  });

  test.each([
    ["cacheCleanUpUnits", "WEEKS", "No enum constant TimeUnit.WEEKS", "SECONDS, MINUTES, HOURS, DAYS"],
    ["globalExpirationPolicyName", "FIFO", "No enum constant ExpirationPolicy.FIFO", "LRU, LFU"],
  ])("%s of %s is refused in GWC's words", (name, value, first, allowed) => {
    expect(text(`<cacheQuotaConfiguration><${name}>${value}</${name}></cacheQuotaConfiguration>`)).toBe(
      `${first}\npath: /cacheQuotaConfiguration/${name} (line 1, column 26)\nvalue: "${value}"\nallowed: ${allowed}`,
    );
  });

  test("units of clean-up and policies do not care for case, storage units do", () => {
    expect(change('"cacheCleanUpUnits":"minutes","globalExpirationPolicyName":" lru "')).toEqual({
      cacheCleanUpUnits: "MINUTES",
      globalExpirationPolicyName: "LRU",
    });
    expect(change('"globalQuota":{"units":"mib"}')).toBe("No enum constant StorageUnit.mib");
  });

  test("a hostile constant does not break the first line", () => {
    expect(change(JSON.stringify({ globalQuota: { units: "a\nb" } }).slice(1, -1))).toBe(
      'No enum constant StorageUnit."a\\nb"',
    );
    expect(String(change(`"globalQuota":{"units":"${"x".repeat(9999)}"}`)).length).toBeLessThan(300);
  });

  test.each(["0", "-1", "1.0", "1e1", '"x"', '""', "true"])(
    "maxConcurrentCleanUps and cacheCleanUpFrequency of %s are refused",
    (value) => {
      const shown = value === '""' ? '""' : value.replaceAll('"', "");
      for (const name of ["maxConcurrentCleanUps", "cacheCleanUpFrequency"]) {
        expect(change(`"${name}":${value}`)).toBe(`${name} shall be a positive integer: ${shown}`);
      }
    },
  );

  test("a positive integer is accepted exactly, or refused with the bound that it passes", () => {
    for (const name of ["maxConcurrentCleanUps", "cacheCleanUpFrequency"]) {
      expect(change(`"${name}":9007199254740991`)).toEqual({ [name]: Number.MAX_SAFE_INTEGER });
      for (const value of ["9007199254740992", "9007199254740993", "99999999999999999999"])
        expect(change(`"${name}":${value}`)).toBe(
          `${name} shall be a positive integer of at most 9007199254740991: ${value}`,
        );
    }
  });

  test("enabled is true or false in any case, and nothing else", () => {
    expect(change('"enabled":true')).toEqual({ enabled: true });
    expect(change('"enabled":"False"')).toEqual({ enabled: false });
    expect(xmlChange("<enabled> TRUE </enabled>")).toEqual({ enabled: true });
    for (const value of ["1", '"yes"', '""', "{}", '"maybe"']) {
      expect(change(`"enabled":${value}`)).toMatch(/^enabled: expected true or false, got/);
    }
  });

  test("null is absent, unknown fields are ignored, an empty document changes nothing", () => {
    expect(change('"enabled":null,"maxConcurrentCleanUps":null,"quotaStore":"BDB","diskBlockSize":4096')).toEqual({});
    expect(text("<gwcQuotaConfiguration/>")).toEqual({ root: "gwcQuotaConfiguration", change: {} });
  });

  test("a name in another case, or twice, is refused", () => {
    expect(change('"Enabled":true')).toMatch(/^Enabled: unknown field, expected enabled/);
    expect(xmlChange("<enabled>true</enabled><enabled>true</enabled>")).toMatch(/^enabled: given more than once/);
  });
});

describe("layerQuotas", () => {
  const entry = { layer: "a", expirationPolicyName: "LRU", quota: { value: "1.5", units: "GiB" } };
  const json = JSON.stringify({ ...entry, quota: { value: 1.5, units: "GiB" } });
  const xml =
    "<LayerQuota><layer>a</layer><expirationPolicyName>lru</expirationPolicyName><quota><value>1.5</value><units>GiB</units></quota></LayerQuota>";

  test.each([[`[${json}]`], [`{"LayerQuota":[${json}]}`], [`{"LayerQuota":${json}}`], [json]])(
    "JSON in the form %s becomes the quotas of layers",
    (value) => {
      expect(change(`"layerQuotas":${value}`)).toEqual({ layerQuotas: [entry] });
    },
  );

  test("entries in XML become the quotas of layers", () => {
    expect(xmlChange(`<layerQuotas>\n${xml}\n</layerQuotas>`)).toEqual({ layerQuotas: [entry] });
  });

  test("an empty list clears, null does not", () => {
    for (const value of ["[]", "{}", '""', '{"LayerQuota":[]}']) {
      expect(change(`"layerQuotas":${value}`)).toEqual({ layerQuotas: [] });
    }
    expect(xmlChange("<layerQuotas/>")).toEqual({ layerQuotas: [] });
    expect(change('"layerQuotas":null')).toEqual({});
  });

  test("an unknown layer has its own code and words", () => {
    const body = `{"cacheQuotaConfiguration":{"layerQuotas":[${json.replace('"a"', '"no such"')}]}}`;
    expect(decodeQuotaChange(Buffer.from(body), "json", LAYERS)).toEqual({
      ok: false,
      error: { code: "unknown_layer", message: "Unknown layer: no such" },
    });
  });

  test.each([
    [`[${json},${json}]`, /^layerQuotas: expected each layer once, got "a" again/],
    ["[null]", /^layerQuotas\.LayerQuota\[1\]: expected fields/],
    [
      "[{}]",
      /^layerQuotas\.LayerQuota\[1\]: expected .* without layer, expirationPolicyName, quota.value, quota.units/,
    ],
    ['[{"layer":"a","expirationPolicyName":"LRU"}]', /without quota.value, quota.units \(line 1/],
    ['[{"layer":"a","expirationPolicyName":"LRU","quota":{"value":1}}]', /without quota.units/],
    ['[{"layer":"a","quota":{"value":1,"units":"B"}}]', /without expirationPolicyName/],
    [
      '[{"layer":"a","expirationPolicyName":"FIFO","quota":{"value":1,"units":"B"}}]',
      /^No enum constant ExpirationPolicy.FIFO/,
    ],
    ['[{"Layer":"a"}]', /^layerQuotas\.LayerQuota\[1\]\.Layer: unknown field, expected layer/],
    ['{"layerQuota":[]}', /^layerQuotas\.layerQuota: unknown field, expected LayerQuota/],
    ['{"other":1}', /^layerQuotas: expected LayerQuota entries/],
    ['"a"', /^layerQuotas: expected LayerQuota entries/],
    ["5", /^layerQuotas: expected LayerQuota entries/],
  ])("%s is refused", (value, message) => {
    expect(change(`"layerQuotas":${value}`)).toMatch(message);
  });

  test("layerQuotas given twice are refused", () => {
    expect(xmlChange("<layerQuotas/><layerQuotas/>")).toMatch(/^layerQuotas: given more than once/);
  });
});

test.each([
  ["", "xml", "Expected a cacheQuotaConfiguration document as XML, got an empty body"],
  ["<cacheQuotaConfiguration/>", "json", "Expected a cacheQuotaConfiguration document as JSON, got XML"],
  ['{"cacheQuotaConfiguration":{}}', "xml", "Expected a cacheQuotaConfiguration document as XML, got JSON"],
  [
    "<cacheQuotaConfiguration>",
    "xml",
    "Expected a cacheQuotaConfiguration document as XML, got unclosed tag: cacheQuotaConfiguration (line 1, column 25)",
  ],
  [
    "<quota/>",
    "xml",
    'Expected a cacheQuotaConfiguration document as XML, whose root is cacheQuotaConfiguration or gwcQuotaConfiguration or org.geowebcache.diskquota.DiskQuotaConfig, got the root "quota" (line 1, column 1)',
  ],
] as const)("%j on .%s is refused", (body, format, message) => {
  expect(text(body, format)).toBe(message);
});

describe("answers", () => {
  const full: QuotaConfiguration = {
    ...DEFAULT_QUOTA,
    enabled: true,
    layerQuotas: [{ layer: "weiß & blau", expirationPolicyName: "LRU", quota: { value: "1.50", units: "GiB" } }],
  };

  test("the defaults in JSON, byte for byte", () => {
    expect(encodeQuota(DEFAULT_QUOTA, "json", "cacheQuotaConfiguration", "value-units")).toBe(
      '{"cacheQuotaConfiguration":{"enabled":false,"cacheCleanUpFrequency":10,"cacheCleanUpUnits":"SECONDS","maxConcurrentCleanUps":2,"globalExpirationPolicyName":"LFU","globalQuota":{"value":"500","units":"MiB"},"layerQuotas":[]}}',
    );
  });

  test("the defaults in XML, byte for byte", () => {
    expect(encodeQuota(DEFAULT_QUOTA, "xml", "gwcQuotaConfiguration", "value-units")).toBe(
      "<gwcQuotaConfiguration><enabled>false</enabled><cacheCleanUpFrequency>10</cacheCleanUpFrequency><cacheCleanUpUnits>SECONDS</cacheCleanUpUnits><maxConcurrentCleanUps>2</maxConcurrentCleanUps><globalExpirationPolicyName>LFU</globalExpirationPolicyName><globalQuota><value>500</value><units>MiB</units></globalQuota><layerQuotas/></gwcQuotaConfiguration>",
    );
  });

  test("layer quotas, escaped, in ASCII", () => {
    expect(encodeQuota(full, "json", "cacheQuotaConfiguration", "value-units")).toContain(
      '"layerQuotas":[{"layer":"wei\\u00df & blau","expirationPolicyName":"LRU","quota":{"value":"1.50","units":"GiB"}}]}}',
    );
    expect(encodeQuota(full, "xml", "cacheQuotaConfiguration", "value-units")).toContain(
      "<layerQuotas><LayerQuota><layer>wei&#223; &amp; blau</layer><expirationPolicyName>LRU</expirationPolicyName><quota><value>1.50</value><units>GiB</units></quota></LayerQuota></layerQuotas>",
    );
  });

  test("C47, a size is shown in bytes", () => {
    const config: QuotaConfiguration = { ...full, globalQuota: { value: "750", units: "MiB" } };
    const root = "org.geowebcache.diskquota.DiskQuotaConfig";
    expect(encodeQuota(config, "json", root, "bytes")).toContain('"globalQuota":{"id":0,"bytes":786432000}');
    expect(encodeQuota(config, "xml", root, "bytes")).toContain(
      "<globalQuota><id>0</id><bytes>786432000</bytes></globalQuota>",
    );
  });
});

const units = fc.constantFrom("B" as const, "KiB" as const, "MiB" as const, "GiB" as const, "TiB" as const);
const quota = fc
  .record({ value: fc.stringMatching(/^[0-9]{1,25}(\.[0-9]{1,20})?$/), units })
  .filter((q) => quotaBytes(q) <= MAX_QUOTA_BYTES);
const policy = fc.constantFrom("LRU" as const, "LFU" as const);
const positive = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const configuration: fc.Arbitrary<QuotaConfiguration> = fc.record({
  enabled: fc.boolean(),
  cacheCleanUpFrequency: positive,
  cacheCleanUpUnits: fc.constantFrom("SECONDS", "MINUTES", "HOURS", "DAYS"),
  maxConcurrentCleanUps: positive,
  globalExpirationPolicyName: policy,
  globalQuota: quota,
  layerQuotas: fc.uniqueArray(fc.record({ layer: fc.constantFrom(...LAYERS), expirationPolicyName: policy, quota }), {
    selector: (l) => l.layer,
  }),
});

test("every configuration can be put back as it was got, in every form", () => {
  const roots = fc.constantFrom(
    "cacheQuotaConfiguration" as const,
    "gwcQuotaConfiguration" as const,
    "org.geowebcache.diskquota.DiskQuotaConfig" as const,
  );
  fc.assert(
    fc.property(configuration, roots, fc.constantFrom("xml" as const, "json" as const), (config, root, format) => {
      const sent = encodeQuota(config, format, root, "value-units");
      expect(sent).toMatch(/^[ -~]*$/);
      expect(decodeQuotaChange(Buffer.from(sent), format, LAYERS)).toEqual({
        ok: true,
        value: { root, change: config },
      });
      const inBytes = decodeQuotaChange(Buffer.from(encodeQuota(config, format, root, "bytes")), format, LAYERS);
      expect(inBytes.ok && inBytes.value.change.globalQuota).toEqual({
        value: String(quotaBytes(config.globalQuota)),
        units: "B",
      });
    }),
  );
});

test("no bytes make it throw", () => {
  const start = fc.constantFrom(
    "",
    "<cacheQuotaConfiguration>",
    "{cacheQuotaConfiguration:{",
    "{gwcQuotaConfiguration:{layerQuotas:[",
  );
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 200 }), (head, tail) => {
      const body = Buffer.concat([Buffer.from(head), tail]);
      expect(typeof decodeQuotaChange(body, "xml", LAYERS).ok).toBe("boolean");
      expect(typeof decodeQuotaChange(body, "json", LAYERS).ok).toBe("boolean");
    }),
  );
});
