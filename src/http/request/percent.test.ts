import { expect, test } from "vitest";
import { decodePercent, firstSegment, segmentsOf } from "./percent.ts";

/** Returns the text as Node represents its UTF-8 bytes. */
const raw = (text: string): string => Buffer.from(text).toString("latin1");

test.each([
  ["topp%3Astates", "topp:states"],
  ["a+b%2B", "a+b+"],
  ["%2F%2e", "/."],
  ["M%C3%BCnchen", "München"],
  [raw("München"), "München"],
  ["%EF%BB%BFa", "\ufeffa"],
  ["", ""],
  ["%", undefined],
  ["%4", undefined],
  ["%zz", undefined],
  ["%ff", undefined],
  ["%ED%A0%80", undefined],
  ["\xff", undefined],
])("%j is decoded to %j", (text, decoded) => {
  expect(decodePercent(text)).toBe(decoded);
});

test.each([
  ["/", []],
  ["/a/b", ["a", "b"]],
  ["/a/b/", ["a", "b"]],
  ["/a//b", ["a", "", "b"]],
  ["/a/..%2Fb", ["a", "../b"]],
])("the path %j has the segments %j", (path, segments) => {
  expect(segmentsOf(path)).toEqual({ ok: true, value: segments });
});

test("a segment that cannot be decoded is named; as the first segment it stays raw", () => {
  expect(segmentsOf("/rest/%zz/a")).toEqual({ ok: false, error: "%zz" });
  expect([firstSegment("/%72est/x"), firstSegment("/%zz/x"), firstSegment("/")]).toEqual(["rest", "%zz", ""]);
});
