import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { ownWords } from "./response-text.ts";

const wordsOf = (text: string): string => ownWords(Buffer.from(text));

test.each([
  [
    "<ServiceExceptionReport><ServiceException code='a'>\n no &lt;layer&gt; </ServiceException></ServiceExceptionReport>",
    "no <layer>",
  ],
  ["<a>b</a><ows:ExceptionText>one</ows:ExceptionText><i>x</i><ows:ExceptionText>two</ows:ExceptionText>", "one two"],
  ["<ServiceException><![CDATA[ a <b>bold</b> word ]]></ServiceException>", "a bold word"],
  ["<ServiceException>cut off", "cut off"],
  ['<ows:Exception exceptionCode="NoApplicableCode" locator="x"/>', "NoApplicableCode"],
  ['<ServiceException code="LayerNotDefined"/> <ServiceException code="b"></ServiceException>', "LayerNotDefined b"],
  ["<html><STYLE>p{}</style><script src=x>if (a<b) {}</SCRIPT><body>502 Bad&nbsp;Gateway</body>", "502 Bad Gateway"],
  ["<script>never closed", "never closed"],
  ["at http://host/wms?key=secret it &amp; fails", "at … it & fails"],
  ["İİİ<script>x</script>a < b", "İİİ a < b"],
  ["", ""],
])("of %s the words are %s", (document, words) => {
  expect(wordsOf(document)).toBe(words);
});

test("words are cut at 300 characters", () => {
  expect(wordsOf("a".repeat(1000))).toBe(`${"a".repeat(300)}…`);
});

test.each([
  "<",
  "<>",
  "<a",
  "<script",
  "<script>",
  "<style><script>",
  "<ServiceException>",
  "<ServiceException",
  "<ServiceException ",
  '<ServiceException code="',
  "<a:a:",
  "<![CDATA[",
  "]]>",
  "&amp;",
  "http://",
  "\0 ",
  'c="code="',
])("64 KiB of %j are read in linear time", (text) => {
  const document = text.repeat(Math.ceil((64 * 1024) / text.length));
  expect(cpuMs(() => wordsOf(document))).toBeLessThan(300);
  expect(cpuMs(() => wordsOf(`<ServiceException ${document}`))).toBeLessThan(300);
});

test("an exception in another encoding is read by its XML declaration", () => {
  const text = '<?xml version="1.0" encoding="ISO-8859-1"?><e><ServiceException>Straße</ServiceException></e>';
  expect(ownWords(Buffer.from(text, "latin1"))).toBe("Straße");
});

test("an exception in another encoding is read by the charset of its Content-Type", () => {
  const text = "<e><ServiceException>Straße</ServiceException></e>";
  const latin1 = Buffer.from(text, "latin1");
  expect(ownWords(latin1, "text/xml; charset=ISO-8859-1")).toBe("Straße");
  expect(ownWords(latin1, 'text/xml;charset="windows-1252"')).toBe("Straße");
  expect(ownWords(Buffer.from(`\ufeff${text}`, "utf16le"), "text/xml")).toBe("Straße");
  expect(ownWords(Buffer.from(text, "utf16le"), "text/xml; charset=utf-16le")).toBe("Straße");
  // The charset comes from the web server's configuration and is not the charset of the text.
  expect(ownWords(Buffer.from(text), "text/xml; charset=ISO-8859-1")).toBe("Straße");
});
