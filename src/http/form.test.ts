import { expect, test } from "vitest";
import { parseForm } from "./form.ts";

test.each(["", "a", "a=1&b", "&&a&=&=1&b==2", "a+b=%41&%", "?a=1", "é=%C3%A9&a=1&a=2"])(
  "%j means what it means",
  (text) => {
    expect([...parseForm(text)]).toEqual([...new URLSearchParams(text)]);
  },
);

test("a megabyte of names is read at once", { timeout: 5000 }, () => {
  expect(parseForm("a&".repeat(500_000)).size).toBe(500_000);
});
