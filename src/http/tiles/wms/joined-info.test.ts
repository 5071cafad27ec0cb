import { expect, test } from "vitest";
import { joinedInfo } from "./joined-info.ts";

const joined = (contentType: string, ...texts: readonly [string, ...string[]]) => {
  const [first, ...others] = texts.map((text) => ({ contentType, bytes: Buffer.from(text) }));
  if (first === undefined) throw new Error("there is a text");
  const result = joinedInfo([first, ...others]);
  return result.ok ? [result.value.contentType, Buffer.from(result.value.bytes).toString("utf8")] : result.error;
};

test.each([
  ["text/plain", ["a", "b\n"], "a\nb\n"],
  [
    "text/html",
    ["<html><body>a</body></html>", "<html><body class='x'>b</body></html>"],
    "<html><body>ab</body></html>",
  ],
  ["text/html", ["<p>a</p>", "<html><body>b</body></html>"], "<p>a</p>\n<html><body>b</body></html>"],
  [
    "application/json",
    ['{"type":"FeatureCollection","features":[1],"crs":7}', '{"type":"FeatureCollection","features":[2,3]}'],
    '{"type":"FeatureCollection","features":[1,2,3],"crs":7}',
  ],
  [
    "application/vnd.ogc.gml",
    ['<?xml version="1.0"?>\n<o:r xmlns:o="u">\n<a/></o:r>', '<o:r  xmlns:o="u"><b/></o:r>\n'],
    '<?xml version="1.0"?>\n<o:r xmlns:o="u">\n<a/><b/></o:r>',
  ],
  ["text/xml", ["<r/>", "<r><b/></r>"], "<r><b/></r>"],
] as const)("documents of %s become one", (type, [a, b], whole) => {
  expect(joined(type, a, b)).toEqual([type, whole]);
});

test("another charset becomes UTF-8", () => {
  const latin = Buffer.from([0xfc]);
  const one = { contentType: "text/plain; charset=ISO-8859-1", bytes: latin };
  const result = joinedInfo([one, { contentType: "text/plain;charset=nonsense", bytes: Buffer.from("é") }]);
  expect(result.ok && [result.value.contentType, Buffer.from(result.value.bytes).toString("utf8")]).toEqual([
    "text/plain; charset=utf-8",
    "ü\né\n",
  ]);
});

test.each([
  ["application/json", "{}", "[]"],
  ["application/json", "{", "{}"],
  ["text/xml", "<a/>", "<b/>"],
  ["text/xml", '<a v="1"></a>', '<a v="2"></a>'],
  ["image/png", "a", "b"],
])("documents of %s that cannot be joined are refused", (type, a, b) => {
  expect(joined(type, a, b)).toContain(`Several layers cannot be described together in ${type}`);
});

test("documents of different types are refused", () => {
  const documents = ["text/plain", "text/html"].map((contentType) => ({ contentType, bytes: Buffer.from("a") }));
  const [first, second] = documents;
  if (first === undefined || second === undefined) throw new Error("there are two");
  expect(joinedInfo([first, second])).toMatchObject({ ok: false, error: expect.stringContaining("different formats") });
});
