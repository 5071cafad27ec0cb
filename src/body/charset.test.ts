import { expect, test } from "vitest";
import { decodeText } from "./body-text.ts";
import { inCharset } from "./charset.ts";

function read(body: Uint8Array | string, contentType: string | undefined): string {
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  const text = inCharset(bytes, contentType);
  if (!text.ok) return text.error.code;
  const decoded = decodeText(text.value);
  return decoded.ok ? decoded.value : decoded.error.reason;
}
const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const DECLARED = '<?xml version="1.0" encoding="ISO-8859-1"?><a>ä</a>';

test("the charset goes before the declaration, and a byte order mark before both (RFC 7303, 3.2)", () => {
  expect(read(latin("<a>ä</a>"), "text/xml; charset=ISO-8859-1")).toBe("<a>ä</a>");
  expect(read(latin(DECLARED), "text/xml")).toBe(DECLARED);
  expect(read(DECLARED, "text/xml; charset=utf-8")).toBe(DECLARED);
  expect(read(latin(DECLARED), "text/xml; charset=utf-8")).toBe("bytes that are not UTF-8");
  expect(read(`\ufeff${DECLARED}`, "text/xml; charset=iso-8859-1")).toBe(DECLARED);
});

test("UTF-16 is read with and without a byte order mark, also under another label", () => {
  const little = Buffer.from("<a>ä</a>", "utf16le");
  const big = Buffer.from(little).swap16();
  for (const [bytes, label] of [
    [little, "text/xml; charset=utf-16"],
    [big, "text/xml; charset=utf-16"],
    [little, "application/xml;charset=UTF-16LE"],
    [big, "application/xml;charset=utf-16be"],
    [little, "text/xml; charset=utf-8"],
    [Buffer.concat([Buffer.from([0xff, 0xfe]), little]), "text/xml; charset=utf-16"],
  ] as const)
    expect(read(bytes, label)).toBe("<a>ä</a>");
  expect(read("<a/>b", "text/xml; charset=utf-16")).toBe("malformed");
});

test("an unknown charset is refused, but for a type that is no text", () => {
  for (const type of ["text/xml", "application/json", "application/vnd.a+xml", "application/x-www-form-urlencoded"])
    expect(read("<a/>", `${type}; charset=klingon`)).toBe("unsupported_type");
  for (const type of ["application/zip; charset=binary", "text/xml; charset=", "text/xml", "x", undefined])
    expect(read("<a/>", type)).toBe("<a/>");
});
