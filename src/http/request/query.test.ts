import { expect, test } from "vitest";
import { parseForm, parseQuery } from "./query.ts";

test.each(["", "a", "a=1&b", "&&a&=&=1&b==2", "a+b=%41&%", "?a=1", "é=%C3%A9&a=1&a=2"])(
  "%j means what it means",
  (text) => {
    expect([...parseForm(text)]).toEqual([...new URLSearchParams(text)]);
  },
);

test("a megabyte of names is read at once", { timeout: 30_000 }, () => {
  expect(parseForm("a&".repeat(500_000)).size).toBe(500_000);
});

test("a query of a tile protocol has keys in upper case, of which the first counts", () => {
  const parsed = parseQuery("layers=a+b&LAYERS=c&&Styles&%3D=%2B&=x&t=1=2");
  expect(parsed.ok && [...parsed.value]).toEqual([
    ["LAYERS", "a b"],
    ["STYLES", ""],
    ["=", "+"],
    ["T", "1=2"],
  ]);
  expect(parseQuery("a=1&b=%zz")).toEqual({ ok: false, error: "b=%zz" });
  expect(parseQuery("a=1&%zz&b")).toEqual({ ok: false, error: "%zz" });
  expect(parseQuery("%ff")).toMatchObject({ ok: false });
});
