import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeText } from "./body-text.ts";
import type { Field } from "./field.ts";
import { readJson } from "./lenient-json.ts";
import { readXml } from "./xml-reader.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);

/** Returns a field tree as plain data: text, null, list, or name-value pairs. */
function plain(field: Field): unknown {
  if (field.kind === "null") return null;
  if (field.kind === "list") return field.children.map(plain);
  if (field.children.length > 0) return Object.fromEntries(field.children.map((c) => [c.name, plain(c)]));
  return field.text;
}

/** Returns the field tree expected for a value of JSON.parse: scalars as text, null fields omitted, `{}` as "". */
function flattened(value: unknown): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map(flattened);
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value).filter(([, v]) => v !== null);
  return entries.length === 0 ? "" : Object.fromEntries(entries.map(([k, v]) => [k, flattened(v)]));
}

const json = (text: string): unknown => {
  const read = readJson(text);
  return read.ok ? plain(read.value) : `${read.error.reason} @${read.error.line}:${read.error.column}`;
};
const xml = (text: string): unknown => {
  const read = readXml(text);
  return read.ok ? plain(read.value) : `${read.error.reason} @${read.error.line}:${read.error.column}`;
};

describe("JSON", () => {
  test("reads what JSON.parse reads, numbers as they were sent", () => {
    const strict = fc.json({ maxDepth: 5 }).filter((t) => !/\\ud[89a-f]/i.test(t) && !t.includes("__proto__"));
    const property = fc.property(strict, (text) => {
      const parsed: unknown = JSON.parse(text);
      // String(1e21) differs from the sent text. Numbers have separate tests.
      if (/\d[eE.]/.test(text)) return;
      expect(json(text)).toEqual(flattened(parsed));
    });
    fc.assert(property);
    expect(json('{"a":1.50,"b":1e3,"c":123456789012345678901234567890,"d":-0.0}')).toEqual({
      a: "1.50",
      b: "1e3",
      c: "123456789012345678901234567890",
      d: "-0.0",
    });
  });

  test.each([
    ["single quotes", "{'a':'b \"c\" \\' d'}", { a: 'b "c" \' d' }],
    ["unquoted keys and values", "{a:{value:100,units:ZZiB}}", { a: { value: "100", units: "ZZiB" } }],
    ["a bare value with colons", "{ name : ws:roads , srs:EPSG:4326}", { name: "ws:roads", srs: "EPSG:4326" }],
    ["an escaped slash", "{'f':'image\\/png',g:image\\/png}", { f: "image/png", g: "image/png" }],
    ["surplus closing braces", '{"a":{"b":1}}} }\n}', { a: { b: "1" } }],
    ["null as absent in objects", '{"a":null,"b":[null,1]}', { b: [null, "1"] }],
    ["a key of __proto__", '{"__proto__x":1,"constructor":2}', { __proto__x: "1", constructor: "2" }],
    ["escapes", '{"a":"\\u00e9\\n\\t\\"\\ud83d\\ude00"}', { a: 'é\n\t"😀' }],
    ["leading white space", " \n\t{a:true}", { a: "true" }],
  ])("%s", (_, text, expected) => {
    expect(json(text)).toEqual(expected);
  });

  test.each([
    ["a comma before a closing bracket", '{"a":[1,2,]}', '"]" after a comma @1:11'],
    ["a comma before a closing brace", '{"a":1, }', '"}" after a comma @1:9'],
    ["a missing closing brace", '{"a":{"b":1}', 'the end where a comma or "}" belongs @1:13'],
    ["a duplicate key", '{"a":1,\n "a":1}', 'the key "a" a second time @2:2'],
    ["a duplicate key in another spelling", "{'a':1,a:1}", 'the key "a" a second time @1:8'],
    ["no value", '{"a":}', '"}" where a value belongs @1:6'],
    ["no colon", '{"a" 1}', '"1" where a colon belongs @1:6'],
    ["a blank in a bare key", "{a b:1}", '"b" where a colon belongs @1:4'],
    ["two bare words", "{a:b c}", '"c" where a comma or "}" belongs @1:6'],
    ["no key", "{:1}", '":" where a key or "}" belongs @1:2'],
    ["text after the end", "{} x", '"x" after the end of the document @1:4'],
    ["a bracket after the end", "{}]", '"]" after the end of the document @1:3'],
    ["an open string", '{"a":"b', "a string without its closing quote @1:6"],
    ["a line break in a string", '{"a":"b\nc"}', "a line break or control character in a string @1:8"],
    ["a bad escape", '{"a":"\\x41"}', "a bad escape in a string @1:7"],
    ["a bad unicode escape", '{"a":"\\u12g4"}', "a bad escape in a string @1:7"],
    ["half of a pair", '{"a":"\\ud800"}', "half of a surrogate pair @1:6"],
    ["depth", "[".repeat(100), "values nested deeper than 64 @1:66"],
    ["count", `[${"1,".repeat(10_001)}1]`, "more than 10000 values @1:20000"],
  ])("%s is refused with its place", (_, text, expected) => {
    expect(json(text)).toBe(expected);
  });

  test("a cut-off document is refused wherever it is cut", () => {
    const text = '{"seedRequest":{"bounds":{"coords":{"double":["1","2"]}},"zoomStart":1}}';
    for (let n = 0; n < text.length; n++) expect(readJson(text.slice(0, n)).ok).toBe(false);
  });

  test("has the line and column of every field", () => {
    const read = readJson('{"a":\r\n  {"b": 7}}');
    const b = read.ok ? read.value.children[0]?.children[0] : undefined;
    expect(b).toMatchObject({ name: "b", text: "7", line: 2, column: 9 });
  });
});

describe("XML", () => {
  test.each([
    ["CDATA and comments", "<a><!-- x --><b><![CDATA[1 < 2]]></b></a>", { b: "1 < 2" }],
    ["a default namespace", '<a xmlns="urn:x"><b>1</b></a>', { b: "1" }],
    ["a prefix, bound or not", '<g:a xmlns:g="urn:x"><g:b>1</g:b><h:c>2</h:c></g:a>', { b: "1", c: "2" }],
    ["white space before the declaration", ' \n<?xml version="1.0" encoding="UTF-8"?><a><b>1</b></a>', { b: "1" }],
    ["processing instructions", "<?x y?><a><?z?><b>1</b></a><!-- end -->\n", { b: "1" }],
    ["the five entities and references", "<a><b>&lt;&gt;&amp;&quot;&apos;&#233;&#x1F600;</b></a>", { b: "<>&\"'é😀" }],
    ["attributes, ignored", '<a class="map"><b type="x">1</b></a>', { b: "1" }],
  ])("%s", (_, text, expected) => {
    expect(xml(text)).toEqual(expected);
  });

  test.each([
    ["a cut-off document", "<a><b>1</b>", /^unclosed tag: a @1:\d+$/],
    ["crossed tags", "<a>\n<b></a></b>", /^unexpected close tag @2:\d+$/],
    ["a DOCTYPE", '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', /^a DOCTYPE, which is not allowed @1:/],
    ["an entity bomb", '<!DOCTYPE a [<!ENTITY x "yy"><!ENTITY z "&x;&x;">]><a>&z;</a>', /^a DOCTYPE/],
    ["an external entity", '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', /^a DOCTYPE/],
    ["an unknown entity", "<a>&nbsp;</a>", /^undefined entity @1:/],
    ["two roots", "<a/><b/>", /^documents may contain only one root @1:/],
    ["text outside", "<a/>x", /^text data outside of root node @1:/],
    ["depth", "<a>".repeat(100), /^elements nested deeper than 64 @1:\d+$/],
    ["count", `<a>${"<b/>".repeat(10_001)}</a>`, /^more than 10000 elements @1:\d+$/],
    ["a control character", "<a>\u0001</a>", /^disallowed character @1:/],
  ])("%s is refused with its place", (_, text, expected) => {
    expect(xml(text)).toMatch(expected);
  });

  test("has the line and column of every element", () => {
    const read = readXml("\n\n <a>\n  <b/><cc/>\n</a>");
    expect(read.ok && read.value).toMatchObject({ name: "a", line: 3, column: 2 });
    expect(read.ok && read.value.children).toMatchObject([
      { name: "b", line: 4, column: 3 },
      { name: "cc", line: 4, column: 7 },
    ]);
  });
});

describe("encodings", () => {
  const utf16be = (text: string): Uint8Array => Buffer.from(text, "utf16le").swap16();
  const document = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?><a>é</a>`;
  const read = (body: Uint8Array): unknown => {
    const text = decodeText(body);
    return text.ok ? xml(text.value) : `${text.error.reason} @${text.error.line}:${text.error.column}`;
  };

  test.each([
    ["UTF-8", bytes(document("UTF-8"))],
    ["UTF-8 undeclared", bytes("<a>é</a>")],
    ["UTF-8 with a mark", bytes("\ufeff<a>é</a>")],
    ["ISO-8859-1", Buffer.from(document("ISO-8859-1"), "latin1")],
    ["UTF-16LE with a mark", Buffer.from(`\ufeff${document("UTF-16")}`, "utf16le")],
    ["UTF-16BE with a mark", utf16be(`\ufeff${document("UTF-16")}`)],
    ["UTF-16LE without", Buffer.from(document("UTF-16"), "utf16le")],
    ["UTF-16BE without", utf16be(document("UTF-16"))],
    ["UTF-8 declared as UTF-16, as .NET does", bytes(document("utf-16"))],
  ])("%s", (_, body) => {
    expect(read(body)).toBe("é");
  });

  test("bytes that are not UTF-8 are refused with their place, and other encodings by name", () => {
    expect(read(Buffer.from("<a>\n<b>\xe9</b></a>", "latin1"))).toBe("bytes that are not UTF-8 @2:4");
    expect(read(bytes(document("Shift_JIS")))).toMatch(/^an encoding other than/);
    expect(read(Buffer.from([0xff, 0xfe, 0x3c]))).toMatch(/^bytes that are not UTF-16LE/);
  });
});

test("no text makes a reader throw", () => {
  const pieces = fc.array(
    fc.constantFrom(
      "<a>",
      "</a>",
      "<",
      ">",
      "&",
      "&x;",
      "<![CDATA[",
      "]]>",
      "<!--",
      "-->",
      "<?",
      "?>",
      "<!DOCTYPE",
      '"',
      "'",
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      "\\",
      "\\u",
      "a",
      "1",
      " ",
      "\n",
      "\0",
      "\ud800",
      "=",
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        pieces.map((p) => p.join("")),
      ),
      (text) => {
        expect(typeof readJson(text).ok).toBe("boolean");
        expect(typeof readXml(text).ok).toBe("boolean");
      },
    ),
    { numRuns: 2000 },
  );
});
