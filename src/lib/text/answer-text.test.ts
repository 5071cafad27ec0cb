import { expect, test } from "vitest";
import { answerText } from "./answer-text.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

test("the encoding is that of the byte order mark, then the Content-Type, then the XML declaration", () => {
  const declared = '<?xml version="1.0" encoding="ISO-8859-1"?><T>Größe</T>';
  expect(answerText(latin1(declared), "text/xml")).toBe(declared);
  expect(answerText(Buffer.from(declared), "text/xml; charset=UTF-8")).toBe(declared);
  expect(answerText(latin1("<T>Größe</T>"), 'text/xml;charset="iso-8859-1"')).toBe("<T>Größe</T>");
  expect(answerText(Buffer.from("\ufeff<T>ß</T>"), "text/xml;charset=iso-8859-1")).toBe("<T>ß</T>");
  expect(answerText(Buffer.from("\ufeff<T>ß</T>", "utf16le"), "text/xml")).toBe("<T>ß</T>");
});

test("a page names its encoding in a meta, and UTF-16 without a mark is known by its first character", () => {
  const page = '<html><head><meta http-equiv="Content-Type" content="text/html; charset=koi8-r"></head>';
  expect(answerText(Buffer.concat([Buffer.from(page), Buffer.from([0xee, 0xc5, 0xd4])]), "text/html")).toBe(
    `${page}Нет`,
  );
  expect(answerText(latin1("<meta charset='iso-8859-1'>ß"), "")).toBe("<meta charset='iso-8859-1'>ß");
  const declared = '<?xml version="1.0" encoding="UTF-16"?><T>Größe</T>';
  expect(answerText(Buffer.from(declared, "utf16le"), "text/xml")).toBe(declared);
  expect(answerText(Buffer.from(declared, "utf16le").swap16(), "image/png")).toBe(declared);
});

test("windows-1252 has its own characters from 0x80 to 0x9f, also where it is called ISO-8859-1", () => {
  const bytes = Buffer.from([0x35, 0x20, 0x80, 0x20, 0x96, 0x20, 0x9f, 0x81, 0xdf]);
  for (const charset of ["windows-1252", "iso-8859-1", "'cp1252'"])
    expect(answerText(bytes, `text/xml; charset=${charset}`)).toBe("5 € – Ÿ\u0081ß");
});

test("without a charset, or with an unknown one, text is decoded as UTF-8; wrong bytes do not throw", () => {
  expect(answerText(Buffer.from("<T>ß</T>"), "text/xml")).toBe("<T>ß</T>");
  expect(answerText(Buffer.from("<T>ß</T>"), "text/xml; charset=klingon")).toBe("<T>ß</T>");
  expect(answerText(latin1("ß"), "")).toBe("\ufffd");
  expect(answerText(new Uint8Array(), "")).toBe("");
});

test("a byte order mark or a charset that the bytes contradict is passed over", () => {
  const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><T>Größe</T>`;
  const littleEndian = Buffer.from([0xff, 0xfe]);
  const bigEndian = Buffer.from([0xfe, 0xff]);
  for (const mark of [littleEndian, bigEndian, Buffer.from("\ufeff")])
    expect(answerText(Buffer.concat([mark, latin1(declared("ISO-8859-1"))]), "text/xml")).toBe(declared("ISO-8859-1"));
  for (const mark of [littleEndian, bigEndian]) {
    expect(answerText(Buffer.concat([mark, Buffer.from(declared("UTF-16"))]), "text/xml")).toBe(declared("UTF-16"));
    expect(answerText(Buffer.concat([mark, Buffer.from("<T>ß</T>")]), "text/xml;charset=utf-16")).toBe("<T>ß</T>");
  }
  expect(answerText(Buffer.from(declared("utf-16")), "text/xml; charset=utf-16")).toBe(declared("utf-16"));
  expect(answerText(Buffer.from(`\ufeff${declared("UTF-16")}`, "utf16le"), "text/xml")).toBe(declared("UTF-16"));
});
