import fc from "fast-check";
import { expect, test } from "vitest";
import { asciiJson, escapeHtml, escapeXml } from "./escape.ts";

test("HTML keeps characters that are not markup", () => {
  expect(escapeHtml(`<a href="x" id='y'>é & 😀`)).toBe("&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;é &amp; 😀");
});

test("XML is ASCII, and what it cannot hold becomes U+FFFD", () => {
  expect(escapeXml("<a>&'\"é😀")).toBe("&lt;a&gt;&amp;&#39;&quot;&#233;&#128512;");
  expect(escapeXml("a b;:=?~\n\r\t")).toBe("a b;:=?~&#10;&#13;&#9;");
  expect(escapeXml("\0\u0001\ud800\ufffe\uffff\u007f\ue000")).toBe(
    "&#65533;&#65533;&#65533;&#65533;&#65533;&#127;&#57344;",
  );
});

test("JSON is ASCII and reads back as it was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(asciiJson(text)).toMatch(/^[ -~]*$/);
      expect(JSON.parse(asciiJson(text))).toBe(text);
      expect(escapeXml(text)).toMatch(/^[ -~]*$/);
    }),
  );
});
