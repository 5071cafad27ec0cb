import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DocumentFormat } from "../../body/document.ts";
import { refusalMessage } from "../../lib/refusal.ts";
import { asciiJson, escapeXml } from "../../lib/text/escape.ts";
import type { SeedRequest } from "../../plan/seed-request.ts";
import { decodeSeedForm, decodeSeedRequest, isSeedForm, looksLikeSeedRequest } from "./seed-request-codec.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const none: ReadonlyMap<string, string> = new Map();

/** Returns the decoded request, or the message of its refusal. */
const decoded = (body: string): unknown => {
  const result = decodeSeedRequest(bytes(body));
  return result.ok ? result.value : refusalMessage(result.error);
};
const xml = (fields: string): unknown => decoded(`<seedRequest>${fields}</seedRequest>`);
const json = (fields: string): unknown => decoded(`{"seedRequest":{${fields}}}`);

describe("what real clients send", () => {
  test("C01, the contract's XML", () => {
    const body =
      "<seedRequest><name>nurc:Arc_Sample</name><srs><number>4326</number></srs><zoomStart>1</zoomStart><zoomStop>12</zoomStop><format>image/png</format><type>truncate</type><threadCount>2</threadCount></seedRequest>";
    const expected = {
      type: "truncate",
      srs: 4326,
      zoomStart: 1,
      zoomStop: 12,
      format: "image/png",
      threadCount: 2,
      parameters: none,
    };
    expect(decoded(body)).toEqual(expected);
    expect(decoded(body)).toEqual(expected);
  });

  test("C02, the documentation's JSON with single quotes and one brace too many", () => {
    const body =
      "{'seedRequest':{'name':'topp:states','bounds':{'coords':{ 'double':['-124.0','22.0','66.0','72.0']}},'srs':{'number':4326},'zoomStart':1,'zoomStop':12,'format':'image\\/png','type':'truncate','threadCount':4}}}";
    expect(decoded(body)).toEqual({
      type: "truncate",
      bounds: { minX: -124, minY: 22, maxX: 66, maxY: 72 },
      srs: 4326,
      zoomStart: 1,
      zoomStop: 12,
      format: "image/png",
      threadCount: 4,
      parameters: none,
    });
  });

  test("C03, XML with declaration, comments, bounds and parameters", () => {
    const body = `<?xml version="1.0" encoding="UTF-8"?>
<seedRequest>
  <name>topp:states</name>
  <!-- the area -->
  <bounds>
    <coords>
      <double>-2495667.977678598</double>
      <double>-2223677.196231552</double>
      <double>3291070.6104286816</double>
      <double>959189.3312465074</double>
    </coords>
  </bounds>
  <gridSetId>EPSG:2163</gridSetId>
  <zoomStart>0</zoomStart>
  <zoomStop>2</zoomStop>
  <format>image/png</format>
  <type>reseed</type>
  <threadCount>1</threadCount>
  <parameters>
    <entry>
      <string>STYLES</string>
      <string>pophatch</string>
    </entry>
    <entry>
      <string>CQL_FILTER</string>
      <string>TOTPOP &gt; 10000</string>
    </entry>
  </parameters>
</seedRequest>
`;
    expect(decoded(body)).toEqual({
      type: "reseed",
      bounds: { minX: -2495667.977678598, minY: -2223677.196231552, maxX: 3291070.6104286816, maxY: 959189.3312465074 },
      gridSet: "EPSG:2163",
      zoomStart: 0,
      zoomStop: 2,
      format: "image/png",
      threadCount: 1,
      parameters: new Map([
        ["STYLES", "pophatch"],
        ["CQL_FILTER", "TOTPOP > 10000"],
      ]),
    });
  });

  test("C11, CDATA everywhere, another order, and an empty parameters", () => {
    const body =
      "<seedRequest><type><![CDATA[reseed]]></type><name><![CDATA[ws:layer]]></name><gridSetId><![CDATA[EPSG:900913]]></gridSetId><zoomStart><![CDATA[0]]></zoomStart><zoomStop><![CDATA[4]]></zoomStop><threadCount><![CDATA[32]]></threadCount><format><![CDATA[image/png]]></format><parameters><![CDATA[]]></parameters></seedRequest>";
    expect(decoded(body)).toEqual({
      type: "reseed",
      gridSet: "EPSG:900913",
      zoomStart: 0,
      zoomStop: 4,
      threadCount: 32,
      format: "image/png",
      parameters: none,
    });
  });

  test("C15, bounds in another order are not judged here", () => {
    const doubles = [0, 100, 0, 100].map((n) => `<double>${n}</double>`).join("");
    expect(xml(`<bounds><coords>${doubles}</coords></bounds>`)).toMatchObject({
      bounds: { minX: 0, minY: 100, maxX: 0, maxY: 100 },
    });
  });

  test("C29, a truncate of nothing but a name and a type", () => {
    expect(decoded('{"seedRequest": {"name": "ws:layer", "type": "truncate"}}')).toEqual({
      type: "truncate",
      parameters: none,
    });
  });

  test("C37, numbers as strings and a single entry", () => {
    const body =
      "{'seedRequest':{'name':'topp:states','srs':{'number':4326},'zoomStart':'0','zoomStop':'3','format':'image\\/png8','type':'seed','threadCount':'2','parameters':{'entry':{'string':['STYLES', 'pophatch']}}}}";
    expect(decoded(body)).toEqual({
      type: "seed",
      srs: 4326,
      zoomStart: 0,
      zoomStop: 3,
      format: "image/png8",
      threadCount: 2,
      parameters: new Map([["STYLES", "pophatch"]]),
    });
  });

  test("C49, only an srs", () => {
    expect(xml("<srs><number>900913</number></srs>")).toEqual({ type: "seed", srs: 900913, parameters: none });
  });
});

describe("fields", () => {
  test.each([
    ["<enumType>TRUNCATE</enumType>", "truncate"],
    ["<enumType>reseed</enumType><type>RESEED</type>", "reseed"],
  ])("%s is the type, as GeoWebCache reads it", (field, type) => {
    expect(xml(field)).toEqual({ type, parameters: none });
  });

  test.each([
    ["<enumType>UNSET</enumType>", "enumType: expected seed, reseed or truncate, got"],
    [
      "<type>seed</type><enumType>TRUNCATE</enumType>",
      'enumType: expected the same as type (seed), or one of the two alone, got "truncate"',
    ],
  ])("%s is refused", (field, message) => {
    expect(xml(field)).toContain(message);
  });

  test.each([
    ["<srs>4326</srs>", 4326],
    ["<srs>EPSG:4326</srs>", 4326],
    ["<srs>\n epsg:4326 </srs>", 4326],
    ["<srs><number> 4326 </number></srs>", 4326],
    ["<srs><number>0</number></srs>", undefined],
    ["<srs/>", undefined],
    ["<srs></srs>", undefined],
    ["<srs>0</srs>", undefined],
  ])("%s is srs %s, in XML", (field, srs) => {
    expect(xml(field)).toEqual({ type: "seed", parameters: none, ...(srs === undefined ? {} : { srs }) });
  });

  test.each([
    ['"srs":4326', 4326],
    ['"srs":"EPSG:4326"', 4326],
    ["srs:EPSG:4326", 4326],
    ['"srs":{"number":"4326"}', 4326],
    ['"srs":{"number":0}', undefined],
    ['"srs":null', undefined],
    ['"srs":{}', undefined],
  ])("%s is srs %s, in JSON", (field, srs) => {
    expect(json(field)).toEqual({ type: "seed", parameters: none, ...(srs === undefined ? {} : { srs }) });
  });

  test.each([
    ['"coords":{"double":["1","2","3","4.5"]}'],
    ['"coords":{"double":[1,2,3,4.5]}'],
    ['"coords":[1,"2",3.0,45e-1]'],
    ['"coords":{"double":[" 1 ","+2","3.","4.5"]}'],
  ])("bounds {%s}", (coords) => {
    expect(json(`"bounds":{${coords}}`)).toMatchObject({ bounds: { minX: 1, minY: 2, maxX: 3, maxY: 4.5 } });
  });

  test.each([
    ['"bounds":{}'],
    ['"bounds":""'],
    ['"bounds":{"coords":{}}'],
    ['"bounds":{"coords":{"double":[1,2,3]}}'],
    ['"bounds":{"coords":{"double":[1,2,3,4,5]}}'],
    ['"bounds":{"coords":{"double":[1,2,3,null]}}'],
    ['"bounds":{"coords":{"double":[1,2,3,"x"]}}'],
    ['"bounds":{"coords":{"double":[1,2,3,"NaN"]}}'],
    ['"bounds":{"coords":{"double":[1,2,3,1e999]}}'],
    ['"bounds":{"coords":{"double":[1,2,3,"0x10"]}}'],
    ['"bounds":{"coords":{"double":"1,2,3,4"}}'],
    ['"bounds":{"coords":[1,2,3]}'],
    ['"bounds":{"coords":"1,2,3,4"}'],
    ['"bounds":"1,2,3,4"'],
    ['"bounds":[1,2,3,4]'],
    ['"bounds":{"Coords":[1,2,3,4]}'],
    ['"bounds":{"coords":{"Double":[1,2,3,4]}}'],
  ])("%s is refused, naming bounds", (field) => {
    expect(json(field)).toMatch(/^bounds.*\(line 1, column \d+\)$/);
  });

  test.each([
    ["12", 12],
    [" 7\n", 7],
    ["010", 10],
    ["+3", 3],
    ["-1", -1],
    ["-0", 0],
  ])("zoomStart %j is %d", (text, zoomStart) => {
    expect(xml(`<zoomStart>${text}</zoomStart>`)).toEqual({ type: "seed", zoomStart, parameters: none });
  });

  test.each(["0x10", "1.5", "1.0", "1e1", "", "x", "1 2", "9007199254740993", "true", "<a/>", "١"])(
    "zoomStart %j is refused with its place",
    (text) => {
      expect(xml(`<zoomStart>${text}</zoomStart>`)).toMatch(
        /^zoomStart: expected a whole number, got .* \(line 1, column 14\)$/,
      );
    },
  );

  test("JSON refuses the same, and a boolean, an empty string and an object", () => {
    expect(json('"zoomStop":1.0')).toBe('zoomStop: expected a whole number, got "1.0" (line 1, column 28)');
    expect(json('"zoomStop":true')).toMatch(/^zoomStop: expected a whole number, got "true"/);
    expect(json('"zoomStop":""')).toMatch(/^zoomStop: expected a whole number, got ""/);
    expect(json('"zoomStop":{"a":1}')).toMatch(/^zoomStop: expected a whole number, got fields/);
    expect(json('"zoomStop":[1,2]')).toMatch(/^zoomStop: given more than once/);
    expect(json('"zoomStop":null')).toEqual({ type: "seed", parameters: none });
  });

  test("a list of one is that one, an empty list is not nothing", () => {
    expect(json('"zoomStop":["4"]')).toMatchObject({ zoomStop: 4 });
    for (const field of ["zoomStop", "bounds", "gridSetId", "srs", "type"]) {
      expect(json(`"${field}":[]`)).toBe(
        `${field}: expected one value, got a list (line 1, column ${20 + field.length})`,
      );
      expect(json(`"${field}":[null]`)).toMatch(`${field}: expected one value, got a list`);
    }
  });

  test("a zoomStop is reduced however large it is", () => {
    expect(xml(`<zoomStop>${"9".repeat(20)}</zoomStop>`)).toMatchObject({ zoomStop: Number.MAX_SAFE_INTEGER });
  });

  test("an empty text is as none, but an empty type is no type", () => {
    expect(xml("<gridSetId/><format></format>")).toEqual({ type: "seed", parameters: none });
    expect(xml("<type> </type>")).toBe('type: expected seed, reseed or truncate, got " " (line 1, column 14)');
  });

  test("the type does not care for case, and an unknown one names the three", () => {
    expect(xml("<type>TRUNCATE</type>")).toMatchObject({ type: "truncate" });
    expect(xml("<type>purge</type>")).toBe('type: expected seed, reseed or truncate, got "purge" (line 1, column 14)');
  });

  test("threadCount is any whole number, however large", () => {
    expect(xml("<threadCount>-5</threadCount>")).toMatchObject({ threadCount: -5 });
    expect(xml(`<threadCount>${"9".repeat(400)}</threadCount>`)).toMatchObject({
      threadCount: Number.MAX_SAFE_INTEGER,
    });
    expect(xml("<threadCount>two</threadCount>")).toMatch(/^threadCount: expected a whole number/);
  });

  test("-1 in a failure field means the default, less is refused", () => {
    const fields =
      "<tileFailureRetryCount>-1</tileFailureRetryCount><tileFailureRetryWaitTime>250</tileFailureRetryWaitTime><totalFailuresBeforeAborting>0</totalFailuresBeforeAborting>";
    expect(xml(fields)).toEqual({
      type: "seed",
      retryWaitMs: 250,
      maxFailures: 0,
      parameters: none,
    });
    expect(xml("<totalFailuresBeforeAborting>9007199254740993</totalFailuresBeforeAborting>")).toMatchObject({
      maxFailures: Number.MAX_SAFE_INTEGER,
    });
    expect(xml("<tileFailureRetryCount>-2</tileFailureRetryCount>")).toMatch(/^tileFailureRetryCount: expected/);
  });

  test("unknown fields, name and filterUpdate are ignored, whatever they hold", () => {
    const fields = "<name><a/><a/></name><filterUpdate>maybe</filterUpdate><x><y>1</y></x>";
    expect(xml(fields)).toEqual({ type: "seed", parameters: none });
  });

  test.each(["zoomstop", "GridSetID", "Type", "ThreadCount", "NAME"])("%s is refused, not ignored", (name) => {
    expect(xml(`<${name}>1</${name}>`)).toMatch(new RegExp(`^${name}: unknown field, expected \\w+ \\(line 1`));
    expect(json(`"${name}":1`)).toMatch(new RegExp(`^${name}: unknown field, expected \\w+ \\(line 1`));
  });

  test("a field given twice is refused", () => {
    expect(xml("<zoomStop>1</zoomStop><zoomStop>1</zoomStop>")).toBe(
      "zoomStop: given more than once (line 1, column 36)",
    );
    expect(xml("<name>a</name><name>b</name>")).toMatch(/^name: given more than once/);
  });

  test("text among the fields is refused", () => {
    expect(xml("zoomStart=1")).toMatch(/^seedRequest: expected fields \(name, srs/);
  });
});

describe("parameters", () => {
  const one = new Map([["STYLES", "pop"]]);
  const two = new Map([
    ["STYLES", "pop"],
    ["CQL_FILTER", " X > 1"],
  ]);
  test.each([
    ['{"entry":[{"string":["STYLES","pop"]},{"string":["CQL_FILTER"," X > 1"]}]}', two],
    ['{"entry":{"string":["STYLES","pop"]}}', one],
    ['{"entry":[["STYLES","pop"]]}', one],
    ['[["STYLES","pop"],["CQL_FILTER"," X > 1"]]', two],
    ['[["STYLES","pop"]]', one],
    ['{"STYLES":"pop","CQL_FILTER":" X > 1"}', two],
    ['{"STYLES":"pop","TIME":null}', one],
    ['{"entry":[{"string":["STYLES","pop"]},{"string":["styles","pop"]}]}', one],
    ['{"STYLES":""}', new Map([["STYLES", ""]])],
    ['{"ELEVATION":10.50}', new Map([["ELEVATION", "10.50"]])],
    ["{}", none],
    ["[]", none],
    ['""', none],
    ["null", none],
    ['{"__proto__":"x"}', new Map([["__proto__", "x"]])],
  ])("%s", (value, parameters) => {
    expect(json(`"parameters":${value}`)).toEqual({ type: "seed", parameters });
  });

  test.each([
    ['{"entry":[{"string":["STYLES"]}]}'],
    ['{"entry":[{"string":["STYLES","a","b"]}]}'],
    ['{"entry":[{"string":["","a"]}]}'],
    ['{"entry":[{"string":["STYLES",null]}]}'],
    ['{"entry":["STYLES","a"]}'],
    ['{"entry":"STYLES"}'],
    ['{"Entry":{"string":["STYLES","a"]}}'],
    ['{"entry":{"String":["STYLES","a"]}}'],
    ['{"entry":{"string":["STYLES","a"]},"TIME":"x"}'],
    ['["STYLES","a"]'],
    ['[["STYLES","a"],null]'],
    ['"STYLES"'],
    ['{"STYLES":{"a":1}}'],
    ['{"STYLES":["a","b"]}'],
    ['{"entry":[{"string":["STYLES","a"]},{"string":["styles","b"]}]}'],
  ])("%s is refused", (value) => {
    expect(json(`"parameters":${value}`)).toMatch(/^parameters.*\(line 1, column \d+\)$/);
  });

  test("in XML: entries, an empty element, a map of elements", () => {
    expect(xml("<parameters/>")).toEqual({ type: "seed", parameters: none });
    expect(xml("<parameters><STYLES>pop</STYLES></parameters>")).toEqual({ type: "seed", parameters: one });
    expect(xml("<parameters>STYLES=pop</parameters>")).toMatch(/^parameters: expected/);
    expect(xml("<parameters><entry><string>STYLES</string></entry></parameters>")).toBe(
      "parameters.entry: expected two strings, a key and a value, got 1 (line 1, column 26)",
    );
    expect(xml("<parameters/><parameters/>")).toMatch(/^parameters: given more than once/);
  });
});

describe("documents that are none", () => {
  test.each([
    ["", "Expected a seedRequest document as XML, got an empty body"],
    ["<foo/>", 'Expected a seedRequest document as XML, got the root "foo" (line 1, column 1)'],
    ["<seedrequest/>", 'Expected a seedRequest document as XML, got the root "seedrequest" (line 1, column 1)'],
    [
      "{}",
      "Expected a seedRequest document as JSON, an object with the one key seedRequest, got an object with 0 keys (line 1, column 1)",
    ],
    [
      '{"seedRequest":{},"a":1}',
      "Expected a seedRequest document as JSON, an object with the one key seedRequest, got an object with 2 keys (line 1, column 1)",
    ],
    ['{"seedRequest":[]}', "Expected a seedRequest document as JSON, got an array as seedRequest (line 1, column 16)"],
    ['{"seedRequest":"x"}', 'Expected a seedRequest document as JSON, got "x" as seedRequest (line 1, column 16)'],
    ["<seedRequest>", "Expected a seedRequest document as XML, got unclosed tag: seedRequest (line 1, column 13)"],
  ] as const)("%j: %s", (body, message) => {
    expect(decoded(body)).toBe(message);
  });

  test("plain text is no seed request", () => {
    expect(decoded("kill_all=all")).toMatch(/^Expected a seedRequest document as XML, got something else: /);
  });

  test("a DOCTYPE is refused", () => {
    expect(decoded('<!DOCTYPE seedRequest [<!ENTITY a "b">]><seedRequest/>')).toMatch(/got a DOCTYPE/);
  });

  test("a hostile value is cut in the message, which stays one line", () => {
    const message = xml(`<type>${"x\n".repeat(5000)}</type>`);
    expect(String(message).length).toBeLessThan(400);
    expect(message).not.toMatch(/\n/);
  });
});

describe("the form", () => {
  const form = (text: string): unknown => {
    const result = decodeSeedForm(new URLSearchParams(text));
    return result.ok ? result.value : refusalMessage(result.error);
  };

  test("GWC's fields, with empty bounds", () => {
    const text =
      "threadCount=02&type=reseed&gridSetId=EPSG%3A4326&tileFormat=image%2Fpng&zoomStart=00&zoomStop=12&parameter_STYLES=pop&parameter_CQL_FILTER=&minX=&minY=&maxX=&maxY=&tileFailureRetryCount=-1&tileFailureRetryWaitTime=100&totalFailuresBeforeAborting=1000";
    expect(form(text)).toEqual({
      type: "reseed",
      gridSet: "EPSG:4326",
      zoomStart: 0,
      zoomStop: 12,
      format: "image/png",
      threadCount: 2,
      parameters: new Map([
        ["STYLES", "pop"],
        ["CQL_FILTER", ""],
      ]),
      retryWaitMs: 100,
      maxFailures: 1000,
    });
  });

  test("bounds are four or none, and the missing one is named", () => {
    expect(form("type=seed&zoomStart=1&minX=1&minY=2&maxX=3&maxY=4.5")).toMatchObject({
      bounds: { minX: 1, minY: 2, maxX: 3, maxY: 4.5 },
    });
    expect(form("type=seed&zoomStart=1&minX=1&maxX=3&maxY=4")).toMatch(/^minY: expected a number/);
    expect(form("type=seed&zoomStart=1&minX=1&minY=a&maxX=3&maxY=4")).toBe(
      'minY: expected a finite decimal number, got "a"',
    );
  });

  test.each([
    ["type=purge&zoomStart=1", /^type: expected seed, reseed or truncate, got "purge"/],
    ["type=&zoomStart=1", /^type: expected/],
    ["type=truncate&zoomStart=", /^zoomStart: expected a whole number, got ""/],
    ["type=truncate&zoomStart=1&zoomStart=2", /^zoomStart: given more than once/],
    ["type=truncate&zoomstop=1&zoomStart=1", /^zoomstop: unknown field, expected zoomStop/],
    ["type=seed&zoomStart=1&tileFormat=image/png&format=image/jpeg", /^format: expected the same/],
    ["type=seed&zoomStart=1&parameter_A=1&parameter_a=2", /^parameter_a: given more than once/],
    ["type=seed&zoomStart=1&threadCount=x", /^threadCount: expected/],
    ["type=seed&zoomStart=1&totalFailuresBeforeAborting=-3", /^totalFailuresBeforeAborting: expected/],
  ])("%s is refused", (text, message) => {
    expect(form(text)).toMatch(message);
  });

  test("is one with a type and a grid set or zoom", () => {
    expect(isSeedForm(new URLSearchParams("type=seed&zoomStop=1"))).toBe(true);
    expect(isSeedForm(new URLSearchParams("type=seed&gridSetId=x"))).toBe(true);
    expect(isSeedForm(new URLSearchParams("type=seed&threadCount=1"))).toBe(false);
    expect(isSeedForm(new URLSearchParams("zoomStart=1&zoomStop=1"))).toBe(false);
  });
});

test.each([
  ["text/xml", "<seedRequest/>", true],
  ["application/xml; charset=UTF-8", " <foo/>", true],
  ["Application/JSON", "{}", true],
  ["application/vnd.x+json", "{}", true],
  ["application/json", "", false],
  ["text/xml", "kill_all=all", false],
  ["text/plain", "<seedRequest/>", false],
  [undefined, "<seedRequest/>", false],
  ["application/x-www-form-urlencoded", "kill_all=all", false],
])("a body labelled %s that is %j looks like a seed request: %s", (type, body, expected) => {
  expect(looksLikeSeedRequest(type, bytes(body))).toBe(expected);
});

const word = fc.stringMatching(/^[!-~éλ😀]([ -~éλ😀]{0,10}[!-~éλ😀])?$/u);
const coordinate = fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0);
const request: fc.Arbitrary<SeedRequest> = fc
  .record(
    {
      gridSet: word,
      srs: fc.integer({ min: 1, max: 1e6 }),
      bounds: fc.record({ minX: coordinate, minY: coordinate, maxX: coordinate, maxY: coordinate }),
      zoomStart: fc.maxSafeInteger().map((n) => n + 0),
      zoomStop: fc.maxSafeInteger().map((n) => n + 0),
      format: word,
      threadCount: fc.maxSafeInteger().map((n) => n + 0),
      retryCount: fc.nat(),
      retryWaitMs: fc.nat(),
      maxFailures: fc.nat(),
    },
    { requiredKeys: [] },
  )
  .chain((fields) =>
    fc.record({
      fields: fc.constant(fields),
      type: fc.constantFrom("seed" as const, "reseed" as const, "truncate" as const),
      parameters: fc
        .uniqueArray(fc.tuple(word, fc.stringMatching(/^[ -~\n\t\réλ😀]{0,12}$/u)), {
          selector: ([k]) => k.toUpperCase(),
        })
        .map((entries) => new Map(entries)),
    }),
  )
  .map(({ fields, type, parameters }) => ({ ...fields, type, parameters }));

/** Encodes a request as clients send one (`docs/reference/wire-format.md`, Seed request). */
function encodeSeedRequest(request: SeedRequest, format: DocumentFormat): string {
  const { bounds, parameters } = request;
  const scalars: readonly (readonly [string, string | number | undefined])[] = [
    ["gridSetId", request.gridSet],
    ["zoomStart", request.zoomStart],
    ["zoomStop", request.zoomStop],
    ["format", request.format],
    ["type", request.type],
    ["threadCount", request.threadCount],
    ["tileFailureRetryCount", request.retryCount],
    ["tileFailureRetryWaitTime", request.retryWaitMs],
    ["totalFailuresBeforeAborting", request.maxFailures],
  ];
  const corners = bounds === undefined ? [] : [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY];
  if (format === "xml") {
    const doubles = corners.map((n) => `<double>${n}</double>`).join("");
    const entries = [...parameters]
      .map(([k, v]) => `<entry><string>${escapeXml(k)}</string><string>${escapeXml(v)}</string></entry>`)
      .join("");
    const fields = [
      request.srs === undefined ? "" : `<srs><number>${request.srs}</number></srs>`,
      doubles === "" ? "" : `<bounds><coords>${doubles}</coords></bounds>`,
      ...scalars.map(([name, v]) => (v === undefined ? "" : `<${name}>${escapeXml(String(v))}</${name}>`)),
      entries === "" ? "" : `<parameters>${entries}</parameters>`,
    ];
    return `<seedRequest>${fields.join("")}</seedRequest>`;
  }
  const entries = [...parameters].map(([k, v]) => `{"string":[${asciiJson(k)},${asciiJson(v)}]}`);
  const fields = [
    request.srs === undefined ? "" : `"srs":{"number":${request.srs}}`,
    corners.length === 0 ? "" : `"bounds":{"coords":{"double":[${corners.map((n) => `"${n}"`).join(",")}]}}`,
    ...scalars.map(([name, v]) =>
      v === undefined ? "" : `"${name}":${typeof v === "number" ? String(v) : asciiJson(v)}`,
    ),
    entries.length === 0 ? "" : `"parameters":{"entry":[${entries.join(",")}]}`,
  ];
  return `{"seedRequest":{${fields.filter((f) => f !== "").join(",")}}}`;
}

test.each(["xml", "json"] as const)("every request comes back from %s as it was, in ASCII", (format) => {
  fc.assert(
    fc.property(request, (requested) => {
      const text = encodeSeedRequest(requested, format);
      expect(text).toMatch(/^[\t\n\r -~]*$/);
      expect(decodeSeedRequest(bytes(text))).toEqual({ ok: true, value: requested });
    }),
  );
});

test("no bytes make a decoder throw", () => {
  const start = fc.constantFrom(
    "",
    "<seedRequest>",
    '{"seedRequest":{',
    "<seedRequest><bounds>",
    "{'seedRequest':{'parameters':",
  );
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 200 }), fc.string({ unit: "binary" }), (head, tail, form) => {
      const body = Buffer.concat([Buffer.from(head), tail]);
      expect(typeof decodeSeedRequest(body).ok).toBe("boolean");
      expect(typeof decodeSeedForm(new URLSearchParams(form)).ok).toBe("boolean");
    }),
    { numRuns: 1000 },
  );
});

test("a megabyte made to be slow is answered at once", { timeout: 30_000 }, () => {
  const million = (text: string): string => text.repeat(1_000_000 / text.length);
  const bodies = [
    million("<a>"),
    million("{a:"),
    million("["),
    million("="),
    million("&"),
    `<seedRequest><bounds><coords><double>${million("1")}x</double></coords></bounds></seedRequest>`,
    `<seedRequest><zoomStart>${million("1")}x</zoomStart></seedRequest>`,
    `<seedRequest ${Array.from({ length: 90_000 }, (_, n) => `a${n}=""`).join(" ")}/>x`,
    `{"seedRequest":{"type":"${million("\\\\")}"}}`,
    `<seedRequest>${million("&amp;")}</seedRequest>`,
    `{${Array.from({ length: 90_000 }, (_, n) => `a${n}:1`).join(",")}}`,
    million("\n"),
  ];
  for (const body of bodies) expect(decodeSeedRequest(bytes(body)).ok).toBe(false);
});
